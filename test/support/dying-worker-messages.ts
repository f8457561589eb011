/** Where a worker kills itself. */
export interface Death {
  readonly orderId: string;
  /** For a death in a step of a refund and not of its order. */
  readonly refundId?: string;
  readonly step: string;
  /** Which one: the number of an attempt, the count of any other step. */
  readonly nth: number;
  readonly moment: Moment;
  /** The merchant or refund reference of the request, for the moments inside an attempt or a refund. */
  readonly reference: string;
}

export type Moment = 'before_step' | 'after_claim' | 'before_request' | 'after_answer' | 'after_step';

/** What a worker is started with, as JSON in DYING_WORKER_PLAN. */
export interface Plan {
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly databaseUrl: string;
  readonly bundlePath: string;
  readonly gateway: { readonly name: string; readonly settings: unknown };
}

export type ToWorker = { readonly kind: 'work' } | { readonly kind: 'die'; readonly death: Death };

export type FromWorker =
  | { readonly kind: 'idle' | 'works' | 'knows' }
  /** A step has begun. */
  | { readonly kind: 'step'; readonly step: string; readonly orderId: string };
