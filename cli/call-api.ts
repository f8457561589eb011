import { request } from 'undici';
import { CodedError, ERRORS, type ErrorCode } from '../domain/errors.ts';
import { findApi } from './running-stack.ts';

export interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Of the running stack, unless variables name another API. */
  readonly dataFolder?: string | undefined;
}

/** Asks the API that `findApi` finds. @throws CodedError with the code and the words of the API's answer when it refuses */
export async function callApi({ method = 'GET', path, body, dataFolder }: ApiCall): Promise<unknown> {
  const { address, apiKey } = findApi(process.env, dataFolder);
  const response = await request(`${address}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.body.json()) as { readonly code?: string; readonly detail?: string };
  if (response.statusCode < 400) return answer;
  const code = answer.code !== undefined && answer.code in ERRORS ? (answer.code as ErrorCode) : 'internal';
  throw new CodedError(code, answer.detail);
}
