import type { Shop, ShopOrder } from './shop.ts';

/** What a step works with. The ledger is the gateway's own: the only judge of what was charged. */
export interface TourContext {
  readonly shop: Shop;
  readonly ledger: Ledger;
  readonly crash: Crash;
}

export interface Ledger {
  /** Charges that moved money for this order, over all its attempts. */
  charges(orderId: string): Promise<number>;
  /** Scripts a fault for every request of this order. */
  fault(
    orderId: string,
    fault: { readonly kind: string; readonly seconds?: number; readonly code?: string; readonly as?: string },
  ): Promise<void>;
  waitForCharge(orderId: string): Promise<void>;
}

export interface Crash {
  /** SIGKILL to the process that holds API and worker, and a new one in its place. */
  worker(): Promise<void>;
  /** SIGKILL to every process of the stack at once, and a new stack on the same data. */
  everything(): Promise<void>;
}

export interface StepResult {
  /** The orders whose charges are counted in the ledger afterwards. */
  readonly orderIds: readonly string[];
  readonly chargesExpected: number;
  readonly detail: string;
}

export interface TourStep {
  readonly name: string;
  run(context: TourContext): Promise<StepResult>;
}

const CLICKS = 50;
const RESOLVED_WITHIN_MS = 30_000;

function expectStatus(order: ShopOrder, status: string): void {
  if (order.status !== status) throw new Error(`the order is ${order.status}, not ${status}`);
}

function once(order: ShopOrder, detail: string): StepResult {
  return { orderIds: [order.id], chargesExpected: 1, detail };
}

const plainPurchase: TourStep = {
  name: 'a plain purchase',
  async run({ shop }) {
    const order = await shop.createOrder();
    const began = Date.now();
    const { body } = await shop.pay(order);
    expectStatus(body, 'paid');
    return once(order, `paid in ${Date.now() - began} ms`);
  },
};

const manyClicks: TourStep = {
  name: `${CLICKS} simultaneous clicks with different idempotency keys`,
  async run({ shop }) {
    const order = await shop.createOrder();
    const answers = await Promise.all(
      Array.from({ length: CLICKS }, (_, click) => shop.pay(order, { idempotencyKey: `click-${click}` })),
    );
    for (const { body } of answers) expectStatus(body, 'paid');
    return once(order, `${answers.length} answers, all paid`);
  },
};

const twoBrowsers: TourStep = {
  name: 'two browsers with one token',
  async run({ shop }) {
    const order = await shop.createOrder();
    const answers = await Promise.all([
      shop.pay(order, { paymentMethod: 'tok_ok_first' }),
      shop.pay(order, { paymentMethod: 'tok_ok_second' }),
    ]);
    for (const { body } of answers) expectStatus(body, 'paid');
    return once(order, 'the second browser joined the first one’s attempt');
  },
};

const declineThenPaid: TourStep = {
  name: 'a decline, then a second attempt that pays',
  async run({ shop }) {
    const order = await shop.createOrder();
    const declined = (await shop.pay(order, { paymentMethod: 'tok_insufficient_funds' })).body;
    expectStatus(declined, 'failed');
    const { body } = await shop.pay(declined);
    expectStatus(body, 'paid');
    return once(order, `declined as ${declined.decline?.code}, paid by attempt ${body.attempt_number}`);
  },
};

const lostAnswer: TourStep = {
  name: 'an answer lost after the charge, found out by inquiry',
  async run({ shop }) {
    const order = await shop.createOrder();
    const began = Date.now();
    const { status, body } = await shop.pay(order, { paymentMethod: 'tok_lost_answer', waitSeconds: 0 });
    const settled = await shop.waitFor(order.id, ['paid', 'failed'], RESOLVED_WITHIN_MS);
    expectStatus(settled, 'paid');
    return once(order, `first answer ${status} ${body.status}, known ${seconds(began)} after the click`);
  },
};

const neverArrivedAndRetried: TourStep = {
  name: 'a request that never arrived, proven and sent again (the gateway honours keys)',
  async run({ shop, ledger }) {
    const order = await shop.createOrder();
    await ledger.fault(order.id, { kind: 'never_arrives' });
    const began = Date.now();
    await shop.pay(order, { waitSeconds: 0 });
    expectStatus(await shop.waitFor(order.id, ['paid', 'failed'], RESOLVED_WITHIN_MS), 'paid');
    return once(order, `sent again under the same key, paid after ${seconds(began)}`);
  },
};

const neverArrivedAndDeclined: TourStep = {
  name: 'a request that never arrived, proven and declined (a gateway without keys)',
  async run({ shop, ledger }) {
    const order = await shop.createOrder(GATEWAY_WITHOUT_KEYS);
    await ledger.fault(order.id, { kind: 'never_arrives' });
    const began = Date.now();
    await shop.pay(order, { waitSeconds: 0 });
    const settled = await shop.waitFor(order.id, ['paid', 'failed'], RESOLVED_WITHIN_MS);
    expectStatus(settled, 'failed');
    const detail = `${settled.decline?.code} after ${seconds(began)}; the customer may try again`;
    return { orderIds: [order.id], chargesExpected: 0, detail };
  },
};

const workerKilled: TourStep = {
  name: 'the worker killed with SIGKILL between charge and record',
  async run({ shop, ledger, crash }) {
    const order = await shop.createOrder();
    await chargeWithoutAnswer({ shop, ledger }, order);
    const began = Date.now();
    await crash.worker();
    expectStatus(await shop.waitFor(order.id, ['paid', 'failed'], RESOLVED_WITHIN_MS), 'paid');
    return once(order, `restarted, order paid ${seconds(began)} after the kill`);
  },
};

const everythingKilled: TourStep = {
  name: 'the whole stack killed with SIGKILL with an order in flight',
  async run({ shop, ledger, crash }) {
    const order = await shop.createOrder();
    await chargeWithoutAnswer({ shop, ledger }, order);
    const began = Date.now();
    await crash.everything();
    expectStatus(await shop.waitFor(order.id, ['paid', 'failed'], RESOLVED_WITHIN_MS), 'paid');
    return once(order, `restarted, order paid ${seconds(began)} after the kill`);
  },
};

/** Leaves the order where the money has moved and nobody here knows it yet. */
async function chargeWithoutAnswer(
  { shop, ledger }: Pick<TourContext, 'shop' | 'ledger'>,
  order: ShopOrder,
): Promise<void> {
  await ledger.fault(order.id, { kind: 'slow', seconds: 5 });
  // The connection dies with the process; what the shop is told then does not matter, the order does.
  const click = shop.pay(order, { waitSeconds: 0 }).catch(() => undefined);
  await ledger.waitForCharge(order.id);
  await click;
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1_000).toFixed(1)} s`;
}

/** The name of the second account of the embedded stack, at which every request is a charge. */
export const GATEWAY_WITHOUT_KEYS = 'simulator-without-keys';

export const TOUR_STEPS: readonly TourStep[] = [
  plainPurchase,
  manyClicks,
  twoBrowsers,
  declineThenPaid,
  lostAnswer,
  neverArrivedAndRetried,
  neverArrivedAndDeclined,
  workerKilled,
  everythingKilled,
];
