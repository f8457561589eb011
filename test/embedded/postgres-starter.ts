import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../../embedded/postgres.ts';
import { createLog } from '../../process/log.ts';

/** A process that starts a server, tells of it, and waits to be killed. */
const [dataFolder = ''] = process.argv.slice(2);
const server = await startPostgres({ dataFolder, log: createLog('silent', 'starter'), environment: {} });
const { url, processId, adopted } = server;
process.stdout.write(`${JSON.stringify({ url, processId, adopted })}\n`);
await sleep(60_000);
