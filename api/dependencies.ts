import type { Registry } from 'prom-client';
import type { Currency } from '../domain/currencies.ts';
import type { Gateway } from '../domain/gateway.ts';
import type { Logger } from '../process/log.ts';
import type { Database } from '../store/database.ts';
import type { OrderChanges } from '../store/orders/order-changes.ts';
import type { EventTeller } from './event-teller.ts';
import type { PurchaseStarter } from './purchases.ts';
import type { RefundStarter } from './refund-starter.ts';
import type { EndpointSettings } from './webhook-endpoints.ts';

/** Everything that the API works with, handed in once by the process; nothing here is reached by an import. */
export interface ApiDependencies {
  readonly settings: ApiSettings;
  readonly database: Database;
  readonly orderChanges: Pick<OrderChanges, 'waitForChange'>;
  /** The first one takes the orders that name no gateway. */
  readonly gateways: readonly [GatewayFacts, ...GatewayFacts[]];
  readonly purchases: PurchaseStarter;
  readonly refunds: RefundStarter;
  readonly events: EventTeller;
  readonly endpoints: EndpointSettings;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** What the API has to know about a gateway; it never talks to one. */
export interface GatewayFacts {
  readonly name: string;
  /** Where the gateway counts a currency otherwise than ISO 4217. */
  readonly currencyDecimals: Readonly<Partial<Record<Currency, number>>>;
  /** Absent where it cannot be told to refund. */
  readonly refund?: { readonly partial: boolean };
  /** Absent where the gateway sends no webhooks. */
  readonly parseWebhook?: NonNullable<Gateway['parseWebhook']>;
}

export interface ApiSettings {
  /** The first one signs; the others are still believed, so that a secret can be changed without a break. */
  readonly paymentTokenSecrets: readonly [string, ...string[]];
  readonly paymentTokenSeconds: number;
  readonly orderExpirySeconds: number;
  /** Where customers' browsers reach this API, without a slash at its end; null: gateways send them straight to the shop. */
  readonly publicUrl: string | null;
  /** How long a `pay` waits for the outcome when the caller does not say. */
  readonly payWaitSeconds: number;
  /** Refunds above this many minor units need a second person; currencies that are not named never do. */
  readonly refundApprovalLimits: Readonly<Partial<Record<Currency, number>>>;
}
