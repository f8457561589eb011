import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

const DESCRIPTION =
  `Charges each order exactly once. Create an order, hand its payment token to the customer's page, and call
pay with it as often as you like: one token is one attempt, and one order is at most one charge. Errors are
problem+json (RFC 9457) with a stable code.`.replaceAll('\n', ' ');

/** Describes the routes by their schemas: the document at /openapi.json, a page to read and try it at /docs. */
export function describeRoutes(app: FastifyInstance): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'paidonce',
        version: '1',
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'orders', description: 'Create, pay and read orders.' },
        { name: 'refunds', description: 'Give money back.' },
        { name: 'operators', description: 'Settle what nobody else could.' },
        { name: 'webhooks', description: 'Where gateways tell what became of charges.' },
        { name: 'fulfilment', description: 'What a paid order entitles to, and who is told of what.' },
        { name: 'health', description: 'For load balancers and measurements.' },
      ],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key with the role read, write or operate.' },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => withoutUnusedSchemas(jsonSchemaTransformObject(document)),
  });
  app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Served over plain http on one's own machine, the page would ask for its files by https and find none.
    transformStaticCSP: (header) => header.replace(/\s*upgrade-insecure-requests;?/, ''),
  });
}

/** The document as it is served: whatever the two plugins make of the routes that are registered. */
export function registerOpenApiRoute(app: FastifyInstance): void {
  app.get('/openapi.json', { config: { access: 'public' }, schema: { hide: true } }, async () => app.swagger());
}

type ApiDocument = ReturnType<typeof jsonSchemaTransformObject>;

/** The transform describes each schema twice, as input and as output, and most are used as one of the two only. */
function withoutUnusedSchemas(document: ApiDocument): ApiDocument {
  if (!('components' in document) || document.components.schemas === undefined) return document;
  const { schemas, ...components } = document.components;
  const used = new Set<string>();
  const open: unknown[] = [{ ...document, components }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [, name = ''] of JSON.stringify(next).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      open.push(schemas[name]);
    }
  }
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  return { ...document, components: { ...components, schemas: kept } } as ApiDocument;
}
