import { type Database, inTransaction, type Queryable } from '../database.ts';
import { notifyOrderChanged } from '../orders/order-changes.ts';
import { insertOutboxEvent } from './outbox-events.ts';

/** What a paid order entitles to, once per kind. Granted by the database itself when the order becomes paid. */
export interface Entitlement {
  readonly kind: string;
  readonly grantedAt: string;
  readonly redeemedBy: string | null;
  readonly redeemedAt: string | null;
  readonly revokedReason: string | null;
  readonly revokedAt: string | null;
}

interface EntitlementRow {
  readonly kind: string;
  readonly granted_at: string;
  readonly redeemed_by: string | null;
  readonly redeemed_at: string | null;
  readonly revoked_reason: string | null;
  readonly revoked_at: string | null;
}

const COLUMNS = 'kind, granted_at, redeemed_by, redeemed_at, revoked_reason, revoked_at';

export async function listEntitlements(database: Queryable, orderId: string): Promise<Entitlement[]> {
  const { rows } = await database.query<EntitlementRow>(
    `select ${COLUMNS} from entitlements where order_id = $1 order by kind`,
    [orderId],
  );
  return rows.map(readEntitlement);
}

/** Which entitlement, and who acts on it. */
export interface EntitlementKey {
  readonly orderId: string;
  readonly kind: string;
}

/**
 * Uses an entitlement up, by compare-and-set: of many at once one finds it unused. Returns how it stands now, whoever used it;
 * the caller sees by `redeemedBy` whether that was himself, now or in a call whose answer was lost. Undefined when there is none.
 */
export async function redeemEntitlement(
  database: Queryable,
  { orderId, kind }: EntitlementKey,
  { redeemer, now }: { readonly redeemer: string; readonly now: string },
): Promise<Entitlement | undefined> {
  await database.query(
    `update entitlements set redeemed_by = $3, redeemed_at = $4
     where order_id = $1 and kind = $2 and redeemed_at is null and revoked_at is null`,
    [orderId, kind, redeemer, now],
  );
  return findEntitlement(database, { orderId, kind });
}

/** Takes an entitlement back, with a reason and with news of it in one commit. The first reason stays. Undefined when there is none. */
export async function revokeEntitlement(
  database: Database,
  { orderId, kind }: EntitlementKey,
  { reason, now }: { readonly reason: string; readonly now: string },
): Promise<Entitlement | undefined> {
  return inTransaction(database, async (transaction) => {
    const { rowCount } = await transaction.query(
      `update entitlements set revoked_reason = $3, revoked_at = $4
       where order_id = $1 and kind = $2 and revoked_at is null`,
      [orderId, kind, reason, now],
    );
    const entitlement = await findEntitlement(transaction, { orderId, kind });
    if (rowCount === 1 && entitlement !== undefined) {
      const details = { entitlement: { kind, reason, redeemed: entitlement.redeemedAt !== null } };
      await insertOutboxEvent(transaction, {
        ...{ orderId, attemptNumber: null, kind: 'entitlement.revoked', subjectId: kind },
        ...{ details, now },
      });
      await notifyOrderChanged(transaction, orderId);
    }
    return entitlement;
  });
}

async function findEntitlement(database: Queryable, key: EntitlementKey): Promise<Entitlement | undefined> {
  const { rows } = await database.query<EntitlementRow>(
    `select ${COLUMNS} from entitlements where order_id = $1 and kind = $2`,
    [key.orderId, key.kind],
  );
  return rows[0] === undefined ? undefined : readEntitlement(rows[0]);
}

function readEntitlement(row: EntitlementRow): Entitlement {
  return {
    kind: row.kind,
    grantedAt: row.granted_at,
    redeemedBy: row.redeemed_by,
    redeemedAt: row.redeemed_at,
    revokedReason: row.revoked_reason,
    revokedAt: row.revoked_at,
  };
}
