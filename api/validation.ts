import type { FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import type { ErrorCode } from '../domain/errors.ts';
import { type Fault, InputError } from './problems.ts';

/** Fields whose mistakes have a code of their own. */
const FIELD_CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['amount.minor_units', 'amount_invalid'],
  ['amount.currency', 'currency_unknown'],
]);

const FAULTS_MAX = 20;
/** A caller's own field names are told back only when they are plain words. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Checks input against the route's zod schemas and turns every mistake into a field and a sentence. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    return { error: inputError(result.error.issues, httpPart ?? 'request') };
  };
};

function inputError(issues: readonly z.core.$ZodIssue[], part: string): InputError {
  const [first = { field: part, message: 'Is not valid.' }, ...others] = issues
    .flatMap((issue) => faultsOf(issue, part))
    .filter(isFirstOfItsKind);
  return new InputError(FIELD_CODES.get(first.field) ?? 'field_invalid', [first, ...others.slice(0, FAULTS_MAX)]);
}

/** A field can break several rules that are told in one sentence. */
function isFirstOfItsKind({ field, message }: Fault, place: number, all: readonly Fault[]): boolean {
  return all.findIndex((fault) => fault.field === field && fault.message === message) === place;
}

function faultsOf(issue: z.core.$ZodIssue, part: string): Fault[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: fieldName([...path, key], part), message: 'There is no such field.' }));
  }
  return [{ field: fieldName(path, part), message: issue.message }];
}

/** The path of a field as it may be told back, or the part of the request where it is. */
export function fieldName(path: readonly string[], part: string): string {
  const plain = path.every((name) => PLAIN_NAME.test(name) || /^\d{1,4}$/.test(name));
  return path.length > 0 && plain ? path.join('.') : part;
}
