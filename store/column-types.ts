import pg from 'pg';

const { builtins } = pg.types;

/**
 * Why a pool of our own reads some columns otherwise than the driver: a whole number comes as a number and a time as an ISO
 * string, so that rows can go to Temporal and to JSON as they are. Handed to each pool, never set for the whole process.
 */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [builtins.INT8, parseSafeInteger],
  [builtins.TIMESTAMPTZ, parseTime],
  // The driver would make midnight in the machine's own time zone of it.
  [builtins.DATE, (text) => text],
]);

/** For the `types` option of a pool or a client. */
export const COLUMN_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    const parser = format === 'binary' ? undefined : PARSERS.get(oid);
    return parser ?? pg.types.getTypeParser(oid, format ?? 'text');
  },
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`The database holds ${text}, which a number cannot hold exactly`);
  return value;
}

/** Every time we write is an ISO time to the millisecond, so nothing is lost. */
function parseTime(text: string): string {
  const value: unknown = pg.types.getTypeParser(builtins.TIMESTAMPTZ)(text);
  if (!(value instanceof Date)) throw new Error(`The database holds the time ${text}, which has no ISO form`);
  return value.toISOString();
}
