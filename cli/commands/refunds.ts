import type { Command } from 'commander';
import { request } from 'undici';
import { CodedError, ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { formatMoney, money } from '../../domain/money.ts';
import { print, printJson, table } from '../output.ts';
import { findApi } from '../running-stack.ts';

interface ShownRefund {
  readonly id: string;
  readonly order_id: string;
  readonly status: string;
  readonly amount: { readonly minor_units: number; readonly currency: string };
  readonly waits_for: string | null;
  readonly created_at: string;
}

interface OutputOptions {
  readonly json?: boolean;
  readonly dataFolder?: string;
}

/** Money that goes back, by the API. */
export function addRefundsCommands(program: Command): void {
  const refunds = program.command('refunds').description('look at refunds, make and approve them');
  const add = (name: string, description: string): Command =>
    refunds
      .command(name)
      .description(description)
      .option('--data-folder <path>', 'of the running stack')
      .option('--json', 'print JSON');
  add('list', 'the newest refunds')
    .option('--status <status>', 'only those in this status')
    .action(async (options: OutputOptions & { readonly status?: string }) => {
      const query = options.status === undefined ? '' : `?status=${encodeURIComponent(options.status)}`;
      const page = (await call('GET', `/v1/refunds${query}`, options)) as { readonly refunds: ShownRefund[] };
      show(page.refunds, options);
    });
  add('show <refund-id>', 'one refund').action(async (id: string, options: OutputOptions) =>
    show([(await call('GET', `/v1/refunds/${encodeURIComponent(id)}`, options)) as ShownRefund], options),
  );
  add('create <order-id>', 'give money of an order back')
    .option('--minor-units <number>', 'how much; all that is left if left out')
    .option('--currency <code>', 'of the order', 'EUR')
    .option('--reason <text>', 'kept with the refund')
    .action(async (orderId: string, options: CreateOptions) => {
      const { minorUnits, currency, reason } = options;
      const amount = minorUnits === undefined ? {} : { amount: { minor_units: Number(minorUnits), currency } };
      const body = { ...amount, ...(reason !== undefined && { reason }) };
      const path = `/v1/orders/${encodeURIComponent(orderId)}/refunds`;
      show([(await call('POST', path, { ...options, body })) as ShownRefund], options);
    });
  add('approve <refund-id>', 'as the second person, with another API key').action(
    async (id: string, options: OutputOptions) =>
      show([(await call('POST', `/v1/refunds/${encodeURIComponent(id)}/approve`, options)) as ShownRefund], options),
  );
}

interface CreateOptions extends OutputOptions {
  readonly minorUnits?: string;
  readonly currency: string;
  readonly reason?: string;
}

function show(refunds: readonly ShownRefund[], { json }: OutputOptions): void {
  if (json === true) {
    printJson({ refunds });
    return;
  }
  const rows = refunds.map(({ id, order_id: orderId, status, amount, waits_for: waitsFor, created_at: createdAt }) => [
    ...[id, orderId, status, formatMoney(money(amount.minor_units, amount.currency)), waitsFor ?? '', createdAt],
  ]);
  print(table([['REFUND', 'ORDER', 'STATUS', 'AMOUNT', 'WAITS FOR', 'CREATED'], ...rows]));
}

async function call(
  method: 'GET' | 'POST',
  path: string,
  { dataFolder, body }: OutputOptions & { readonly body?: object },
): Promise<unknown> {
  const { address, apiKey } = findApi(process.env, dataFolder);
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${apiKey}`, ...json };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await request(`${address}${path}`, { method, headers, ...sent });
  const answer = (await response.body.json()) as { readonly code?: string; readonly detail?: string };
  if (response.statusCode < 400) return answer;
  const code = answer.code !== undefined && answer.code in ERRORS ? (answer.code as ErrorCode) : 'internal';
  throw new CodedError(code, answer.detail);
}
