import { modelTypes } from "../model-endpoints.ts";
import { chunks } from "./call-operation.ts";
import { errorReferences, errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { MediaType, Operation, Parameter, PathItem } from "./types.ts";

/** The paths under /v1: everything that needs a key. */
export function modelPaths(): Record<string, PathItem> {
  return {
    "/v1/models": { get: listModels },
    "/v1/models/{model}": { get: getModel },
    "/v1beta/models": { get: listGeminiModels },
    "/v1beta/models/{model}": { get: getGeminiModel },
    "/v1/chat/completions": { post: createChatCompletion },
    "/v1/usage": { get: getUsage },
  };
}

const anthropicVersion: Parameter = {
  name: "anthropic-version",
  in: "header",
  description: "A date such as `2023-06-01`. When sent, the answer has Anthropic's shape.",
  schema: { type: "string" },
};

function eitherShape(openAi: string, anthropic: string): Record<string, MediaType> {
  return {
    "application/json": {
      schema: { anyOf: [{ $ref: `#/components/schemas/${openAi}` }, { $ref: `#/components/schemas/${anthropic}` }] },
    },
  };
}

const listModels: Operation = {
  operationId: "listModels",
  summary: "The models available to the calling key",
  tags: ["models"],
  parameters: [
    {
      name: "type",
      in: "query",
      description: "Only models of this type.",
      schema: { type: "string", enum: [...modelTypes] },
    },
    anthropicVersion,
  ],
  responses: {
    "200": {
      description: "The list, sorted by id.",
      headers: headersOf("plain"),
      content: eitherShape("ModelList", "AnthropicModelList"),
    },
    ...errorsShaped("any", 400, 401, 403, 405, 500),
  },
};

const getModel: Operation = {
  operationId: "getModel",
  summary: "Whether a model is available to the calling key",
  description: "A model that does not exist and one that is not granted give the same 404.",
  tags: ["models"],
  parameters: [
    {
      name: "model",
      in: "path",
      required: true,
      description: "The model's name. A name may hold slashes, plain or percent-encoded.",
      schema: { type: "string" },
    },
    anthropicVersion,
  ],
  responses: {
    "200": {
      description: "The model.",
      headers: headersOf("plain"),
      content: eitherShape("Model", "AnthropicModel"),
    },
    ...errorsShaped("any", 401, 403, 404, 405, 500),
  },
};

const listGeminiModels: Operation = {
  operationId: "listGeminiModels",
  summary: "The same list in Gemini's shape, in pages",
  description: "Also at `GET /v1/models` for a client that sends `x-goog-api-key` or `x-goog-api-client`.",
  tags: ["models"],
  parameters: [
    {
      name: "pageSize",
      in: "query",
      description: "At most 1,000 count; 50 by default.",
      schema: { type: "integer", minimum: 0 },
    },
    { name: "pageToken", in: "query", description: "As a page before gave it.", schema: { type: "string" } },
  ],
  responses: {
    "200": {
      description: "The page, sorted by name.",
      headers: headersOf("plain"),
      content: { "application/json": { schema: { $ref: "#/components/schemas/GeminiModelList" } } },
    },
    ...errorsShaped("gemini", 400, 401, 403, 405, 500),
  },
};

const getGeminiModel: Operation = {
  ...getModel,
  operationId: "getGeminiModel",
  summary: "Whether a model is available to the calling key, in Gemini's shape",
  parameters: (getModel.parameters ?? []).slice(0, 1),
  responses: {
    ...getModel.responses,
    "200": {
      description: "The model.",
      headers: headersOf("plain"),
      content: { "application/json": { schema: { $ref: "#/components/schemas/GeminiModel" } } },
    },
  },
};

const createChatCompletion: Operation = {
  operationId: "createChatCompletion",
  summary: "Generate a chat answer, whole or streaming",
  description: [
    "The body goes to the upstream as it came, with only the model name changed, and the answer comes back as the",
    "upstream wrote it. A failure before the first event may be tried again on another deployment. After the first event",
    "an error is an event in the stream, followed by its end without `[DONE]`.",
  ].join("\n"),
  tags: ["generation"],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/ChatRequest" },
        examples: {
          whole: {
            summary: "A whole answer",
            value: { model: "demo", messages: [{ role: "user", content: "Say hello." }] },
          },
          streaming: {
            summary: "A streaming answer",
            value: { model: "demo", stream: true, messages: [{ role: "user", content: "Say hello." }] },
          },
        },
      },
    },
  },
  responses: {
    "200": {
      description: "The upstream's answer.",
      headers: headersOf("call"),
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/ChatAnswer" } },
        "text/event-stream": chunks,
      },
    },
    ...errorReferences(400, 401, 402, 403, 404, 405, 408, 413, 415, 429, 500, 502, 503, 504),
  },
};

const getUsage: Operation = {
  operationId: "getUsage",
  summary: "The calling key's own usage and limits",
  description: "Sums over the last 30 days, unless told otherwise. Entries appear within a second or two of their end.",
  tags: ["usage"],
  parameters: [
    { name: "from", in: "query", description: "Unix seconds, inclusive.", schema: { type: "integer", minimum: 0 } },
    { name: "to", in: "query", description: "Unix seconds, exclusive.", schema: { type: "integer", minimum: 0 } },
  ],
  responses: {
    "200": {
      description: "Sums by model, totals, and how every limit over the key stands.",
      headers: headersOf("plain"),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Usage" } } },
    },
    ...errorReferences(400, 401, 403, 405, 500),
  },
};
