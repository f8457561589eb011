import type { Socket } from 'node:net';
import { v7 as newId } from 'uuid';
import { CodedError } from '../domain/errors.ts';
import { PROBLEM_JSON, problemOf } from './problems.ts';

/** Answers what Node's parser could not read as HTTP: there is no request yet, only a connection, which is closed afterwards. */
export function answerUnreadableRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // The other side has gone; there is nobody to answer.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(problemOf(new CodedError('request_malformed'), newId()));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: ${PROBLEM_JSON}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}
