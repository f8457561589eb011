import type { Chaos } from './chaos.ts';
import type { SharedDatabase } from './database.ts';
import type { ModelGateway } from './gateway.ts';
import type { Witness } from './judge.ts';
import type { Product } from './product.ts';
import type { SimulatedProcess } from './runtime/virtual.ts';
import type { Temporal } from './temporal.ts';

/** Everything that is there in one seed's world. */
export interface World {
  readonly product: Product;
  readonly chaos: Chaos;
  readonly database: SharedDatabase;
  readonly gateways: readonly ModelGateway[];
  readonly temporal: Temporal;
  readonly witness: Witness;
  readonly api: SimulatedProcess;
  readonly counts: { crashes: number; happenings: number };
  faulty: boolean;
}
