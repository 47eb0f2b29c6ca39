import { modelTypes } from "../model-endpoints.ts";
import { chunks } from "./call-operation.ts";
import { errorReferences, errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import type { MediaType, Operation, Parameter, PathItem } from "./types.ts";

/** Models, chat completions and usage. */
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
  description: "A date such as `2023-06-01`. If sent, the response has Anthropic's format.",
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
  summary: "List models",
  tags: ["models"],
  parameters: [
    {
      name: "type",
      in: "query",
      description: "Filter by model type.",
      schema: { type: "string", enum: [...modelTypes] },
    },
    anthropicVersion,
  ],
  responses: {
    "200": {
      description: "The models that the calling key may use, sorted by id.",
      headers: headersOf("plain"),
      content: eitherShape("ModelList", "AnthropicModelList"),
    },
    ...errorsShaped("any", 400, 401, 403, 405, 500),
  },
};

const getModel: Operation = {
  operationId: "getModel",
  summary: "Get a model",
  description: "Returns the same 404 for a model that does not exist and one that the calling key may not use.",
  tags: ["models"],
  parameters: [
    {
      name: "model",
      in: "path",
      required: true,
      description: "The model's name. Slashes may be plain or percent-encoded.",
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
  summary: "List models (Gemini)",
  description: "Also served at `GET /v1/models` to clients that send `x-goog-api-key` or `x-goog-api-client`.",
  tags: ["models"],
  parameters: [
    {
      name: "pageSize",
      in: "query",
      description: "Page size. Default: 50. Values above 1,000 are read as 1,000.",
      schema: { type: "integer", minimum: 0 },
    },
    {
      name: "pageToken",
      in: "query",
      description: "`nextPageToken` of the previous page.",
      schema: { type: "string" },
    },
  ],
  responses: {
    "200": {
      description: "One page of models, sorted by name.",
      headers: headersOf("plain"),
      content: { "application/json": { schema: { $ref: "#/components/schemas/GeminiModelList" } } },
    },
    ...errorsShaped("gemini", 400, 401, 403, 405, 500),
  },
};

const getGeminiModel: Operation = {
  ...getModel,
  operationId: "getGeminiModel",
  summary: "Get a model (Gemini)",
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
  summary: "Create a chat completion",
  description: [
    "If the upstream uses the same dialect, the request is forwarded with only the model name replaced and the response is",
    "returned unchanged. A failure before the first event may be retried on another deployment. After the first event, an",
    "error is sent as an event and the stream ends without `[DONE]`.",
  ].join("\n"),
  tags: ["generation"],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/ChatRequest" },
        examples: {
          whole: {
            summary: "Complete response",
            value: { model: "demo", messages: [{ role: "user", content: "Say hello." }] },
          },
          streaming: {
            summary: "Streaming",
            value: { model: "demo", stream: true, messages: [{ role: "user", content: "Say hello." }] },
          },
        },
      },
    },
  },
  responses: {
    "200": {
      description: "The upstream's response.",
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
  summary: "Get the calling key's usage and limits",
  description: "Default: the last 30 days. A call appears one or two seconds after it ends.",
  tags: ["usage"],
  parameters: [
    { name: "from", in: "query", description: "Unix seconds, inclusive.", schema: { type: "integer", minimum: 0 } },
    { name: "to", in: "query", description: "Unix seconds, exclusive.", schema: { type: "integer", minimum: 0 } },
    {
      name: "group_by",
      in: "query",
      description: "Default `model`. `tag`: by the values of the tag that `tag` names.",
      schema: { type: "string", enum: ["model", "tag"] },
    },
    { name: "tag", in: "query", description: "Name of a tag.", schema: { type: "string", maxLength: 128 } },
    {
      name: "tag_value",
      in: "query",
      description: "Only calls with this value of the tag; empty: only calls without the tag.",
      schema: { type: "string", maxLength: 128 },
    },
  ],
  responses: {
    "200": {
      description: "Usage by model or tag, totals, and the state of every limit on the key.",
      headers: headersOf("plain"),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Usage" } } },
    },
    ...errorReferences(400, 401, 403, 405, 500),
  },
};
