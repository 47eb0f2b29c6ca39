import type { FormFields } from "../form-fields.ts";
import { type ErrorShape, errorsShaped } from "./error-responses.ts";
import { schemaOf } from "./field-schema.ts";
import { headersOf } from "./headers.ts";
import type { JsonSchema, MediaType, Operation, Parameter } from "./types.ts";

export const text: JsonSchema = { type: "string" };

export const anyObject: MediaType = { schema: { type: "object", additionalProperties: true } };
export const events: MediaType = { schema: { type: "string", description: "Server-sent events of the same dialect." } };

interface CallDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly request: Record<string, MediaType>;
  readonly streams?: boolean;
  /** OpenAI's unless told. */
  readonly errors?: ErrorShape;
}

export function call(about: CallDescription): Operation {
  const { operationId, summary, description, parameters, request, streams } = about;
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
        headers: headersOf("call", about.errors === "anthropic" ? "anthropic" : "openai"),
        content:
          streams === false
            ? { "application/json": anyObject }
            : { "application/json": anyObject, "text/event-stream": events },
      },
      ...errorsShaped(about.errors ?? "openai", 400, 401, 402, 403, 404, 405, 408, 413, 415, 429, 500, 502, 503, 504),
    },
  };
}

export const form = (fields: FormFields): Record<string, MediaType> => ({
  "multipart/form-data": { schema: schemaOf(fields) },
});

export const json = (schema: JsonSchema, value: object): Record<string, MediaType> => ({
  "application/json": { schema, examples: { example: { summary: "An example", value } } },
});
