import { entryFile } from './project-layout.ts';
import {
  type DatabasePart,
  type PartSettings,
  type ReadyProcess,
  startDatabase,
  startSimulator,
  startTemporal,
  type TemporalPart,
  withProgress,
} from './stack-parts.ts';

/** Everything that the application stands on. */
export interface Backing {
  readonly database: DatabasePart;
  readonly temporal: TemporalPart;
  readonly simulator: ReadyProcess;
}

interface TemporalChoice {
  readonly temporalProgram: string | null;
  readonly searchAttributes: Readonly<Record<string, string>>;
}

/** Starts the three side by side. When one fails, the others are stopped before its error is thrown. */
export async function startBacking(settings: PartSettings, choice: TemporalChoice): Promise<Backing> {
  const [database, temporal, simulator] = await Promise.allSettled([
    withProgress(settings, 'database', () => startDatabase(settings)),
    withProgress(settings, 'temporal', () => startTemporal(settings, choice.temporalProgram, choice.searchAttributes)),
    withProgress(settings, 'simulator', () => startSimulator(settings, entryFile('gateways/simulator/server/main'))),
  ]);
  if (database.status === 'fulfilled' && temporal.status === 'fulfilled' && simulator.status === 'fulfilled') {
    return { database: database.value, temporal: temporal.value, simulator: simulator.value };
  }
  if (simulator.status === 'fulfilled') await simulator.value.process.stop();
  if (temporal.status === 'fulfilled') await temporal.value.server?.stop();
  if (database.status === 'fulfilled') await database.value.server?.stop();
  throw [database, temporal, simulator].find((part) => part.status === 'rejected')?.reason;
}

/** The simulator first, Postgres last: whoever still writes finds what it writes to. */
export async function stopBacking({ database, temporal, simulator }: Backing): Promise<void> {
  await simulator.process.stop();
  await temporal.server?.stop();
  await database.server?.stop();
}
