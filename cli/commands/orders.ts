import type { Command } from 'commander';
import { formatMoney, type Money, money } from '../../domain/money.ts';
import { callApi } from '../call-api.ts';
import { print, printJson, table } from '../output.ts';

interface ListedOrder {
  readonly id: string;
  readonly status: string;
  readonly amount: { readonly minor_units: number; readonly currency: string };
  readonly gateway: string;
  readonly attempt_number: number;
  readonly needs_review: boolean;
  readonly review_reason: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

interface OrderAttempt {
  readonly attempt_number: number;
  readonly status: string;
  readonly merchant_reference: string;
  readonly gateway_reference: string | null;
  readonly sends: number;
  readonly first_sent_at: string | null;
}

interface OrderEvidence {
  readonly kind: string;
  readonly attempt_number: number | null;
  readonly proves_order_status: string | null;
  readonly recorded_at: string;
  readonly detail: string;
}

interface OutputOptions {
  readonly json?: boolean;
  readonly dataFolder?: string;
}

const DETAIL_WIDTH = 100;

export function addOrdersCommands(program: Command): void {
  const orders = program.command('orders').description('look at orders');
  orders
    .command('list')
    .description('the newest orders')
    .option('--status <status>', 'only those in this status')
    .option('--limit <number>', 'how many', '20')
    .option('--data-folder <path>', 'of the running stack')
    .option('--json', 'print JSON')
    .action(list);
  orders
    .command('show <order-id>')
    .description('one order with its attempts and the evidence for what is said of it')
    .option('--data-folder <path>', 'of the running stack')
    .option('--json', 'print JSON')
    .action(show);
}

async function list(options: OutputOptions & { readonly status?: string; readonly limit: string }): Promise<void> {
  const query = new URLSearchParams({
    limit: options.limit,
    ...(options.status !== undefined && { status: options.status }),
  });
  const page = (await read(`/v1/orders?${query}`, options)) as { readonly orders: readonly ListedOrder[] };
  if (options.json === true) return printJson(page);
  const heading = ['ORDER', 'STATUS', 'AMOUNT', 'GATEWAY', 'ATTEMPTS', 'REVIEW', 'CREATED'];
  const rows = page.orders.map((order) => [
    order.id,
    order.status,
    formatMoney(moneyOf(order)),
    order.gateway,
    String(order.attempt_number),
    order.needs_review ? 'yes' : '',
    order.created_at,
  ]);
  print(table([heading, ...rows]));
}

async function show(orderId: string, options: OutputOptions): Promise<void> {
  const path = `/v1/orders/${encodeURIComponent(orderId)}`;
  const order = (await read(path, options)) as ListedOrder;
  const { attempts } = (await read(`${path}/attempts`, options)) as { readonly attempts: readonly OrderAttempt[] };
  const { evidence } = (await read(`${path}/evidence`, options)) as { readonly evidence: readonly OrderEvidence[] };
  if (options.json === true) return printJson({ order: withoutToken(order), attempts, evidence });
  print(
    `${order.id}  ${order.status}  ${formatMoney(moneyOf(order))} by ${order.gateway}, payable until ${order.expires_at}`,
  );
  if (order.needs_review) print(`needs review: ${order.review_reason}`);
  print();
  print(
    table([
      ['ATTEMPT', 'STATUS', 'SENDS', 'FIRST SENT', 'MERCHANT REFERENCE', 'GATEWAY REFERENCE'],
      ...attempts.map((attempt) => [
        String(attempt.attempt_number),
        attempt.status,
        String(attempt.sends),
        attempt.first_sent_at ?? '',
        attempt.merchant_reference,
        attempt.gateway_reference ?? '',
      ]),
    ]),
  );
  print();
  print(
    table([
      ['EVIDENCE', 'ATTEMPT', 'PROVES', 'RECORDED', 'WORDS'],
      ...evidence.map((piece) => [
        piece.kind,
        String(piece.attempt_number ?? ''),
        piece.proves_order_status ?? '',
        piece.recorded_at,
        piece.detail.slice(0, DETAIL_WIDTH),
      ]),
    ]),
  );
}

/** A token is the right to pay; it belongs to the customer's page and not on a terminal. */
function withoutToken(order: ListedOrder): object {
  const { payment_token: _, ...shown } = order as ListedOrder & { payment_token?: unknown };
  return shown;
}

function moneyOf({ amount }: ListedOrder): Money {
  return money(amount.minor_units, amount.currency);
}

function read(path: string, { dataFolder }: OutputOptions): Promise<unknown> {
  return callApi({ path, dataFolder });
}
