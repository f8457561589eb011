import type { ChargeCommand, Gateway, InquiryCommand, PreparedCharge } from '../../../domain/gateway.ts';
import { formatMoney, money } from '../../../domain/money.ts';
import type { GatewayOutcome, InquiryAnswer } from '../../../domain/outcome.ts';
import type { HttpResult } from '../../../gateways/http.ts';
import type { PaperTransport } from './transport.ts';

/** A card from the vault, fetched at the moment of sending and kept nowhere. */
export interface PaperCard {
  readonly number: string;
  readonly expiry: string;
  readonly securityCode: string;
}

export interface PayworksParts {
  readonly transport: PaperTransport;
  readonly password: string;
  readonly takeCard: (token: string) => Promise<PaperCard>;
}

const URL = 'https://via.pagosbanorte.com/payw2';
/** Stands in the stored bytes where the card's fields go: the token of the vault, never the card. */
const CARD_TOKEN = 'CARD_TOKEN';

/**
 * Banorte Payworks 2: a form goes in, the answer comes back in HTTP headers; the control number is unique for ever and a
 * second use is refused with code 3039; VERIFICACION asks by it; there is no webhook. Facts: the manuals, as other people's
 * open clients cite them.
 */
export function createPaperPayworks(parts: PayworksParts): Gateway {
  return {
    name: 'payworks',
    capabilities: {
      repeat: { by: 'reference', onRepeat: 'refused' },
      inquiry: { by: ['merchant_reference', 'gateway_reference'], absentConclusiveAfterSeconds: 150 },
      savesGatewayReferenceFirst: false,
      webhooks: 'none',
      statements: true,
      closing: { by: [] },
      authorize: null,
      refund: { partial: true, repeat: { by: 'reference', onRepeat: 'refused' } },
      callTimeoutSeconds: 130,
      reference: { lengthMax: 30, pattern: '^[0-9A-Za-z]{1,30}$' },
      currencyDecimals: {},
      timeZone: 'America/Mexico_City',
    },
    prepareCharge,
    charge: (prepared) => charge(parts, prepared),
    inquire: (command) => inquire(parts, command),
  };
}

function prepareCharge({ merchantReference, amount, paymentMethod }: ChargeCommand): PreparedCharge {
  const form = new URLSearchParams({
    ID_AFILIACION: '1234567',
    USUARIO: 'a1234567',
    ID_TERMINAL: '12345671',
    CMD_TRANS: 'VENTA',
    MODO: 'PRD',
    MODO_ENTRADA: 'MANUAL',
    IDIOMA_RESPUESTA: 'ES',
    NUMERO_CONTROL: merchantReference,
    MONTO: decimals(amount),
    [CARD_TOKEN]: paymentMethod,
  });
  return { merchantReference, requestKey: merchantReference, body: form.toString() };
}

/** `19.99`: the amount without its currency, which Payworks knows from the affiliation. */
function decimals(amount: ChargeCommand['amount']): string {
  return formatMoney(amount).split(' ')[0] ?? '';
}

async function charge(
  { transport, password, takeCard }: PayworksParts,
  prepared: PreparedCharge,
): Promise<GatewayOutcome> {
  const form = new URLSearchParams(prepared.body);
  const card = await takeCard(form.get(CARD_TOKEN) ?? '');
  const amount = form.get('MONTO') ?? '';
  form.delete(CARD_TOKEN);
  form.set('CLAVE_USR', password);
  form.set('NUMERO_TARJETA', card.number);
  form.set('FECHA_EXP', card.expiry);
  form.set('CODIGO_SEGURIDAD', card.securityCode);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return outcomeOf(await transport.send({ url: URL, headers, body: form.toString() }), amount);
}

/** Codes of a rejection that say only that the number was used, or nothing certain; every other one is final. */
const USED_OR_UNCLEAR = ['3039', '2001', '2015', '3001', '4002', '4004', '4016', '4018', '5000', '5001'];

function outcomeOf(result: HttpResult, amount: string): GatewayOutcome {
  if (result.kind === 'failed') {
    const { code: reason } = result;
    return result.sent
      ? { kind: 'unknown', reason, raw: '' }
      : { kind: 'not_processed', declineCode: 'gateway_unreachable', reason, raw: '' };
  }
  const word = (spanish: string, english: string): string => result.headers[spanish] ?? result.headers[english] ?? '';
  const [outcome, issuer] = [word('resultado_payw', 'payw_result'), word('resultado_aut', 'auth_result')];
  const code = word('codigo_payw', 'payw_code').replace('PAYW-', '');
  const gatewayReference = word('referencia', 'reference');
  const raw = `${outcome} ${code} ${issuer} ${gatewayReference}`;
  if (result.status !== 200) return { kind: 'unknown', reason: `HTTP ${result.status}`, raw };
  if (outcome === 'A') return { kind: 'approved', amount: pesos(amount), gatewayReference, raw };
  if (outcome === 'D' && issuer !== '79' && issuer !== '94') {
    const reason = issuer === '51' ? 'insufficient_funds' : 'card_declined';
    return { kind: 'declined', decline: { code: reason, gatewayCode: issuer, retriable: true }, gatewayReference, raw };
  }
  if (outcome === 'R' && code !== '' && !USED_OR_UNCLEAR.includes(code)) {
    return { kind: 'not_processed', declineCode: 'refused_by_gateway', reason: code, raw };
  }
  return { kind: 'unknown', reason: `${outcome || 'no result'} ${code}`, raw };
}

/** VERIFICACION answers with twelve fields between bars; type, reference, card, amount, code, result come first. */
async function inquire({ transport, password }: PayworksParts, command: InquiryCommand): Promise<InquiryAnswer> {
  const form = new URLSearchParams({
    ID_AFILIACION: '1234567',
    USUARIO: 'a1234567',
    CLAVE_USR: password,
    ID_TERMINAL: '12345671',
    CMD_TRANS: 'VERIFICACION',
    MODO: 'PRD',
    NUMERO_CONTROL: command.merchantReference,
  });
  const result = await transport.send({ url: URL, headers: {}, body: form.toString() });
  if (result.kind === 'failed' || result.status !== 200) return { kind: 'unavailable', reason: 'no answer' };
  const code = (result.headers.codigo_payw ?? '').replace('PAYW-', '');
  if (code === '3054') return { kind: 'absent', raw: code };
  const [, gatewayReference = '', , amount = '', , outcome] = decodeURIComponent(result.headers.texto ?? '').split('|');
  const raw = result.headers.texto ?? '';
  if (outcome === 'A')
    return { kind: 'found', outcome: { kind: 'approved', amount: pesos(amount), gatewayReference, raw } };
  if (outcome !== 'D') return { kind: 'unavailable', reason: `the verification says ${outcome ?? 'nothing'}` };
  return { kind: 'found', outcome: { kind: 'declined', decline: { code: 'card_declined', retriable: true }, raw } };
}

function pesos(text: string) {
  const [whole = '', cents = ''] = text.split('.');
  return money(Number(whole) * 100 + Number(cents.padEnd(2, '0')), 'MXN');
}
