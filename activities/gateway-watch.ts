import { BREAKER, type BreakerOutcome, recentOutcomes, shouldOpen } from '../domain/breaker.ts';
import type { GatewayOutcome } from '../domain/outcome.ts';
import type { Database } from '../store/database.ts';
import { closeBreaker, noteAnswer, noteSilence, openBreaker } from '../store/gateway-health.ts';
import type { ActivityLog } from './log.ts';

/** What this process hears of each gateway, and what follows from it. None of it ever fails or holds up the call it is about. */
export interface GatewayWatch {
  charged(gateway: string, outcome: GatewayOutcome): Promise<void>;
  /** After an inquiry or a refund: it tells whether the gateway is there, and never counts for or against its breaker. */
  asked(gateway: string, answered: boolean): Promise<void>;
}

export interface GatewayWatchParts {
  readonly database: Database;
  readonly log: ActivityLog;
  /** Whether new charges are stopped when too many get no answer. */
  readonly breaker: boolean;
  /** Has all orders that wait for the gateway asked about now. Called when a gateway is heard again after an outage. */
  readonly recover: (gateway: string) => Promise<void>;
}

/** A shorter silence is no outage: the orders that it left in doubt are asked about within seconds anyway. */
const OUTAGE_SECONDS = 10;
/** How old what this process knows of another's outage may be. */
const REFRESH_MS = 5_000;
/** Enough for the window of a busy gateway; older outcomes count no more than these. */
const OUTCOMES_MAX = 200;

interface Known {
  /** As far as this process knows. */
  silent: boolean;
  writtenAt: number;
  open: boolean;
  /** When the database was last asked to close the breaker. */
  lookedAt: number;
  outcomes: readonly BreakerOutcome[];
}

/** One per worker process. The counting is its own, what it concludes stands in the database for all. */
export function createGatewayWatch(parts: GatewayWatchParts): GatewayWatch {
  const known = new Map<string, Known>();
  const knownOf = (gateway: string): Known => {
    const found = known.get(gateway) ?? { silent: false, writtenAt: 0, open: false, lookedAt: 0, outcomes: [] };
    known.set(gateway, found);
    return found;
  };
  const quietly = async (gateway: string, work: () => Promise<void>): Promise<void> => {
    await work().catch((cause: unknown) => {
      parts.log.warn({ gateway, err: cause }, 'What is known of a gateway could not be written down.');
    });
  };
  return {
    charged: (gateway, outcome) =>
      quietly(gateway, async () => {
        const silent = isSilent(outcome);
        await hear(parts, { gateway, silent, known: knownOf(gateway) });
        if (parts.breaker) await judge(parts, { gateway, silent, known: knownOf(gateway) });
      }),
    asked: (gateway, answered) =>
      quietly(gateway, () => hear(parts, { gateway, silent: !answered, known: knownOf(gateway) })),
  };
}

/** Whether the outcome is a silence: the gateway cannot be reached, or said nothing that can be understood. */
export function isSilent(outcome: GatewayOutcome): boolean {
  if (outcome.kind === 'not_processed') return outcome.declineCode === 'gateway_unreachable';
  return outcome.kind === 'unknown';
}

interface Heard {
  readonly gateway: string;
  readonly silent: boolean;
  readonly known: Known;
}

/** Writes when something changes, or now and then: another process may have seen what this one has not. */
async function hear({ database, log, recover }: GatewayWatchParts, { gateway, silent, known }: Heard): Promise<void> {
  const time = Date.now();
  if (silent === known.silent && time - known.writtenAt < REFRESH_MS) return;
  known.silent = silent;
  known.writtenAt = time;
  const now = new Date(time).toISOString();
  const written = silent ? noteSilence(database, gateway, now) : noteAnswer(database, gateway, now);
  const silentSince = await written.catch((cause: unknown) => {
    known.writtenAt = 0; // Not known to the others yet: the next call tells them.
    throw cause;
  });
  if (silent) return;
  if (typeof silentSince !== 'string' || time - Date.parse(silentSince) < OUTAGE_SECONDS * 1_000) return;
  log.info({ gateway, silentSince }, 'A gateway answers again; the orders that wait for it are asked about.');
  await recover(gateway);
}

/** The breaker: opens by the share of silent charges, and closes by one charge that is answered, here or elsewhere. */
async function judge({ database, log }: GatewayWatchParts, { gateway, silent, known }: Heard): Promise<void> {
  const time = Date.now();
  const now = new Date(time).toISOString();
  known.outcomes = recentOutcomes([...known.outcomes, { at: time, silent }].slice(-OUTCOMES_MAX), time);
  if (silent) {
    if (!shouldOpen(known.outcomes, time)) return;
    known.open = true;
    const probeAt = new Date(time + BREAKER.probeEverySeconds * 1_000).toISOString();
    if (await openBreaker(database, { gateway, now, probeAt }))
      log.warn({ gateway }, 'Too many charges got no answer; new ones are refused until one goes through.');
    return;
  }
  // A probe may be carried out by a process that did not see why the breaker opened.
  if (!known.open && time - known.lookedAt < REFRESH_MS) return;
  const wasOpen = known.open;
  known.open = false;
  known.lookedAt = time;
  const closed = await closeBreaker(database, gateway, now);
  if (wasOpen || closed) known.outcomes = [];
  if (closed) log.info({ gateway }, 'A charge went through; new ones are let in again.');
}
