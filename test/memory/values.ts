/** Values as the product's driver settings hand them over: numbers, ISO strings for times, objects for JSON. */

interface Interval {
  readonly milliseconds: number;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1_000,
  sec: 1_000,
  minute: 60_000,
  min: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

export function toType(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'timestamptz':
      return new Date(value as string).toISOString();
    case 'bigint':
    case 'integer':
    case 'int':
    case 'smallint':
    case 'numeric':
      return typeof value === 'boolean' ? Number(value) : Number(value);
    case 'jsonb':
    case 'json':
      return typeof value === 'string' ? JSON.parse(value) : value;
    case 'interval':
      return intervalOf(value);
    case 'text':
    case 'uuid':
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    default:
      return type.endsWith('[]') && typeof value === 'string' ? value.slice(1, -1).split(',').filter(Boolean) : value;
  }
}

function intervalOf(value: unknown): Interval {
  if (typeof value === 'object' && value !== null) return value as Interval;
  const milliseconds = [...String(value).matchAll(/([\d.]+)\s*([a-z]+)/g)].reduce((sum, [, count, unit = '']) => {
    const unitMs = UNITS_MS[unit.replace(/s$/, '')] ?? UNITS_MS[unit];
    if (unitMs === undefined) throw new Error(`The in-memory database does not know the unit ${unit}`);
    return sum + Number(count) * unitMs;
  }, 0);
  return { milliseconds };
}

export function isInterval(value: unknown): value is Interval {
  return typeof value === 'object' && value !== null && 'milliseconds' in value;
}

/** -1, 0 or 1; null where either is null. Rows are compared column by column. */
export function compare(left: unknown, right: unknown): number | null {
  if (left === null || right === null || left === undefined || right === undefined) return null;
  if (Array.isArray(left) && Array.isArray(right)) return compareRows(left, right);
  const [one, other] = comparable(left, right);
  if (one === other) return 0;
  return (one as number) < (other as number) ? -1 : 1;
}

/** A row with a null in it may still be told apart by another of its columns. */
function compareRows(left: readonly unknown[], right: readonly unknown[]): number | null {
  const orders = left.map((item, index) => compare(item, right[index]));
  return orders.find((order) => order !== null && order !== 0) ?? (orders.includes(null) ? null : 0);
}

function comparable(left: unknown, right: unknown): readonly [unknown, unknown] {
  if (typeof left === 'number' && typeof right === 'string') return [left, Number(right)];
  if (typeof left === 'string' && typeof right === 'number') return [Number(left), right];
  if (isInterval(left) && isInterval(right)) return [left.milliseconds, right.milliseconds];
  if (left instanceof Uint8Array && right instanceof Uint8Array)
    return [Buffer.from(left).toString('hex'), Buffer.from(right).toString('hex')];
  if (typeof left === 'object' || typeof right === 'object') return [JSON.stringify(left), JSON.stringify(right)];
  return [left, right];
}

export function add(left: unknown, right: unknown, sign: 1 | -1): unknown {
  if (left === null || right === null) return null;
  if (typeof left === 'string' && isInterval(right))
    return new Date(Date.parse(left) + sign * right.milliseconds).toISOString();
  if (typeof left === 'string' && typeof right === 'string' && sign === -1 && Number.isNaN(Number(left)))
    return { milliseconds: Date.parse(left) - Date.parse(right) };
  return Number(left) + sign * Number(right);
}
