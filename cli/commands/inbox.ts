import type { Command } from 'commander';
import { callApi } from '../call-api.ts';
import { print, printJson, table } from '../output.ts';

interface ListedEvent {
  readonly id: string;
  readonly gateway: string;
  readonly type: string;
  readonly state: string;
  readonly order_id: string | null;
  readonly merchant_reference: string | null;
  readonly received_at: string;
  readonly remark: string | null;
}

interface OutputOptions {
  readonly json?: boolean;
  readonly dataFolder?: string;
}

interface ListOptions extends OutputOptions {
  readonly state?: string;
  readonly order?: string;
  readonly limit: string;
}

export function addInboxCommands(program: Command): void {
  const inbox = program.command('inbox').description('look at what gateways told us by webhook, and apply it again');
  const sub = (name: string, description: string): Command =>
    inbox
      .command(name)
      .description(description)
      .option('--data-folder <path>', 'of the running stack')
      .option('--json', 'print JSON');
  sub('list', 'the newest events')
    .option('--state <state>', 'only those in this state; doubted, pooled, not_understood and stuck wait for a person')
    .option('--order <order-id>', 'only those of this order')
    .option('--limit <number>', 'how many', '20')
    .action(list);
  sub('replay <event-id>', 'apply an event once more; nothing happens to one that was applied').action(replay);
}

async function list({ state, order, limit, json, dataFolder }: ListOptions): Promise<void> {
  const query = new URLSearchParams({
    limit,
    ...(state !== undefined && { state }),
    ...(order !== undefined && { order_id: order }),
  });
  const page = (await callApi({ path: `/v1/inbox-events?${query}`, dataFolder })) as {
    readonly inbox_events: readonly ListedEvent[];
  };
  if (json === true) return printJson(page);
  const heading = ['EVENT', 'RECEIVED', 'GATEWAY', 'TYPE', 'STATE', 'ORDER', 'REMARK'];
  const rows = page.inbox_events.map((event) => [
    event.id,
    event.received_at,
    event.gateway,
    event.type,
    event.state,
    event.order_id ?? event.merchant_reference ?? '',
    event.remark ?? '',
  ]);
  print(table([heading, ...rows]));
}

async function replay(eventId: string, { json, dataFolder }: OutputOptions): Promise<void> {
  const path = `/v1/inbox-events/${encodeURIComponent(eventId)}/replay`;
  const event = (await callApi({ method: 'POST', path, dataFolder })) as ListedEvent;
  if (json === true) return printJson(event);
  print(`${event.id}  ${event.state}${event.remark === null ? '' : `: ${event.remark}`}`);
}
