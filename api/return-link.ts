import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ApiSettings } from './dependencies.ts';

type LinkSettings = Pick<ApiSettings, 'paymentTokenSecrets' | 'publicUrl'>;

/** Keeps these signatures apart from those of payment tokens, which are made with the same secret. */
const PURPOSE = 'paidonce return link 1';

/**
 * Where a gateway shall send the customer back to: through us, so that the order is asked about at that moment. Only for the
 * address that the shop itself has given with the order. One that came with a `pay` may come from anybody who holds a payment
 * token; behind a link of ours it would lead whoever trusts us to wherever they like.
 */
export function returnAddress(
  order: { readonly id: string; readonly returnUrl: string | null },
  asked: string | null,
  settings: LinkSettings,
): string | null {
  const address = asked ?? order.returnUrl;
  if (settings.publicUrl === null || address === null || address !== order.returnUrl) return address;
  const signature = sign(order.id, settings.paymentTokenSecrets[0]).toString('base64url');
  return `${settings.publicUrl}/v1/orders/${order.id}/return?signature=${signature}`;
}

/** Was the link made here? It is no secret and allows nothing but to be sent on; the signature keeps others from trying ids. */
export function isReturnLink(orderId: string, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(signature, 'base64url');
  return secrets.some((secret) => {
    const right = sign(orderId, secret);
    return given.length === right.length && timingSafeEqual(given, right);
  });
}

/** The shop's own address, with what the shop needs to look the order up; added at its end, so that the rest stays as it was. */
export function addressAtShop(returnUrl: string, order: { readonly id: string; readonly status: string }): string {
  const url = new URL(returnUrl);
  const said = new URLSearchParams({ order_id: order.id, order_status: order.status }).toString();
  url.search = url.search === '' ? said : `${url.search}&${said}`;
  return url.href;
}

function sign(orderId: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(PURPOSE).update(orderId).digest();
}
