import { Gauge, type Registry } from 'prom-client';
import type { DeliveryFigures } from '../domain/delivery.ts';

/** Measures how far deliveries lag behind, whenever it is asked for. The figures are of the whole database, in every process. */
export function observeDeliveries(registry: Registry, read: () => Promise<DeliveryFigures>): void {
  let asked: Promise<DeliveryFigures | undefined> | undefined;
  // Both gauges are asked at once and share an answer. While the database is away there is none: the metrics of all else go on.
  const figures = (): Promise<DeliveryFigures | undefined> => {
    asked ??= read()
      .catch(() => undefined)
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
  new Gauge({
    name: 'paidonce_deliveries',
    help: 'Deliveries of events to webhook endpoints that are still to be made, or were given up.',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      const { pending, parked } = (await figures()) ?? { pending: Number.NaN, parked: Number.NaN };
      this.set({ status: 'pending' }, pending);
      this.set({ status: 'parked' }, parked);
    },
  });
  new Gauge({
    name: 'paidonce_deliveries_oldest_pending_seconds',
    help: 'Age of the oldest event that is still to be delivered; 0 when there is none.',
    registers: [registry],
    async collect() {
      const known = await figures();
      const oldest = known?.oldestPendingAt ?? null;
      const age = oldest === null ? 0 : (Date.now() - Date.parse(oldest)) / 1_000;
      this.set(known === undefined ? Number.NaN : age);
    },
  });
}
