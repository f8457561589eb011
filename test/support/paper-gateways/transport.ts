import type { HttpResult } from '../../../gateways/http.ts';

/** One request as a paper adapter would put it on the wire. */
export interface PaperRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Stands where the network would be: keeps the requests and answers from a list of documented answers. Paper adapters exist
 * to show that the port fits gateways unlike the simulator; they never run.
 */
export interface PaperTransport {
  readonly requests: PaperRequest[];
  send(request: PaperRequest): Promise<HttpResult>;
}

export function createPaperTransport(answers: readonly HttpResult[]): PaperTransport {
  const requests: PaperRequest[] = [];
  return {
    requests,
    send(request) {
      requests.push(request);
      const answer = answers[requests.length - 1];
      return answer === undefined
        ? Promise.reject(new Error('No answer is written for this request'))
        : Promise.resolve(answer);
    },
  };
}

export const LOST: HttpResult = { kind: 'failed', sent: true, code: 'ECONNRESET', reason: 'reset' };
export const REFUSED: HttpResult = { kind: 'failed', sent: false, code: 'ECONNREFUSED', reason: 'refused' };

export function answered(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpResult {
  return { kind: 'answered', status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}
