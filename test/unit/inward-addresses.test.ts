import { describe, expect, it } from 'vitest';
import { isInward, objectionTo } from '../../process/inward-addresses.ts';

const INWARD = [
  ...['127.0.0.1', '127.8.8.8', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['169.254.169.254', '100.64.0.1', '100.127.255.254', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['168.63.129.16', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd12:3456::1', 'fec0::1', 'ff02::1'],
  ...['::ffff:127.0.0.1', '::ffff:169.254.169.254', '::ffff:7f00:1', '::127.0.0.1', '::ffff:168.63.129.16'],
  ...['64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001::1', '', 'localhost', '999.1.1.1'],
];
const OUTWARD = ['8.8.8.8', '172.32.0.1', '100.128.0.1', '93.184.216.34', '2606:4700::1111', '::ffff:8.8.8.8'];

describe('an address', () => {
  it.each(INWARD)('"%s" is inward', (address) => expect(isInward(address)).toBe(true));
  it.each(OUTWARD)('%s is outward', (address) => expect(isInward(address)).toBe(false));
});

const PUBLIC = { allowInternal: false, resolve: async () => ['93.184.216.34'] };

describe('a webhook endpoint', () => {
  it.each([
    ['in decimal', 'https://2130706433/'],
    ['in octal', 'https://0177.0.0.1/'],
    ['in hexadecimal', 'https://0x7f.1/'],
    ['in short', 'https://127.1/'],
    ['as IPv6', 'https://[::1]/'],
    ['as IPv4 in IPv6', 'https://[::ffff:169.254.169.254]/'],
    ['with wide digits', 'https://１２７.0.0.1/'],
    ['with a dot at the end', 'https://127.0.0.1./'],
  ])('is refused when its address is internal, written %s', async (_, url) => {
    expect(await objectionTo(url, PUBLIC)).toMatch('internal network');
  });

  it('is refused when one of the addresses of its name is internal', async () => {
    const resolve = async () => ['93.184.216.34', '10.0.0.7'];
    expect(await objectionTo('https://shop.example/', { allowInternal: false, resolve })).toMatch('internal network');
  });

  it('is refused when its name has no address', async () => {
    expect(await objectionTo('https://shop.example/', { allowInternal: false, resolve: async () => [] })).toMatch(
      'no address',
    );
    expect(await objectionTo('https://nowhere.invalid/', { allowInternal: false })).toMatch('no address');
  });

  it.each([
    ['http://shop.example/', 'https://'],
    ['ftp://shop.example/', 'https://'],
    ['file:///etc/passwd', 'https://'],
    ['https://user@shop.example/', 'user name'],
    ['https://:secret@shop.example/', 'user name'],
    ['https://shop.example/#part', 'fragment'],
    ['shop.example', 'not a web address'],
  ])('%s is refused for its form', async (url, reason) => {
    expect(await objectionTo(url, PUBLIC)).toMatch(reason);
  });

  it('is taken when it is public', async () => {
    expect(await objectionTo('https://shop.example/hooks?x=1', PUBLIC)).toBeNull();
    expect(await objectionTo('https://93.184.216.34:8443/', PUBLIC)).toBeNull();
  });

  it('may be internal and plain where that is allowed, but holds no password there either', async () => {
    const allowed = { allowInternal: true };
    expect(await objectionTo('http://127.0.0.1:3000/hooks', allowed)).toBeNull();
    expect(await objectionTo('http://a:b@127.0.0.1/', allowed)).toMatch('user name');
    expect(await objectionTo('ftp://127.0.0.1/', allowed)).toMatch('https://');
  });
});
