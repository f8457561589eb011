import { createTourLedger } from '../../cli/tour/ledger.ts';
import { type Answer, createShop, type Shop, type ShopOrder } from '../../cli/tour/shop.ts';

export interface StormPlan {
  readonly api: string;
  readonly apiKey: string;
  /** The simulator's address: its ledger is the judge. */
  readonly simulator: string;
  readonly orders: number;
  /** Clicks on each order, all at the same moment and each with an idempotency key of its own. */
  readonly paysPerOrder: number;
  /**
   * How many orders are clicked on at the same moment; the next ones follow as orders are done. Beyond a thousand clicks at once
   * connections queue up in the operating system and are retried after 1, 3, 7 … s, which is all that is measured then.
   */
  readonly ordersAtOnce: number;
  /** How long after its last answer an order may take to be paid. */
  readonly settledWithinMs?: number;
}

/** An order that was not charged exactly once and paid. */
export interface WrongOrder {
  readonly id: string;
  readonly status: string;
  readonly charges: number;
}

export interface StormReport {
  readonly orderIds: readonly string[];
  /** What the API answered, by status code and the order's status, such as `{ '200 paid': 5000 }`. */
  readonly answers: Readonly<Record<string, number>>;
  /** What the ledger says, over all orders. */
  readonly charges: number;
  readonly wrong: readonly WrongOrder[];
  /** From the first click to the last answer. */
  readonly seconds: number;
  readonly purchasesPerSecond: number;
  readonly answersPerSecond: number;
  /** From a click to its answer, in milliseconds. */
  readonly answerMs: { readonly p50: number; readonly p95: number; readonly p99: number };
}

const SETTLED_WITHIN_MS = 60_000;

/**
 * Drives many simultaneous pays for each of many orders over HTTP and asks the gateway's ledger what was charged. It reports and
 * does not judge: a caller expects `wrong` to be empty and `charges` to be the number of orders.
 */
export async function runStorm(plan: StormPlan): Promise<StormReport> {
  const shop = createShop(plan.api, plan.apiKey);
  try {
    const orders = await inTurns(Array.from({ length: plan.orders }), 10, () => shop.createOrder());
    const answers: string[] = [];
    const times: number[] = [];
    const began = performance.now();
    await inTurns(orders, plan.ordersAtOnce, async (order) => {
      for (const { answer, milliseconds } of await clickTogether(shop, order, plan.paysPerOrder)) {
        answers.push(`${answer.status} ${answer.body.status}`);
        times.push(milliseconds);
      }
    });
    const seconds = (performance.now() - began) / 1_000;
    const judged = await inTurns(orders, 10, (order) => judge(shop, order, plan));
    return {
      orderIds: orders.map(({ id }) => id),
      answers: countEach(answers),
      charges: judged.reduce((sum, { charges }) => sum + charges, 0),
      wrong: judged.filter(({ status, charges }) => status !== 'paid' || charges !== 1),
      seconds,
      purchasesPerSecond: plan.orders / seconds,
      answersPerSecond: answers.length / seconds,
      answerMs: { p50: percentile(times, 0.5), p95: percentile(times, 0.95), p99: percentile(times, 0.99) },
    };
  } finally {
    await shop.close();
  }
}

function clickTogether(
  shop: Shop,
  order: ShopOrder,
  pays: number,
): Promise<{ readonly answer: Answer; readonly milliseconds: number }[]> {
  return Promise.all(
    Array.from({ length: pays }, async (_, click) => {
      const began = performance.now();
      const answer = await shop.pay(order, { idempotencyKey: `storm-${order.id}-${click}` });
      return { answer, milliseconds: performance.now() - began };
    }),
  );
}

async function judge(shop: Shop, { id }: ShopOrder, plan: StormPlan): Promise<WrongOrder> {
  const status = await shop.waitFor(id, ['paid'], plan.settledWithinMs ?? SETTLED_WITHIN_MS).then(
    (order) => order.status,
    (error: Error) => error.message,
  );
  return { id, status, charges: await createTourLedger(plan.simulator).charges(id) };
}

/** Does the same to each, at most `atOnce` at a time; results in the order of the input. */
async function inTurns<Input, Output>(
  inputs: readonly Input[],
  atOnce: number,
  work: (input: Input) => Promise<Output>,
): Promise<Output[]> {
  const results: Output[] = [];
  const queue = inputs.entries();
  const lane = async (): Promise<void> => {
    for (const [index, input] of queue) results[index] = await work(input);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}

function countEach(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
