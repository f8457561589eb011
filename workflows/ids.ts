/** One order, one workflow, the same id: what makes Temporal refuse a second start. */
export function purchaseWorkflowId(orderId: string): string {
  return orderId;
}

/** One recovery of a gateway at a time, whichever worker hears it first. */
export function recoverWorkflowId(gateway: string): string {
  return `recover:${gateway}`;
}

/** One refund, one workflow. */
export function refundWorkflowId(refundId: string): string {
  return `refund:${refundId}`;
}

/** Applies one stored event of a gateway where no purchase workflow runs. */
export function applyEventWorkflowId(inboxEventId: string): string {
  return `event:${inboxEventId}`;
}

/** The queue that all workers poll and all starts name. */
export const TASK_QUEUE = 'paidonce';

/** The schedule that closes orders nobody ever tried to pay. */
export const EXPIRY_SCHEDULE_ID = 'expire-unpaid-orders';

/** The schedule that looks for orders that nobody works on. */
export const SWEEP_SCHEDULE_ID = 'sweep';
