import type { Charge } from './books.ts';
import { type Exchange, Refusal, send, sendText } from './exchange.ts';
import { type Simulator, settle } from './simulator.ts';

/** `GET /actions/{id}`: the page that the customer is sent to, with a button for each way it can end. */
export function getAction(simulator: Simulator, exchange: Exchange, id: string): void {
  const { amount, reference } = openAction(simulator, id);
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Confirm the payment</title></head><body>
<h1>Confirm the payment</h1><p>${amount.minor_units} ${amount.currency} (minor units), reference ${reference}</p>
<form method="post" action="/actions/${id}/complete"><button>Confirm</button></form>
<form method="post" action="/actions/${id}/fail"><button>Refuse</button></form></body></html>`;
  sendText(exchange.response, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, text: page });
}

/** `POST /actions/{id}/complete|fail`: the customer has acted; money moves only now. Sends the customer back to the shop. */
export async function postAction(
  simulator: Simulator,
  exchange: Exchange,
  [id, way]: readonly [string, string],
): Promise<void> {
  const { returnUrl } = openAction(simulator, id);
  await settle(simulator, id, way === 'complete' ? 'approved' : 'declined');
  if (returnUrl === null)
    return send(exchange.response, { status: 200, body: { id, status: way === 'complete' ? 'approved' : 'declined' } });
  sendText(exchange.response, { status: 303, headers: { location: returnUrl }, text: '' });
}

function openAction({ books }: Simulator, id: string): Charge {
  const charge = books.charge(id);
  if (charge === undefined) throw new Refusal(404, 'charge_not_found', { message: 'There is no such charge.' });
  if (charge.status !== 'requires_action')
    throw new Refusal(409, 'action_over', { message: 'This charge does not wait for the customer.' });
  return charge;
}
