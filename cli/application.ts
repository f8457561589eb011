import { serveApi } from '../api/process.ts';
import { readConfig } from '../process/config.ts';
import { createLog } from '../process/log.ts';
import { stopOnSignal } from '../process/parts.ts';
import { ensureApiKey } from '../store/api-keys.ts';
import { findMigrationsFolder, migrate } from '../store/migrations.ts';
import { startWorkerProcess } from '../worker/process.ts';
import { gatewayFacts } from './gateway-facts.ts';

/**
 * The all-in-one process of the embedded stack: API and worker together, so that a start can hand its first task to the
 * worker beside it without a trip through Temporal's queue. Migrates its database itself, because nobody else does here.
 */
const config = readConfig(process.env);
const log = createLog(config.LOG_LEVEL, 'paidonce');
await migrate(config.DATABASE_URL, findMigrationsFolder());
const worker = await startWorkerProcess(config, log);
const developmentKey = process.env.DEVELOPMENT_API_KEY;
if (developmentKey !== undefined) await ensureApiKey(worker.database, { key: developmentKey, name: 'development' });
const { database, client } = worker;
const api = await serveApi({ config, log, gateways: gatewayFacts(worker.gateways), database, client, eager: true });

stopOnSignal(async () => {
  await api.stop();
  await worker.stop();
}, log);
process.stdout.write(`${JSON.stringify({ address: api.address, pid: process.pid })}\n`);
await worker.stopped;
