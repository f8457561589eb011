import type { z } from 'zod';
import type { Delivery } from '../store/deliveries/deliveries.ts';
import type { Entitlement } from '../store/deliveries/entitlements.ts';
import type { OutboxEvent } from '../store/deliveries/outbox-events.ts';
import type { WebhookEndpoint } from '../store/deliveries/webhook-endpoints.ts';
import type * as schemas from './fulfilment-schemas.ts';

export function describeEntitlement(entitlement: Entitlement): z.infer<typeof schemas.entitlement> {
  return {
    kind: entitlement.kind,
    granted_at: entitlement.grantedAt,
    redeemed_by: entitlement.redeemedBy,
    redeemed_at: entitlement.redeemedAt,
    revoked_reason: entitlement.revokedReason,
    revoked_at: entitlement.revokedAt,
  };
}

export function describeEvent(event: OutboxEvent): z.infer<typeof schemas.eventList>['events'][number] {
  return {
    id: event.id,
    sequence: event.sequence,
    kind: event.kind,
    data: event.payload,
    created_at: event.createdAt,
  };
}

export function describeEndpoint(endpoint: WebhookEndpoint): z.infer<typeof schemas.endpoint> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    event_kinds: endpoint.eventKinds === null ? null : [...endpoint.eventKinds],
    secret_generation: endpoint.secretGeneration,
    previous_secret_until: endpoint.previousSecretUntil,
    created_at: endpoint.createdAt,
    disabled_at: endpoint.disabledAt,
    disabled_reason: endpoint.disabledReason,
  };
}

export function describeDelivery(delivery: Delivery): z.infer<typeof schemas.deliveryList>['deliveries'][number] {
  return {
    event_id: delivery.eventId,
    order_id: delivery.orderId,
    sequence: delivery.sequence,
    kind: delivery.kind,
    status: delivery.status,
    tries: delivery.tries,
    next_try_at: delivery.nextTryAt,
    last_try_at: delivery.lastTryAt,
    last_answer: delivery.lastAnswer,
    delivered_at: delivery.deliveredAt,
    parked_reason: delivery.parkedReason,
    created_at: delivery.createdAt,
  };
}
