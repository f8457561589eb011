import type { PurchaseRow } from '../../store/orders/standing.ts';
import { readPurchase } from '../../store/orders/standing.ts';
import type { Standing } from '../../workflows/contracts.ts';
import type { Tools } from '../tools.ts';

export function standingOf(row: PurchaseRow): Standing {
  return {
    orderStatus: row.orderStatus,
    attemptNumber: row.attemptNumber,
    attemptStatus: row.attempt?.status ?? null,
    needsReview: row.needsReview,
    cancelRequested: row.cancelRequested,
    provenBy: row.provenBy,
  };
}

export async function readStanding(tools: Tools, orderId: string): Promise<Standing> {
  return standingOf(await readPurchase(tools.database, orderId));
}
