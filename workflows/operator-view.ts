import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { OrderStatus } from '../domain/order.ts';
import type { Standing } from './contracts.ts';
import { NEEDS_REVIEW, ORDER_STATUS } from './search-attributes.ts';

/** What an operator reads in the Temporal UI while the order is open. */
export interface OperatorView {
  /** Says what the order waits for, in words, and keeps the search attributes true. */
  show(standing: Standing, waitsFor: string): void;
  waitsFor(): string;
}

/**
 * Search attributes are written only when they change: each write costs an event and a visibility row. The words cost
 * nothing, the UI asks for them when somebody looks.
 */
export function createOperatorView(initial: OrderStatus): OperatorView {
  let shownStatus: OrderStatus = initial;
  let shownReview = false;
  let words = 'Starting.';
  return {
    show(standing, waitsFor) {
      words = waitsFor;
      setCurrentDetails(describe(standing, waitsFor));
      if (standing.orderStatus === shownStatus && standing.needsReview === shownReview) return;
      shownStatus = standing.orderStatus;
      shownReview = standing.needsReview;
      upsertSearchAttributes([
        { key: ORDER_STATUS, value: shownStatus },
        { key: NEEDS_REVIEW, value: shownReview },
      ]);
    },
    waitsFor: () => words,
  };
}

function describe(standing: Standing, waitsFor: string): string {
  const attempt = standing.attemptStatus === null ? 'none' : `${standing.attemptNumber}, ${standing.attemptStatus}`;
  return [
    `**${waitsFor}**`,
    '',
    `- order: ${standing.orderStatus}`,
    `- attempt: ${attempt}`,
    `- needs review: ${standing.needsReview ? 'yes' : 'no'}`,
  ].join('\n');
}
