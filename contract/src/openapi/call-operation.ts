import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { JsonSchema, MediaType, Operation, Parameter } from "./types.ts";

export const text: JsonSchema = { type: "string" };

/** Vendors' own bodies: what is listed is what the gateway reads; everything else goes on as it came. */
export function body(required: readonly string[], properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", required: [...required], properties: { ...properties }, additionalProperties: true };
}

export const anyObject: MediaType = { schema: { type: "object", additionalProperties: true } };
export const events: MediaType = { schema: { type: "string", description: "Server-sent events of the same dialect." } };
export const model: JsonSchema = { type: "string", description: "A name from `GET /v1/models`." };
export const stream: JsonSchema = { type: "boolean", description: "True: the answer comes as server-sent events." };

interface CallDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly request: Record<string, MediaType>;
  readonly streams?: boolean;
}

export function call({ operationId, summary, description, parameters, request, streams }: CallDescription): Operation {
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: ["generation"],
    ...(parameters === undefined ? {} : { parameters: [...parameters] }),
    requestBody: { required: true, content: request },
    responses: {
      "200": {
        description: "The upstream's answer.",
        headers: headersOf("call"),
        content:
          streams === false
            ? { "application/json": anyObject }
            : { "application/json": anyObject, "text/event-stream": events },
      },
      ...errorReferences(400, 401, 402, 403, 404, 405, 408, 413, 415, 429, 500, 502, 503, 504),
    },
  };
}

export const json = (schema: JsonSchema, value: object): Record<string, MediaType> => ({
  "application/json": { schema, examples: { example: { summary: "An example", value } } },
});
