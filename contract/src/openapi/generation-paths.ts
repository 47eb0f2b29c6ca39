import { imageEditForm } from "../form-fields.ts";
import { inputOrContinued, modelNameCharactersMax, requestFields } from "../request-fields.ts";
import { anyObject, call, candidates, events, form, json, text } from "./call-operation.ts";
import { errorReferences } from "./error-responses.ts";
import { schemaOf } from "./field-schema.ts";
import { headersOf } from "./headers.ts";
import type { JsonSchema, Operation, Parameter, PathItem } from "./types.ts";

/** Calls of models in other dialects than chat completions, and what upstreams keep of them. */
export function generationPaths(): Record<string, PathItem> {
  return {
    "/v1/messages": { post: createMessage },
    "/v1/messages/count_tokens": { post: countTokens },
    "/v1/responses": { get: openResponses, post: createResponse },
    "/v1/responses/compact": { post: compactResponse },
    "/v1/responses/input_tokens": { post: countInputTokens },
    "/v1/responses/{id}": { get: getResponse, delete: deleteResponse },
    "/v1/responses/{id}/cancel": { post: cancelResponse },
    "/v1/responses/{id}/input_items": { get: listInputItems },
    "/v1beta/models/{model}:generateContent": { post: generateContent },
    "/v1beta/models/{model}:streamGenerateContent": { post: streamGenerateContent },
    "/v1beta/models/{model}:countTokens": { post: geminiCountTokens },
    "/v1beta/models/{model}:embedContent": { post: embedContent },
    "/v1beta/models/{model}:batchEmbedContents": { post: batchEmbedContents },
    "/v1/models/{model}:embedContent": { post: { ...embedContent, operationId: "embedContentBelowV1" } },
    "/v1/models/{model}:batchEmbedContents": {
      post: { ...batchEmbedContents, operationId: "batchEmbedContentsBelowV1" },
    },
    "/v1/models/{model}:generateContent": { post: { ...generateContent, operationId: "generateContentBelowV1" } },
    "/v1/models/{model}:streamGenerateContent": {
      post: { ...streamGenerateContent, operationId: "streamGenerateContentBelowV1" },
    },
    "/v1/models/{model}:countTokens": { post: { ...geminiCountTokens, operationId: "geminiCountTokensBelowV1" } },
    "/v1/images/generations": { post: createImage },
    "/v1/images/edits": { post: editImage },
  };
}

const version: Parameter = {
  name: "anthropic-version",
  in: "header",
  required: false,
  description: [
    "A date such as `2023-06-01`; passed on as it is. Required, unless another vendor's `<vendor>-version` with a date stands in its",
    "place, which is passed on too. So are `anthropic-beta` and other headers of Anthropic's.",
  ].join("\n"),
  schema: text,
};
const beta: Parameter = {
  name: "beta",
  in: "query",
  description: "Passed on to upstreams of the same dialect.",
  schema: { type: "boolean" },
};
const id: Parameter = { name: "id", in: "path", required: true, description: "As the upstream gave it.", schema: text };
const modelInPath: Parameter = {
  name: "model",
  in: "path",
  required: true,
  description: "May hold slashes.",
  schema: { type: "string", maxLength: modelNameCharactersMax },
};

function kept(operationId: string, summary: string, parameters: readonly Parameter[] = []): Operation {
  return {
    operationId,
    summary,
    description: "Goes to the account that made the response. An id of another workspace looks like a missing one.",
    tags: ["generation"],
    parameters: [id, ...parameters],
    responses: {
      "200": {
        description: "The upstream's answer.",
        headers: headersOf("plain"),
        content:
          parameters.length === 0
            ? { "application/json": anyObject }
            : { "application/json": anyObject, "text/event-stream": events },
      },
      ...errorReferences(400, 401, 402, 403, 404, 405, 429, 500, 502, 503, 504),
    },
  };
}

const hello = [{ role: "user", content: "Say hello." }];

const createMessage = call({
  operationId: "createMessage",
  summary: "Generate an answer in Anthropic's Messages dialect, whole or streaming",
  description: [
    "Errors have Anthropic's shape, and limits are told in `anthropic-ratelimit-*` headers. A model of another vendor is",
    "asked in its own dialect; what could not be carried stands in `x-sluice-warnings`.",
  ].join("\n"),
  parameters: [version, beta],
  errors: "anthropic",
  request: json(schemaOf(requestFields.messages), { model: "demo", max_tokens: 64, messages: hello }),
});

const countTokens = call({
  operationId: "countTokens",
  summary: "How many input tokens a message would have",
  description: "Where no upstream of the model counts, the answer is an estimate and `x-sluice-warnings` says so.",
  parameters: [version, beta],
  errors: "anthropic",
  request: json(schemaOf(requestFields["count-tokens"]), {
    model: "demo",
    messages: hello,
  }),
  streams: false,
});

const createResponse = call({
  operationId: "createResponse",
  summary: "Generate an answer in OpenAI's Responses dialect, whole, streaming or in the background",
  description: [
    "`previous_response_id` goes to the account that made that response. A model whose upstream does not speak this",
    "dialect keeps nothing: its answers say `store: false`, and what would need a kept one is refused.",
  ].join("\n"),
  request: json(
    { ...schemaOf(requestFields.responses), anyOf: inputOrContinued.map((name) => ({ required: [name] })) },
    { model: "demo", input: "Say hello." },
  ),
});

const openResponses: Operation = {
  operationId: "openResponses",
  summary: "Responses over a WebSocket",
  description: [
    "OpenAI's WebSocket mode: an upgrade, then `response.create` frames, each a call like `POST /v1/responses`. Its events come",
    "one in a text frame. 426 where it cannot be had; the same can then be asked over HTTP.",
  ].join("\n"),
  tags: ["generation"],
  responses: {
    "101": { description: "The connection is a WebSocket.", headers: headersOf("plain") },
    ...errorReferences(400, 401, 403, 405, 426, 500, 503),
  },
};

const compactResponse = call({
  operationId: "compactResponse",
  summary: "Make a conversation shorter",
  description: "By OpenAI's own compaction, or, on models of other vendors, by a summary that the model writes.",
  request: json(schemaOf(requestFields["responses-compact"]), { model: "demo", input: "A long conversation." }),
  streams: false,
});

const countInputTokens = call({
  operationId: "countInputTokens",
  summary: "How many input tokens a response would have",
  description: "Where no upstream of the model counts, the answer is an estimate and `x-sluice-warnings` says so.",
  request: json(schemaOf(requestFields["input-tokens"]), { model: "demo", input: "Say hello." }),
  streams: false,
});

const getResponse = kept("getResponse", "A response that an upstream keeps", [
  {
    name: "stream",
    in: "query",
    description: "True: its events, from `starting_after` on.",
    schema: { type: "boolean" },
  },
]);
const deleteResponse = kept("deleteResponse", "Have an upstream forget a response");
const cancelResponse = kept("cancelResponse", "Stop a response that is made in the background");
const listInputItems = kept("listInputItems", "The input of a response that an upstream keeps");

const contents = json(schemaOf(requestFields.generate), {
  contents: [{ role: "user", parts: [{ text: "Say hello." }] }],
});

const generateContent = call({
  operationId: "generateContent",
  summary: "Generate an answer in Gemini's dialect",
  description: "Errors have Google's shape. The key may be sent as `x-goog-api-key` too.",
  parameters: [modelInPath],
  errors: "gemini",
  request: contents,
  streams: false,
});

const streamGenerateContent = call({
  operationId: "streamGenerateContent",
  summary: "The same as a stream",
  errors: "gemini",
  parameters: [
    modelInPath,
    {
      name: "alt",
      in: "query",
      required: true,
      description: "Must be `sse`.",
      schema: { type: "string", enum: ["sse"] },
    },
  ],
  request: contents,
  answers: { "text/event-stream": candidates },
});

const countedEither: JsonSchema = {
  ...schemaOf(requestFields["gemini-count-tokens"]),
  oneOf: [{ required: ["contents"] }, { required: ["generateContentRequest"] }],
};

const geminiCountTokens = call({
  operationId: "geminiCountTokens",
  summary: "How many input tokens a call in Gemini's dialect would have",
  description: "Where no upstream of the model counts, the answer is an estimate and `x-sluice-warnings` says so.",
  parameters: [modelInPath],
  errors: "gemini",
  request: json(countedEither, {
    contents: [{ role: "user", parts: [{ text: "Say hello." }] }],
  }),
  streams: false,
});

const content = { parts: [{ text: "hello" }] };

const embedContent = call({
  operationId: "embedContent",
  summary: "A text as a vector, in Gemini's dialect",
  description: "Translated where the model's upstream is asked in another way.",
  parameters: [modelInPath],
  errors: "gemini",
  request: json(schemaOf(requestFields["embed-content"]), {
    content,
  }),
  streams: false,
});

const batchEmbedContents = call({
  operationId: "batchEmbedContents",
  summary: "Texts as vectors, in Gemini's dialect",
  parameters: [modelInPath],
  errors: "gemini",
  request: json(schemaOf(requestFields["batch-embed-contents"]), {
    requests: [{ content }],
  }),
  streams: false,
});

const createImage = call({
  operationId: "createImage",
  summary: "Make pictures from words",
  request: json(schemaOf(requestFields.images), { model: "demo", prompt: "A small boat.", size: "1024x1024", n: 1 }),
});

const editImage = call({
  operationId: "editImage",
  summary: "Change pictures by words",
  description: [
    "As a form, or as JSON with `images`. A form is written to a spool as it arrives and sent from there; the part that",
    "names its model may be the last one. It must not be packed.",
  ].join("\n"),
  request: {
    ...form(imageEditForm),
    "application/json": { schema: schemaOf(requestFields["image-edits"]) },
  },
});
