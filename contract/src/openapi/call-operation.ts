import type { FormFields } from "../form-fields.ts";
import { type ErrorShape, errorsShaped } from "./error-responses.ts";
import { schemaOf } from "./field-schema.ts";
import { headersOf } from "./headers.ts";
import type { JsonSchema, MediaType, Operation, Parameter } from "./types.ts";

export const text: JsonSchema = { type: "string" };

export const anyObject: MediaType = { schema: { type: "object", additionalProperties: true } };

/** Server-sent events in the notation of OpenAPI 3.2 ("Sequential Media Types"). `data` is the schema of each event's data. */
function eventsOf(data: JsonSchema, description: string): MediaType {
  const event = {
    type: "object",
    required: ["data"],
    properties: {
      event: { type: "string", description: "The type of the event, if the dialect uses this field." },
      data: { type: "string", contentMediaType: "application/json", contentSchema: data },
    },
  };
  return { schema: { type: "array", items: event, description } };
}

/** Events that repeat their type in the data. */
export const events: MediaType = eventsOf(
  { type: "object", required: ["type"], properties: { type: { type: "string" } }, additionalProperties: true },
  "Server-sent events of the same dialect.",
);
/** Chunks of OpenAI's chat and text completions. */
export const chunks: MediaType = eventsOf(
  {
    type: "object",
    required: ["object", "choices"],
    properties: { object: { type: "string" }, choices: { type: "array", items: { type: "object" } } },
    additionalProperties: true,
  },
  "`data:` lines of chunks. The last line is `data: [DONE]`.",
);
/** Gemini's stream: each event is a complete response object. */
export const candidates: MediaType = eventsOf(
  {
    type: "object",
    properties: { candidates: { type: "array", items: { type: "object" } } },
    additionalProperties: true,
  },
  "`data:` lines, each with the next part of the response.",
);

interface CallDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly request: Record<string, MediaType>;
  readonly streams?: boolean;
  /** Media types of the response. Default: JSON, and server-sent events if the endpoint streams. */
  readonly answers?: Readonly<Record<string, MediaType>>;
  /** Default: OpenAI's. */
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
        description: "The upstream's response.",
        headers: headersOf("call", about.errors === "anthropic" ? "anthropic" : "openai"),
        content: about.answers ?? {
          "application/json": anyObject,
          ...(streams === false ? {} : { "text/event-stream": events }),
        },
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
