import type { GatewayWatch } from '../../activities/gateway-watch.ts';

/** For tests in which nothing follows from what is heard of a gateway. */
export const UNWATCHED: GatewayWatch = { charged: () => Promise.resolve(), asked: () => Promise.resolve() };
