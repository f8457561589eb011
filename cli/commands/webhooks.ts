import type { Command } from 'commander';
import { CodedError } from '../../domain/errors.ts';
import { callApi } from '../call-api.ts';
import { print, printJson, remark, table } from '../output.ts';

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly event_kinds: readonly string[] | null;
  readonly secret_generation: number;
  readonly previous_secret_until: string | null;
  readonly disabled_reason: string | null;
}

type EndpointWithSecret = Endpoint & { readonly secret: string };

interface OutputOptions {
  readonly json?: boolean;
  readonly dataFolder?: string;
}

const ENDPOINTS = '/v1/webhook-endpoints';

/** Where merchants are told of events; everything goes through the API, which alone knows how to make a secret. */
export function addWebhooksCommands(program: Command): void {
  const webhooks = program.command('webhooks').description("who is told of events (needs a key of the role 'operate')");
  webhooks.command('list').description('the endpoints, without their secrets').action(list);
  webhooks
    .command('add <url>')
    .description('tell this address of events, and show its secret, once')
    .option('--kinds <kinds>', 'only of these, with commas between, such as order.paid,refund.succeeded')
    .action(add);
  webhooks
    .command('rotate <endpoint-id>')
    .description('give the endpoint a new secret and show it, once')
    .option('--overlap-seconds <seconds>', 'how long the old one signs as well; 0 when it has leaked')
    .action(rotate);
  webhooks
    .command('replay <endpoint-id>')
    .description('tell the endpoint past events once more, under the same ids')
    .option('--event <event-id>', 'this one')
    .option('--from <time>', 'those from this time on, such as 2026-11-30T12:00:00Z')
    .option('--to <time>', 'and before this one')
    .action(replay);
  webhooks.command('remove <endpoint-id>').description('tell the endpoint of nothing any more').action(remove);
  for (const command of webhooks.commands) {
    command.option('--data-folder <path>', 'of the running stack').option('--json', 'print JSON');
  }
}

async function list(options: OutputOptions): Promise<void> {
  const answer = (await callApi({ ...options, path: ENDPOINTS })) as { readonly webhook_endpoints: Endpoint[] };
  if (options.json === true) return printJson(answer);
  const rows = answer.webhook_endpoints.map((endpoint) => [
    endpoint.id,
    endpoint.url,
    endpoint.event_kinds?.join(',') ?? 'all',
    String(endpoint.secret_generation),
    endpoint.disabled_reason ?? '',
  ]);
  print(table([['ENDPOINT', 'URL', 'KINDS', 'SECRET', 'DISABLED'], ...rows]));
}

async function add(url: string, options: OutputOptions & { readonly kinds?: string }): Promise<void> {
  const kinds = options.kinds?.split(',').map((kind) => kind.trim());
  const body = { url, ...(kinds !== undefined && { event_kinds: kinds }) };
  showSecret((await callApi({ ...options, method: 'POST', path: ENDPOINTS, body })) as EndpointWithSecret, options);
}

async function rotate(id: string, options: OutputOptions & { readonly overlapSeconds?: string }): Promise<void> {
  const { overlapSeconds } = options;
  const body = overlapSeconds === undefined ? {} : { overlap_seconds: Number(overlapSeconds) };
  const path = `${pathOf(id)}/rotate-secret`;
  showSecret((await callApi({ ...options, method: 'POST', path, body })) as EndpointWithSecret, options);
}

async function replay(
  id: string,
  options: OutputOptions & { readonly event?: string; readonly from?: string; readonly to?: string },
): Promise<void> {
  const { event, from, to } = options;
  if ((event === undefined) === (from === undefined || to === undefined)) {
    throw new CodedError('configuration_invalid', 'Say either --event, or --from and --to.');
  }
  const body = event === undefined ? { from, to } : { event_id: event };
  const path = `${pathOf(id)}/replays`;
  const answer = (await callApi({ ...options, method: 'POST', path, body })) as { readonly replayed: number };
  if (options.json === true) return printJson(answer);
  print(`${answer.replayed} events are told once more.`);
}

async function remove(id: string, options: OutputOptions): Promise<void> {
  const answer = (await callApi({ ...options, method: 'DELETE', path: pathOf(id) })) as Endpoint;
  if (options.json === true) return printJson(answer);
  print(`${answer.url} is told of nothing any more.`);
}

function pathOf(id: string): string {
  return `${ENDPOINTS}/${encodeURIComponent(id)}`;
}

/** The secret alone on standard output, so that it can be piped to where it belongs. */
function showSecret(endpoint: EndpointWithSecret, { json }: OutputOptions): void {
  if (json === true) {
    printJson(endpoint);
    return;
  }
  print(endpoint.secret);
  remark(`Endpoint ${endpoint.id}, secret ${endpoint.secret_generation}. It is not stored and cannot be shown again.`);
  if (endpoint.previous_secret_until !== null)
    remark(`The one before signs as well until ${endpoint.previous_secret_until}.`);
}
