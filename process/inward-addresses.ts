import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Where a merchant's endpoint must not be: in our own network. Whoever may name an endpoint could else make the worker talk
 * to a database, a metadata service or an admin page that trusts whoever is inside.
 */

/** Public by its number, and yet answered inside of a cloud's machines: the platform service of Azure. */
const INSIDE_A_CLOUD = ['168.63.129.16'];
const LOOKUP_TIMEOUT_MS = 3_000;

/** Only plain public unicast is outward: the library's class for all else (loopback, private, link-local, carrier NAT, tunnels …) is not. */
export function isInward(address: string): boolean {
  if (!ipaddr.isValid(address) || INSIDE_A_CLOUD.includes(address)) return true;
  // Also unwraps an IPv4 address that is written as IPv6.
  const plain = ipaddr.process(address);
  return plain.range() !== 'unicast' || INSIDE_A_CLOUD.includes(plain.toString());
}

export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface AddressPolicy {
  /** True for development and for merchants' systems in our own network: then nothing is asked but the form. */
  readonly allowInternal: boolean;
  readonly resolve?: Resolve;
}

/**
 * Why a web address cannot be an endpoint, in a sentence; null when it can. What a name stands for may change afterwards, so
 * the same is asked of each connection when it is made.
 */
export async function objectionTo(url: string, policy: AddressPolicy): Promise<string | null> {
  const form = objectionToForm(url, policy);
  if (form !== null || policy.allowInternal) return form;
  const hostname = hostOf(url);
  const addresses = isIP(hostname) === 0 ? await (policy.resolve ?? resolveByDns)(hostname) : [hostname];
  if (addresses.length === 0) return 'Its host has no address; is it spelled right?';
  return addresses.some(isInward)
    ? 'It points into an internal network; endpoints must be public (or set ALLOW_INTERNAL_WEBHOOKS).'
    : null;
}

function objectionToForm(url: string, { allowInternal }: AddressPolicy): string | null {
  if (!URL.canParse(url)) return 'It is not a web address.';
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'https:' && !(allowInternal && protocol === 'http:')) return 'It must begin with https://.';
  if (username !== '' || password !== '') return 'It must not hold a user name or password; events are signed instead.';
  return hash === '' ? null : 'It must not hold a fragment (#…): that part is never sent.';
}

/** The host of a web address as a name or a plain IP address; decimal, octal and short forms come out as what they mean. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
}

async function resolveByDns(hostname: string): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<[]>((resolve) => {
    timer = setTimeout(() => resolve([]), LOOKUP_TIMEOUT_MS);
  });
  const asked = lookup(hostname, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  );
  const addresses = await Promise.race([asked, tooLate]);
  clearTimeout(timer);
  return addresses;
}
