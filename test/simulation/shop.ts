import { isAnswerable, isPayable, type OrderStatus } from '../../domain/order.ts';
import type { AttemptRequest } from '../../workflows/messages.ts';
import { FAULTY_MS } from './chaos.ts';
import { connect } from './database.ts';
import { after, between, chance, newId, now, pause, pick } from './runtime/virtual.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const EXPIRY_EVERY_MS = 30 * MINUTE_MS;
const OPERATOR_EVERY_MS = 2 * HOUR_MS;
const END_MS = FAULTY_MS + 6 * 24 * HOUR_MS;

/** Lets customers, the schedules and an operator act on the world. */
export function openShop(world: World, orders: number): void {
  for (let index = 0; index < orders; index += 1) after(between(0, FAULTY_MS), () => void shopFor(world));
  every(EXPIRY_EVERY_MS, () => expireUnpaid(world));
  every(OPERATOR_EVERY_MS, () => decideReviews(world));
}

function every(periodMs: number, act: () => void): void {
  const began = now();
  const again = (): void => {
    act();
    if (now() - began < END_MS) after(periodMs, again);
  };
  after(periodMs, again);
}

/** One customer: makes an order, clicks on pay as customers do, and tries again after a refusal, or not. */
async function shopFor(world: World): Promise<void> {
  const order = await createOrder(world);
  if (order === undefined || chance(0.05)) return;
  for (let attemptNumber = 1; attemptNumber < 6; attemptNumber += 1) {
    const clicks = pick([1, 1, 1, 2, 5]);
    for (let made = 0; made < clicks; made += 1)
      void later(between(0, chance(0.8) ? 3_000 : HOUR_MS), () => click(world, order, attemptNumber));
    await pause(chance(0.7) ? between(5_000, 10 * MINUTE_MS) : between(MINUTE_MS, 20 * HOUR_MS));
    const row = world.database.engine.rows('orders').find(({ id }) => id === order);
    if (row?.status !== 'failed' || row.current_attempt !== attemptNumber || chance(0.3)) return;
  }
}

async function later(ms: number, act: () => Promise<void>): Promise<void> {
  await pause(ms);
  await act();
}

const isoTime = (time: number): string => new Date(time).toISOString();

async function createOrder(world: World): Promise<string | undefined> {
  const database = connect(world.database, world.api);
  const { name } = pick(world.gateways);
  const id = newId();
  const time = now();
  const lifeMs = pick([10 * MINUTE_MS, HOUR_MS, 24 * HOUR_MS, 48 * HOUR_MS]);
  const currency = pick(['EUR', 'JPY', 'KWD'] as const);
  try {
    await database.query(
      `insert into orders (id, amount_minor_units, currency, gateway, expires_at, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $6)`,
      [id, Math.floor(between(1, 1_000_000)), currency, name, isoTime(time + lifeMs), isoTime(time)],
    );
    return id;
  } catch {
    // The answer was lost, and a shop that made the order again would have two. This one's customer goes away.
    return undefined;
  }
}

/**
 * What the API does with a click, in its own words here (api/pay.ts hangs on much that the simulation does not have): answer
 * from the row, join a made attempt, or start the order's workflow or signal it.
 */
async function click(world: World, orderId: string, attemptNumber: number): Promise<void> {
  const database = connect(world.database, world.api);
  const read = async (): Promise<OrderRow | undefined> => {
    const { rows } = await database.query<OrderRow>(
      'select status, current_attempt, needs_review, gateway, expires_at from orders where id = $1',
      [orderId],
    );
    return rows[0];
  };
  try {
    const order = await read();
    if (order === undefined) return;
    const isNext = attemptNumber === order.current_attempt + 1 && isPayable(order.status) && !order.needs_review;
    if (isNext && Date.parse(order.expires_at) > now()) await startOrAttach(world, { orderId, order, attemptNumber });
    await pause(between(100, 25_000));
    const seen = await read();
    if (seen !== undefined && seen.current_attempt >= attemptNumber && isAnswerable(seen.status))
      world.witness.tell(orderId, { key: '', body: '', answer: seen.status, status: seen.status });
  } catch {
    // The customer sees an error, and perhaps clicks again.
  }
}

interface OrderRow {
  readonly status: OrderStatus;
  readonly current_attempt: number;
  readonly needs_review: boolean;
  readonly gateway: string;
  readonly expires_at: string;
}

interface Click {
  readonly orderId: string;
  readonly order: OrderRow;
  readonly attemptNumber: number;
}

async function startOrAttach(world: World, { orderId, order, attemptNumber }: Click): Promise<void> {
  const { temporal, product } = world;
  await pause(between(1, 50));
  if (world.faulty && chance(0.01)) throw new Error('The API died before the start.');
  const attempt: AttemptRequest = { attemptNumber, paymentMethod: `tok_ok_${attemptNumber}`, returnUrl: null };
  const settings = { handoverAfterMs: 3_000, inquiryScheduleSeconds: product.inquiryScheduleSeconds };
  const purchase = product.workflows.purchase;
  if (purchase === undefined) throw new Error('There is no purchase workflow');
  const { gateway, expires_at: expiresAt } = order;
  const isNew = temporal.start(orderId, purchase, { orderId, gateway, expiresAt, attempt, settings });
  if (!isNew && attemptNumber > 1) temporal.signal(orderId, 'pay', attempt);
}

let runs = 0;

function expireUnpaid({ temporal, product }: World): void {
  runs += 1;
  try {
    const type = product.workflows.expireUnpaidOrders;
    if (type !== undefined) temporal.start(`expire-unpaid-orders-${runs}`, type, undefined);
  } catch {
    // Temporal is away; the schedule comes again.
  }
}

/** An honest operator, who looks at the gateway's books and then decides some of the cases. */
function decideReviews({ database, gateways, temporal }: World): void {
  for (const { id, status, needs_review: needsReview } of database.engine.rows('orders')) {
    if (needsReview !== true || status !== 'unknown' || chance(0.9)) continue;
    const references = new Set(
      database.engine
        .rows('payment_attempts')
        .filter((row) => row.order_id === id)
        .map((row) => row.merchant_reference),
    );
    const charges = gateways.flatMap(({ ledger }) => ledger).filter(({ reference }) => references.has(reference));
    if (charges.some((charge) => charge.status === 'pending' || charge.status === 'requires_action')) continue;
    const outcome = charges.some((charge) => charge.status === 'approved') ? 'paid' : 'failed';
    const decision = { outcome, operator: 'operator', reason: 'Seen in the books of the gateway.' };
    try {
      temporal.update(String(id), 'settle', decision).catch(() => undefined);
    } catch {
      // The workflow has ended meanwhile, or Temporal is away.
    }
  }
}
