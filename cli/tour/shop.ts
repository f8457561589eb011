import { Agent, request } from 'undici';

/** What the API says of an order, as far as the tour reads it. */
export interface ShopOrder {
  readonly id: string;
  readonly status: string;
  readonly attempt_number: number;
  readonly created_at: string;
  readonly expires_at: string;
  readonly action: { readonly kind: string; readonly url: string } | null;
  readonly decline: { readonly code: string } | null;
  readonly payment_token: { readonly token: string; readonly attempt_number: number } | null;
}

export interface Answer {
  readonly status: number;
  readonly body: ShopOrder;
  /** Seconds, when the API asks for patience. */
  readonly retryAfter: string | undefined;
}

export interface PayOptions {
  readonly paymentMethod?: string;
  readonly idempotencyKey?: string;
  readonly waitSeconds?: number;
}

/** A shop that uses the API over HTTP, as any merchant would. */
export interface Shop {
  createOrder(gateway?: string): Promise<ShopOrder>;
  /** As the customer's browser does it: the payment token is the authority, no API key. */
  pay(order: ShopOrder, options?: PayOptions): Promise<Answer>;
  read(orderId: string): Promise<ShopOrder>;
  /** Reads until the order has one of these statuses; a server that is down is asked again. */
  waitFor(orderId: string, statuses: readonly string[], withinMs: number): Promise<ShopOrder>;
  close(): Promise<void>;
}

const AMOUNT = { minor_units: 1_999, currency: 'EUR' };
const POLL_MS = 100;

export function createShop(address: string, apiKey: string): Shop {
  const dispatcher = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000 });
  const authorization = `Bearer ${apiKey}`;

  const get = (path: string): Promise<Answer> =>
    send(`${address}${path}`, { method: 'GET', dispatcher, headers: { authorization } });
  const post = (path: string, body: object, headers: Record<string, string>): Promise<Answer> =>
    send(`${address}${path}`, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const read = async (orderId: string): Promise<ShopOrder> => (await get(`/v1/orders/${orderId}`)).body;

  return {
    read,
    async createOrder(gateway) {
      const { status, body } = await post(
        '/v1/orders',
        { amount: AMOUNT, ...(gateway && { gateway }) },
        { authorization },
      );
      if (status !== 201) throw new Error(`The order was not created: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    pay(order, { paymentMethod = 'tok_ok', idempotencyKey, waitSeconds } = {}) {
      const body = {
        payment_token: order.payment_token?.token,
        payment_method: paymentMethod,
        ...(waitSeconds !== undefined && { wait_seconds: waitSeconds }),
      };
      return post(
        `/v1/orders/${order.id}/pay`,
        body,
        idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      );
    },
    async waitFor(orderId, statuses, withinMs) {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const order = await read(orderId).catch(() => undefined);
        if (order !== undefined && statuses.includes(order.status)) return order;
        if (Date.now() > deadline)
          throw new Error(`still ${order?.status ?? 'unreachable'} after ${withinMs / 1_000} s`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    close: () => dispatcher.close(),
  };
}

async function send(url: string, options: Parameters<typeof request>[1]): Promise<Answer> {
  const response = await request(url, options);
  const { 'retry-after': retryAfter } = response.headers;
  const body = (await response.body.json()) as ShopOrder;
  return { status: response.statusCode, body, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter };
}
