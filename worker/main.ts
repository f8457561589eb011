import { readConfig } from '../process/config.ts';
import { createLog } from '../process/log.ts';
import { stopOnSignal } from '../process/parts.ts';
import { startWorkerProcess } from './process.ts';

const config = readConfig(process.env);
const log = createLog(config.LOG_LEVEL, 'paidonce-worker');
const worker = await startWorkerProcess(config, log);
stopOnSignal(() => worker.stop(), log);
process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid })}\n`);
await worker.stopped;
