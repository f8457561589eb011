import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedStack } from '../cli/embedded-stack.ts';
import { createShop, type Shop } from '../cli/tour/shop.ts';
import { createSimulatorControl } from '../gateways/simulator/control.ts';
import { createDatabase, type Database } from '../store/database.ts';

/**
 * How soon are orders in doubt cleared up once their gateway answers again (promise R4)? A thousand orders whose answer was
 * lost and whose next question is due in a day, an outage, and the way back. Prints one JSON line.
 */
const ORDERS = Number(process.env.RECOVERY_ORDERS ?? 1_000);
const AT_ONCE = 20;
const OUTAGE_MS = 20_000;
const LIMIT_MS = 15 * 60_000;
/** The first question hears "pending"; the next one is due in a day. */
const PATIENT = { INQUIRY_SCHEDULE_SECONDS: '1,86400', GATEWAY_BREAKER: 'false' };

const folder = mkdtempSync(join(tmpdir(), 'paidonce-recovery-'));
const stack = await startEmbeddedStack({ dataFolder: folder, overrides: PATIENT });
const database = createDatabase({ url: stack.databaseUrl, poolSize: 2, applicationName: 'paidonce-bench' });
const shop = createShop(stack.addresses.api, stack.developmentKey);
const control = createSimulatorControl(stack.addresses.simulator);
try {
  await control.addFault({ fault: { kind: 'inquiry_stale_pending' }, times: null });
  await loseAnswers(shop);
  await until(async () => (await countAsked(database)) === ORDERS);
  await control.clearFaults();
  await control.beginOutage({ kind: 'refuse', for_ms: OUTAGE_MS });
  // Somebody buys during the outage: by that its silence is noticed, and its end.
  const buyer = await shop.createOrder();
  await shop.pay(buyer, { waitSeconds: 0 });
  await shop.waitFor(buyer.id, ['paid'], LIMIT_MS);
  await until(async () => (await countUnknown(database)) === 0);
  process.stdout.write(`${JSON.stringify(await figures(database))}\n`);
} finally {
  await shop.close();
  await database.close();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function loseAnswers(to: Shop): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < ORDERS) {
      begun += 1;
      await to.pay(await to.createOrder(), { paymentMethod: 'tok_lost_answer', waitSeconds: 0 });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function countUnknown(from: Database): Promise<number> {
  const { rows } = await from.query<{ count: number }>(
    `select count(*) as count from orders where status in ('unknown', 'processing')`,
  );
  return rows[0]?.count ?? 0;
}

/** Orders that were asked about once. */
async function countAsked(from: Database): Promise<number> {
  const { rows } = await from.query<{ count: number }>(
    `select count(*) as count from payment_attempts where status = 'pending'`,
  );
  return rows[0]?.count ?? 0;
}

/** From the gateway's first good answer to the moment at which the order was paid on its row. */
async function figures(from: Database): Promise<object> {
  const { rows } = await from.query<Record<string, number>>(
    `with health as (select updated_at as back from gateway_health where silent_since is null),
       waited as (
         select extract(epoch from orders.updated_at - back)::float8 as seconds from orders, health
         where exists (select from payment_attempts where order_id = id and payment_method = 'tok_lost_answer'))
     select count(*) as orders, percentile_cont(0.5) within group (order by seconds) as p50,
       percentile_cont(0.95) within group (order by seconds) as p95,
       percentile_cont(0.99) within group (order by seconds) as p99, max(seconds) as max from waited`,
  );
  const ledger = await control.ledger();
  const charges = ledger.reduce((sum, row) => sum + row.charges, 0);
  return { ...rows[0], charges, twice: ledger.filter((row) => row.charges > 1).length };
}

async function until(check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error('It did not happen in time.');
    await pause(200);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
