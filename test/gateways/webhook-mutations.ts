import { createHash, createHmac } from 'node:crypto';
import type { RawWebhook } from '../../domain/gateway-event.ts';
import { readSigningSecret, signStandardWebhook } from '../../gateways/standard-webhooks.ts';

export interface Mutation {
  readonly kind: string;
  readonly webhook: RawWebhook;
  readonly now: Date;
}

/** Numbers that follow from a seed, so that a mutation that is accepted can be made again. */
function createDice(seed: number): (below: number) => number {
  let rolled = 0;
  return (below) => {
    rolled += 1;
    return createHash('sha256').update(`${seed}:${rolled}`).digest().readUInt32BE(0) % below;
  };
}

interface Scene {
  readonly genuine: RawWebhook;
  readonly now: Date;
  readonly roll: (below: number) => number;
}

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

function header({ genuine }: Scene, name: (typeof NAMES)[number]): string {
  return genuine.headers[name]?.[0] ?? '';
}

function withHeaders({ genuine }: Scene, changes: Record<string, readonly string[]>): RawWebhook {
  return { ...genuine, headers: { ...genuine.headers, ...changes } };
}

function flipBit(bytes: Uint8Array, roll: Scene['roll']): Uint8Array {
  const copy = Buffer.from(bytes);
  const place = roll(copy.length);
  copy[place] = (copy[place] ?? 0) ^ (1 << roll(8));
  return copy;
}

const OTHER = readSigningSecret(`whsec_${Buffer.alloc(32, 9).toString('base64')}`, 'X');

function resigned(scene: Scene, timestampSeconds = Number(header(scene, 'webhook-timestamp'))): RawWebhook {
  const id = header(scene, 'webhook-id');
  const headers = signStandardWebhook({ id, timestampSeconds, body: scene.genuine.body }, [OTHER]);
  return withHeaders(scene, Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])));
}

/** Each makes something that only a mistake, or somebody who does not know the secret, would send. */
const MUTATIONS: Readonly<Record<string, (scene: Scene) => RawWebhook>> = {
  'a flipped bit in the body': (scene) => ({ ...scene.genuine, body: flipBit(scene.genuine.body, scene.roll) }),
  'a flipped bit in a header': (scene) => {
    const name = NAMES[scene.roll(3)] ?? 'webhook-id';
    const flipped = Buffer.from(flipBit(Buffer.from(header(scene, name)), scene.roll)).toString('latin1');
    return withHeaders(scene, { [name]: [flipped] });
  },
  'a body cut off': ({ genuine, roll }) => ({ ...genuine, body: genuine.body.subarray(0, roll(genuine.body.length)) }),
  'bytes added': ({ genuine, roll }) => ({
    ...genuine,
    body: Buffer.concat([genuine.body, Buffer.from([' ', '\n', '\0', '}', '{}'][roll(5)] ?? ' ')]),
  }),
  'another text of the same JSON': ({ genuine, roll }) => {
    const event = JSON.parse(Buffer.from(genuine.body).toString()) as Record<string, unknown>;
    const turned = Object.fromEntries(Object.entries(event).reverse());
    return { ...genuine, body: Buffer.from(JSON.stringify(roll(2) === 0 ? turned : event, null, 1 + roll(8))) };
  },
  'swapped headers': (scene) => {
    const [first, second] = [scene.roll(3), 1 + scene.roll(2)];
    const [left, right] = [NAMES[first] ?? 'webhook-id', NAMES[(first + second) % 3] ?? 'webhook-id'];
    return withHeaders(scene, { [left]: [header(scene, right)], [right]: [header(scene, left)] });
  },
  'another secret': (scene) => resigned(scene),
  'a dot in the id': (scene) => {
    // `evt_1` at time t signs the same text as the id `evt_1.t` would with a shorter message.
    const id = `${header(scene, 'webhook-id')}.${scene.roll(2) === 0 ? header(scene, 'webhook-timestamp') : scene.roll(99)}`;
    return withHeaders(scene, { 'webhook-id': [id] });
  },
  'a missing header': (scene) => withHeaders(scene, { [NAMES[scene.roll(3)] ?? '']: [] }),
  'an empty header': (scene) => withHeaders(scene, { [NAMES[scene.roll(3)] ?? '']: [''] }),
  'a doubled header': (scene) => {
    const name = NAMES[scene.roll(3)] ?? 'webhook-id';
    const other = scene.roll(2) === 0 ? header(scene, name) : `x${scene.roll(99)}`;
    return withHeaders(scene, { [name]: [header(scene, name), other] });
  },
  'another time': (scene) => {
    const seconds = Number(header(scene, 'webhook-timestamp')) + (scene.roll(2) === 0 ? -1 : 1) * (1 + scene.roll(299));
    return withHeaders(scene, { 'webhook-timestamp': [String(seconds)] });
  },
  'a weaker or unknown algorithm': (scene) => {
    const text = `${header(scene, 'webhook-id')}.${header(scene, 'webhook-timestamp')}.`;
    const weak = createHmac('sha1', OTHER.bytes).update(text).update(scene.genuine.body).digest('base64');
    const value = header(scene, 'webhook-signature').slice('v1,'.length);
    const forms = [`v1,${weak}`, `v0,${value}`, `v1a,${value}`, `none,${value}`, value, `V1,${value}`, `v1,${value}A`];
    return withHeaders(scene, { 'webhook-signature': [forms[scene.roll(forms.length)] ?? ''] });
  },
};

/** Mutations of a genuine webhook, all kinds in turn; the last kind leaves it as it is and lets it grow old. */
export function* mutations(
  genuine: RawWebhook,
  { now, count, seed }: { readonly now: Date; readonly count: number; readonly seed: number },
): Generator<Mutation> {
  const scene: Scene = { genuine, now, roll: createDice(seed) };
  const kinds = [...Object.keys(MUTATIONS), 'an old or early time'];
  for (let made = 0; made < count; made += 1) {
    const kind = kinds[made % kinds.length] ?? '';
    const mutate = MUTATIONS[kind];
    const away = (scene.roll(2) === 0 ? -1 : 1) * (301 + scene.roll(1_000_000));
    yield mutate === undefined
      ? { kind, webhook: genuine, now: new Date(now.getTime() + away * 1_000) }
      : { kind, webhook: mutate(scene), now };
  }
}
