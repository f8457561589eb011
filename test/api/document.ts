import type { FastifyInstance } from 'fastify';

export interface Operation {
  /** Such as `GET /v1/orders/{id}`. */
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly behindAKey: boolean;
  readonly description: OperationDescription;
}

export interface OperationDescription {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema?: object }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<Record<string, { description: string; content?: Record<string, { schema: object }> }>>;
}

export interface ApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDescription>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

/** The OpenAPI document as a caller gets it. */
export async function readDocument(app: FastifyInstance): Promise<{ document: ApiDocument; operations: Operation[] }> {
  const document = (await app.inject('/openapi.json')).json<ApiDocument>();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, description]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase() as 'GET' | 'POST',
      path,
      behindAKey: (description.security ?? []).length > 0,
      description,
    })),
  );
  return { document, operations };
}
