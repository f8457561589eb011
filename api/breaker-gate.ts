import { Counter, Gauge, type Registry } from 'prom-client';
import { BREAKER } from '../domain/breaker.ts';
import { CodedError } from '../domain/errors.ts';
import type { Database } from '../store/database.ts';
import { isBreakerOpen, takeProbe } from '../store/gateway-health.ts';

/** Stands before everything that could become a new charge. Questions, refunds and attempts that were let in pass by it. */
export interface BreakerGate {
  /** @throws CodedError `gateway_unavailable` while the gateway's breaker is open, but for one caller each time its probe is due */
  admit(gateway: string): Promise<void>;
}

/** A closed breaker is looked at once in so long per process, so that a purchase need not wait for one more statement. */
const LOOK_EVERY_MS = 1_000;

export function createBreakerGate(database: Database, registry: Registry): BreakerGate {
  const labelNames = ['gateway'] as const;
  const open = new Gauge({
    name: 'paidonce_gateway_breaker_open',
    help: '1 while new charges to the gateway are refused.',
    labelNames,
    registers: [registry],
  });
  const refused = new Counter({
    name: 'paidonce_gateway_breaker_refusals_total',
    help: 'New charges that were refused because of an open breaker.',
    labelNames,
    registers: [registry],
  });
  const seenClosedAt = new Map<string, number>();
  return {
    async admit(gateway) {
      const time = Date.now();
      if (time - (seenClosedAt.get(gateway) ?? 0) < LOOK_EVERY_MS) return;
      const isOpen = await isBreakerOpen(database, gateway);
      open.set({ gateway }, isOpen ? 1 : 0);
      if (!isOpen) {
        seenClosedAt.set(gateway, time);
        return;
      }
      const now = new Date(time).toISOString();
      const nextProbeAt = new Date(time + BREAKER.probeEverySeconds * 1_000).toISOString();
      if (await takeProbe(database, { gateway, now, nextProbeAt })) return;
      refused.inc({ gateway });
      throw new CodedError(
        'gateway_unavailable',
        `The gateway ${gateway} does not answer at present, so no new charge is begun. Nothing was charged; repeat the same request.`,
      );
    },
  };
}
