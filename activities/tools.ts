import type { Gateway } from '../domain/gateway.ts';
import type { Database } from '../store/database.ts';
import type { OpenOrder } from '../store/orders/open-orders.ts';
import type { RefundInFlight } from '../store/refunds/refunds.ts';
import type { CallsInFlight } from './calls-in-flight.ts';
import type { GatewayWatch } from './gateway-watch.ts';
import type { ActivityLog } from './log.ts';

export type { ActivityLog } from './log.ts';

/** What the activities work with, handed in once by the worker process; nothing here is reached by an import. */
export interface Tools {
  readonly database: Database;
  readonly gateways: { get(name: string): Gateway };
  readonly calls: CallsInFlight;
  /** The time. This machine's clock, but for tests in virtual time, where it has to be that of the Temporal server. */
  readonly clock: () => Promise<Date>;
  /** Tells the order's workflow that its row has changed. Best effort: an inquiry looks at the row first anyway. */
  readonly nudge: (orderId: string) => Promise<void>;
  /** Starts the workflow of an open order, unless it runs. It finds the attempt as it stands and sends nothing again. */
  readonly resume: (order: OpenOrder) => Promise<'resumed' | 'running'>;
  /** Has an order's workflow ask its gateway now. False when it has no running workflow. */
  readonly askNow: (orderId: string) => Promise<boolean>;
  /** What comes of each call to a gateway is told here. */
  readonly watch: GatewayWatch;
  /** Starts the workflow of a refund, unless it runs. It finds the refund as it stands and sends nothing again. */
  readonly startRefund: (refund: RefundInFlight) => Promise<'resumed' | 'running'>;
  /** Tells the refund's workflow that its row has changed. */
  readonly nudgeRefund: (refundId: string) => Promise<void>;
  readonly log: ActivityLog;
  /** How long a customer may take over an action at the gateway; absent: until the order expires. */
  readonly actionSeconds?: number | undefined;
}
