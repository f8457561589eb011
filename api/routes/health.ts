import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Database } from '../../store/database.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type Fault, InputError } from '../problems.ts';
import { problems } from './documentation.ts';

const alive = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });
const ready = z
  .object({ status: z.literal('ok'), database: z.literal('ok'), temporal: z.literal('ok') })
  .meta({ id: 'Readiness' });

/** For load balancers and measurements; open to all, because they tell nothing about any order. */
export function registerHealthRoutes(
  instance: FastifyInstance,
  { database, purchases, metrics }: ApiDependencies,
): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.get('/healthz', {
    config: { access: 'public' },
    schema: {
      operationId: 'health',
      summary: 'Is the process alive?',
      tags: ['health'],
      security: [],
      response: { 200: alive, ...problems() },
    },
    handler: async () => ({ status: 'ok' as const }),
  });

  app.get('/readyz', {
    config: { access: 'public' },
    schema: {
      operationId: 'readiness',
      summary: 'Can orders be taken and paid?',
      tags: ['health'],
      security: [],
      response: { 200: ready, ...problems('temporal_unavailable') },
    },
    handler: async () => {
      const [databaseIsThere, temporalIsThere] = await Promise.all([answersQueries(database), purchases.isReachable()]);
      const faults: Fault[] = [];
      if (!databaseIsThere) faults.push({ field: 'database', message: 'The database cannot be reached.' });
      if (!temporalIsThere) faults.push({ field: 'temporal', message: 'The workflow service cannot be reached.' });
      const [first, ...others] = faults;
      if (first !== undefined) {
        throw new InputError(databaseIsThere ? 'temporal_unavailable' : 'database_unavailable', [first, ...others]);
      }
      return { status: 'ok' as const, database: 'ok' as const, temporal: 'ok' as const };
    },
  });

  app.get('/metrics', {
    config: { access: 'public' },
    schema: {
      operationId: 'metrics',
      summary: 'Measurements in the format of Prometheus',
      tags: ['health'],
      security: [],
      response: {
        200: { description: 'Measurements.', content: { 'text/plain': { schema: z.string() } } },
        ...problems(),
      },
    },
    handler: async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()),
  });
}

async function answersQueries(database: Database): Promise<boolean> {
  try {
    await database.query('select 1');
    return true;
  } catch {
    return false;
  }
}
