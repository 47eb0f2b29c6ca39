import { imageEditForm } from "../form-fields.ts";
import { inputOrContinued, interactionInputs, modelNameCharactersMax, requestFields } from "../request-fields.ts";
import { anyObject, call, candidates, events, form, json, text } from "./call-operation.ts";
import { type ErrorShape, errorReferences, errorsShaped } from "./error-responses.ts";
import { schemaOf } from "./field-schema.ts";
import { headersOf } from "./headers.ts";
import type { JsonSchema, Operation, Parameter, PathItem } from "./types.ts";

/** Generation calls other than chat completions, and stored responses. */
export function generationPaths(): Record<string, PathItem> {
  return {
    "/v1/messages": { post: createMessage },
    "/v1/messages/count_tokens": { post: countTokens },
    "/model/{id}/invoke": { post: invokeModel },
    "/model/{id}/invoke-with-response-stream": { post: streamModel },
    "/model/{id}/count-tokens": { post: countModelTokens },
    [`${vertexPath}:rawPredict`]: { post: rawPredict },
    [`${vertexPath}:streamRawPredict`]: { post: streamRawPredict },
    [`/v1${vertexPath}:rawPredict`]: { post: { ...rawPredict, operationId: "rawPredictBelowV1" } },
    [`/v1${vertexPath}:streamRawPredict`]: { post: { ...streamRawPredict, operationId: "streamRawPredictBelowV1" } },
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
    "/v1beta/interactions": { post: createInteraction },
    "/v1beta/interactions/{id}": { get: getInteraction, delete: deleteInteraction },
    "/v1beta/interactions/{id}/cancel": { post: cancelInteraction },
    "/v1/interactions": { post: { ...createInteraction, operationId: "createInteractionBelowV1" } },
    "/v1/interactions/{id}": {
      get: { ...getInteraction, operationId: "getInteractionBelowV1" },
      delete: { ...deleteInteraction, operationId: "deleteInteractionBelowV1" },
    },
    "/v1/interactions/{id}/cancel": { post: { ...cancelInteraction, operationId: "cancelInteractionBelowV1" } },
    "/v1/images/generations": { post: createImage },
    "/v1/images/edits": { post: editImage },
  };
}

const version: Parameter = {
  name: "anthropic-version",
  in: "header",
  required: false,
  description: [
    "A date such as `2023-06-01`. Required unless another vendor's `<vendor>-version` header with a date is sent. Both are",
    "forwarded, as are `anthropic-beta` and other Anthropic headers.",
  ].join("\n"),
  schema: text,
};
const beta: Parameter = {
  name: "beta",
  in: "query",
  description: "Forwarded to upstreams of the same dialect.",
  schema: { type: "boolean" },
};
const id: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The response id that the upstream returned.",
  schema: text,
};
const modelInPath: Parameter = {
  name: "model",
  in: "path",
  required: true,
  description: "The model's name. It may contain slashes.",
  schema: { type: "string", maxLength: modelNameCharactersMax },
};

function storedResponseCall(operationId: string, summary: string, parameters: readonly Parameter[] = []): Operation {
  return storedCall({ operationId, summary, parameters: [id, ...parameters], what: "response", errors: "openai" });
}

interface StoredCall {
  readonly operationId: string;
  readonly summary: string;
  /** The id, and more. */
  readonly parameters: readonly Parameter[];
  readonly what: string;
  readonly errors: ErrorShape;
}

function storedCall({ operationId, summary, parameters, what, errors }: StoredCall): Operation {
  return {
    operationId,
    summary,
    description: `The call goes to the provider account that created the ${what}. An id of another workspace returns 404.`,
    tags: ["generation"],
    parameters: [...parameters],
    responses: {
      "200": {
        description: "The upstream's response.",
        headers: headersOf("plain"),
        content:
          parameters.length === 1
            ? { "application/json": anyObject }
            : { "application/json": anyObject, "text/event-stream": events },
      },
      ...errorsShaped(errors, 400, 401, 402, 403, 404, 405, 429, 500, 502, 503, 504),
    },
  };
}

const hello = [{ role: "user", content: "Say hello." }];

const createMessage = call({
  operationId: "createMessage",
  summary: "Create a message (Anthropic Messages)",
  description: [
    "Errors have Anthropic's format, and limits are in `anthropic-ratelimit-*` headers. Requests to another vendor's model are",
    "translated; fields that could not be translated are listed in `x-sluice-warnings`.",
  ].join("\n"),
  parameters: [version, beta],
  errors: "anthropic",
  request: json(schemaOf(requestFields.messages), { model: "demo", max_tokens: 64, messages: hello }),
});

const countTokens = call({
  operationId: "countTokens",
  summary: "Count the input tokens of a message",
  description:
    "If no upstream of the model can count tokens, the count is estimated, with a warning in `x-sluice-warnings`.",
  parameters: [version, beta],
  errors: "anthropic",
  request: json(schemaOf(requestFields["count-tokens"]), {
    model: "demo",
    messages: hello,
  }),
  streams: false,
});

const { model: _model, stream: _stream, ...cloudFields } = requestFields.messages;
const idInPath: Parameter = { ...modelInPath, name: "id" };
const invokeRequest = json(schemaOf(cloudFields), {
  anthropic_version: "bedrock-2023-05-31",
  max_tokens: 64,
  messages: hello,
});

const invokeModel = call({
  operationId: "invokeModel",
  summary: "Create a message (Amazon Bedrock's InvokeModel)",
  description: [
    "Anthropic's Messages as Amazon Bedrock has them: the model is in the path, betas are in `anthropic_beta`. Send the key as a",
    "bearer token (`AWS_BEARER_TOKEN_BEDROCK`); signed requests are refused.",
  ].join("\n"),
  parameters: [idInPath],
  errors: "aws",
  request: invokeRequest,
  streams: false,
});

const streamModel = call({
  operationId: "invokeModelWithResponseStream",
  summary: "Stream a message (Amazon Bedrock's InvokeModel)",
  description: "The response is in Amazon's binary event stream. Errors within it are exceptions.",
  parameters: [idInPath],
  errors: "aws",
  request: invokeRequest,
  // Bytes have no schema.
  answers: { "application/vnd.amazon.eventstream": { schema: {} } },
});

const countModelTokens = call({
  operationId: "countModelTokens",
  summary: "Count the input tokens of a message (Amazon Bedrock)",
  parameters: [idInPath],
  errors: "aws",
  request: json(
    { type: "object", required: ["input"], properties: { input: { type: "object" } } },
    {
      input: { invokeModel: { body: "eyJtYXhfdG9rZW5zIjo2NCwibWVzc2FnZXMiOltdfQ==" } },
    },
  ),
  streams: false,
});

const vertexPath = "/projects/{project}/locations/{location}/publishers/anthropic/models/{model}";
const vertexParameters: readonly Parameter[] = [
  { name: "project", in: "path", required: true, description: "Ignored.", schema: text },
  { name: "location", in: "path", required: true, description: "Ignored.", schema: text },
  modelInPath,
];
const predictRequest = json(schemaOf(cloudFields), {
  anthropic_version: "vertex-2023-10-16",
  max_tokens: 64,
  messages: hello,
});

const rawPredict = call({
  operationId: "rawPredict",
  summary: "Create a message (Claude at Google Cloud)",
  description: "The model `count-tokens` counts the input tokens of a message for the `model` in the body.",
  parameters: vertexParameters,
  errors: "anthropic",
  request: predictRequest,
  streams: false,
});

const streamRawPredict = call({
  operationId: "streamRawPredict",
  summary: "Stream a message (Claude at Google Cloud)",
  parameters: vertexParameters,
  errors: "anthropic",
  request: predictRequest,
  answers: { "text/event-stream": events },
});

const createResponse = call({
  operationId: "createResponse",
  summary: "Create a response (OpenAI Responses)",
  description: [
    "A request with `previous_response_id` goes to the provider account that created that response. Upstreams that do not support",
    "the Responses API store nothing: their responses have `store: false`, and requests that need a stored response are refused.",
  ].join("\n"),
  request: json(
    { ...schemaOf(requestFields.responses), anyOf: inputOrContinued.map((name) => ({ required: [name] })) },
    { model: "demo", input: "Say hello." },
  ),
});

const openResponses: Operation = {
  operationId: "openResponses",
  summary: "Open a WebSocket for responses",
  description: [
    "OpenAI's WebSocket mode: after the upgrade each `response.create` frame is a call like `POST /v1/responses`, and each",
    "event is one text frame. Returns 426 if WebSockets are not available; use HTTP then.",
  ].join("\n"),
  tags: ["generation"],
  responses: {
    "101": { description: "The connection was upgraded to a WebSocket.", headers: headersOf("plain") },
    ...errorReferences(400, 401, 403, 405, 426, 500, 503),
  },
};

const compactResponse = call({
  operationId: "compactResponse",
  summary: "Compact a conversation",
  description: "Uses OpenAI's compaction. Models of other vendors write a summary instead.",
  request: json(schemaOf(requestFields["responses-compact"]), { model: "demo", input: "A long conversation." }),
  streams: false,
});

const countInputTokens = call({
  operationId: "countInputTokens",
  summary: "Count the input tokens of a response",
  description:
    "If no upstream of the model can count tokens, the count is estimated, with a warning in `x-sluice-warnings`.",
  request: json(schemaOf(requestFields["input-tokens"]), { model: "demo", input: "Say hello." }),
  streams: false,
});

const getResponse = storedResponseCall("getResponse", "Get a stored response", [
  {
    name: "stream",
    in: "query",
    description: "Stream the response's events, starting after `starting_after`.",
    schema: { type: "boolean" },
  },
]);
const deleteResponse = storedResponseCall("deleteResponse", "Delete a stored response");
const cancelResponse = storedResponseCall("cancelResponse", "Cancel a background response");
const listInputItems = storedResponseCall("listInputItems", "List the input items of a stored response");

const contents = json(schemaOf(requestFields.generate), {
  contents: [{ role: "user", parts: [{ text: "Say hello." }] }],
});

const generateContent = call({
  operationId: "generateContent",
  summary: "Generate content (Gemini)",
  description: "Errors have Google's format. The key may also be sent as `x-goog-api-key`.",
  parameters: [modelInPath],
  errors: "gemini",
  request: contents,
  streams: false,
});

const streamGenerateContent = call({
  operationId: "streamGenerateContent",
  summary: "Stream generated content (Gemini)",
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

const createInteraction = call({
  operationId: "createInteraction",
  summary: "Create an interaction (Gemini Interactions)",
  description: [
    "An upstream that has this API stores the interaction unless `store` is false, and continues it by",
    "`previous_interaction_id`. Requests to other upstreams are translated; fields that could not be translated are listed in",
    "`x-sluice-warnings`.",
  ].join("\n"),
  errors: "interactions",
  request: json(
    {
      ...schemaOf(requestFields.interactions),
      oneOf: [{ required: ["model"] }, { required: ["agent"] }],
      anyOf: interactionInputs.map((name) => ({ required: [name] })),
    },
    { model: "demo", input: "Say hello." },
  ),
});

const interactionId: Parameter = { ...id, description: "The interaction id that the upstream returned." };
const storedInteraction = (operationId: string, summary: string, more: readonly Parameter[] = []): Operation =>
  storedCall({
    operationId,
    summary,
    parameters: [interactionId, ...more],
    what: "interaction",
    errors: "interactions",
  });

const getInteraction = storedInteraction("getInteraction", "Get a stored interaction", [
  {
    name: "stream",
    in: "query",
    description: "Stream the interaction's events, starting after `last_event_id`.",
    schema: { type: "boolean" },
  },
]);
const deleteInteraction = storedInteraction("deleteInteraction", "Delete a stored interaction");
const cancelInteraction = storedInteraction("cancelInteraction", "Cancel a background interaction");

const countedEither: JsonSchema = {
  ...schemaOf(requestFields["gemini-count-tokens"]),
  oneOf: [{ required: ["contents"] }, { required: ["generateContentRequest"] }],
};

const geminiCountTokens = call({
  operationId: "geminiCountTokens",
  summary: "Count input tokens (Gemini)",
  description:
    "If no upstream of the model can count tokens, the count is estimated, with a warning in `x-sluice-warnings`.",
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
  summary: "Create an embedding (Gemini)",
  description: "Translated if the model's upstream uses another dialect.",
  parameters: [modelInPath],
  errors: "gemini",
  request: json(schemaOf(requestFields["embed-content"]), {
    content,
  }),
  streams: false,
});

const batchEmbedContents = call({
  operationId: "batchEmbedContents",
  summary: "Create several embeddings (Gemini)",
  parameters: [modelInPath],
  errors: "gemini",
  request: json(schemaOf(requestFields["batch-embed-contents"]), {
    requests: [{ content }],
  }),
  streams: false,
});

const createImage = call({
  operationId: "createImage",
  summary: "Generate images",
  request: json(schemaOf(requestFields.images), { model: "demo", prompt: "A small boat.", size: "1024x1024", n: 1 }),
});

const editImage = call({
  operationId: "editImage",
  summary: "Edit images",
  description: [
    "A form, or JSON with `images`. A form is buffered on disk, so the part that names the model may come last. It must not",
    "be compressed.",
  ].join("\n"),
  request: {
    ...form(imageEditForm),
    "application/json": { schema: schemaOf(requestFields["image-edits"]) },
  },
});
