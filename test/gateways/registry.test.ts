import { describe, expect, it } from 'vitest';
import { createGateways, type GatewayAccount } from '../../gateways/registry.ts';

const url = 'http://127.0.0.1:1';
const NOTHING = { repeat: { by: 'nothing' }, inquire_by: [] };

function account(name: string, settings: Record<string, unknown> = { url }): GatewayAccount {
  return { name, kind: 'simulator', settings };
}

const strict = { allowAtMostOnceSent: false };

describe('the gateways of a process', () => {
  it('are found by their names', () => {
    const gateways = createGateways([account('main'), account('second')], strict);
    expect(gateways.names).toEqual(['main', 'second']);
    expect(gateways.get('second').name).toBe('second');
    expect(gateways.warnings).toEqual([]);
    expect(() => gateways.get('third')).toThrow(expect.objectContaining({ code: 'gateway_unknown', field: 'gateway' }));
    expect(() => gateways.get('toString')).toThrow(expect.objectContaining({ code: 'gateway_unknown' }));
  });

  it('have different names', () => {
    const twice = [account('main'), account('main')];
    expect(() => createGateways(twice, strict)).toThrow(expect.objectContaining({ code: 'configuration_invalid' }));
  });

  it.each([
    ['neither key, reference nor inquiry', NOTHING],
    [
      'an inquiry only by a reference that comes with the lost answer',
      { ...NOTHING, inquire_by: ['gateway_reference'] },
    ],
    ['a key that is forgotten before a repeat', { repeat: { by: 'key', window_seconds: 60 }, inquire_by: [] }],
  ])('that offer %s are refused, or run with a warning where that is allowed', (_name, capabilities) => {
    const unsafe = [account('corner-shop', { url, capabilities })];
    expect(() => createGateways(unsafe, strict)).toThrow(expect.objectContaining({ code: 'gateway_unsafe' }));
    expect(() => createGateways(unsafe, strict)).toThrow(/corner-shop/);
    const { names, warnings } = createGateways(unsafe, { allowAtMostOnceSent: true });
    expect(names).toEqual(['corner-shop']);
    expect(warnings).toEqual([expect.stringContaining('corner-shop')]);
  });

  it('have settings that are read strictly, all mistakes at once and none of the values', () => {
    const mistakes = account('main', {
      url: 'ftp://secret-host',
      capabilities: { call_timeout_seconds: 0 },
      api_key: 'secret',
    });
    expect(() => createGateways([mistakes], strict)).toThrow(/main.*url.*call_timeout_seconds/);
    expect(() => createGateways([mistakes], strict)).not.toThrow(/secret-host/);
    expect(() => createGateways([account('main', {})], strict)).toThrow(/url/);
  });

  it('declare what their settings say', () => {
    const capabilities = {
      repeat: { by: 'reference', on_repeat: 'returns_original' },
      inquire_by: ['gateway_reference'],
      absent_conclusive_after_seconds: null,
      call_timeout_seconds: 5,
      currency_decimals: { HUF: 0 },
    };
    const gateway = createGateways([account('main', { url, capabilities })], strict).get('main');
    expect(gateway.capabilities).toMatchObject({
      repeat: { by: 'reference', onRepeat: 'returns_original' },
      inquiry: { by: ['gateway_reference'], absentConclusiveAfterSeconds: null },
      callTimeoutSeconds: 5,
      currencyDecimals: { HUF: 0 },
    });
  });

  it('are good ones where nothing is said', () => {
    const gateway = createGateways([account('main')], strict).get('main');
    expect(gateway.capabilities).toMatchObject({ repeat: { by: 'key' }, inquiry: { by: ['merchant_reference'] } });
  });
});
