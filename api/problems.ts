import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isResponseSerializationError } from 'fastify-type-provider-zod';
import { BREAKER } from '../domain/breaker.ts';
import { CodedError, ERRORS, type ErrorCode } from '../domain/errors.ts';
import { isUnavailable } from '../store/database.ts';

/** One mistake in the input: where, by its path in the request, and what is wrong with it. Never the value itself. */
export interface Fault {
  readonly field: string;
  readonly message: string;
}

/** Input with mistakes, all of them told together. */
export class InputError extends CodedError {
  readonly faults: readonly Fault[];

  constructor(code: ErrorCode, faults: readonly [Fault, ...Fault[]]) {
    super(code, undefined, { field: faults[0].field });
    this.name = 'InputError';
    this.faults = faults;
  }
}

/** The body of every error answer: RFC 9457 with a stable `code`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  /** The request id, as the log has it. */
  readonly instance: string;
  readonly errors?: readonly Fault[];
}

export const PROBLEM_JSON = 'application/problem+json';

/** Fastify's own refusals, in our words. */
const FRAMEWORK_CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'body_too_large'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'media_type_unsupported'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'body_malformed'],
]);

/** Seconds after which a repeat can make sense. */
const RETRY_AFTER: Readonly<Partial<Record<ErrorCode, number>>> = {
  database_unavailable: 2,
  temporal_unavailable: 5,
  gateway_unavailable: BREAKER.probeEverySeconds,
  idempotency_key_in_progress: 1,
};

/** The one place where an error becomes an answer. What is not known here is our own mistake and tells the caller nothing. */
function translateError(error: unknown): CodedError {
  if (error instanceof CodedError) return ERRORS[error.code].status === null ? internal(error) : error;
  if (isUnavailable(error)) return new CodedError('database_unavailable', undefined, { cause: error });
  if (!(error instanceof Error) || isResponseSerializationError(error)) return internal(error);
  const { code, statusCode } = error as Partial<FastifyError>;
  const known = FRAMEWORK_CODES.get(code ?? '');
  if (known !== undefined) return new CodedError(known, undefined, { cause: error });
  if (statusCode === 404) return new CodedError('route_not_found', undefined, { cause: error });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new CodedError('request_malformed', undefined, { cause: error });
  }
  return internal(error);
}

function internal(cause: unknown): CodedError {
  return new CodedError('internal', undefined, { cause });
}

export function problemOf(error: CodedError, requestId: string): Problem {
  const { status, title } = ERRORS[error.code];
  const faults = error instanceof InputError ? error.faults : faultOf(error);
  return {
    type: `urn:paidonce:problem:${error.code}`,
    title,
    status: status ?? 500,
    detail: error.message,
    code: error.code,
    instance: `urn:uuid:${requestId}`,
    ...(faults.length > 0 && { errors: faults }),
  };
}

function faultOf({ field, message }: CodedError): readonly Fault[] {
  return field === undefined ? [] : [{ field, message }];
}

/** Fastify's error handler. Only what is our own fault, or that of a part that is away, is worth a line with its cause. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const translated = translateError(error);
  const problem = problemOf(translated, request.id);
  request.problemCode = problem.code;
  if (problem.status >= 500)
    request.log.error({ err: translated.cause ?? translated, code: problem.code }, 'a request failed');
  const retryAfter = RETRY_AFTER[problem.code];
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  // Errors of the framework itself pass no hook that would have named them.
  reply.header('x-request-id', request.id).code(problem.status).type(PROBLEM_JSON).send(JSON.stringify(problem));
}
