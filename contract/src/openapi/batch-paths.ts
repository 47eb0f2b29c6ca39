import { type ErrorShape, errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter } from "./page-parameters.ts";
import type { JsonSchema, Operation, Parameter, PathItem } from "./types.ts";

/** Batches in the APIs of three vendors. */
export function batchPaths(): Record<string, PathItem> {
  return {
    "/v1/batches": { post: createBatch, get: listBatches },
    "/v1/batches/{batch_id}": { get: getBatch, delete: deleteGoogleBatch, post: cancelGoogleBatch },
    "/v1/batches/{batch_id}/cancel": { post: cancelBatch },
    "/v1beta/batches": { get: listGeminiBatches },
    "/v1beta/batches/{batch_id}": { get: getGeminiBatch, delete: deleteGeminiBatch },
    "/v1beta/batches/{batch_id}:cancel": { post: cancelGeminiBatch },
    "/v1beta/models/{model}:batchGenerateContent": { post: createGeminiBatch },
    "/v1beta/models/{model}:asyncBatchEmbedContent": { post: createGeminiEmbeddings },
    "/v1/messages/batches": { post: createMessageBatch, get: listMessageBatches },
    "/v1/messages/batches/{message_batch_id}": { get: getMessageBatch, delete: deleteMessageBatch },
    "/v1/messages/batches/{message_batch_id}/cancel": { post: cancelMessageBatch },
    "/v1/messages/batches/{message_batch_id}/results": { get: getMessageBatchResults },
  };
}

const text: JsonSchema = { type: "string" };
const time: JsonSchema = { type: ["string", "null"], format: "date-time" };
const count: JsonSchema = { type: "integer", minimum: 0 };

interface Call extends Pick<Operation, "operationId" | "summary"> {
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: JsonSchema;
  readonly answer: JsonSchema | "lines";
  readonly errors: ErrorShape;
  readonly more?: readonly number[];
}

function call({ body, answer, errors, more = [], parameters, ...about }: Call): Operation {
  const content =
    answer === "lines" ? { "application/x-jsonl": { schema: text } } : { "application/json": { schema: answer } };
  const statuses = [400, 401, 402, 403, 404, 405, 429, 500, 503, ...more];
  return {
    ...about,
    tags: ["batches"],
    ...(parameters === undefined ? {} : { parameters: [...parameters] }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
    responses: {
      "200": {
        description: answer === "lines" ? "One result per line." : "The batch.",
        headers: headersOf("plain"),
        content,
      },
      ...errorsShaped(errors, ...statuses.sort()),
    },
  };
}

function object(
  properties: Record<string, JsonSchema>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: "object", required: [...required], properties, additionalProperties: true };
}

const batchId = idParameter("batch_id", "`batch_…`. A batch of another workspace returns 404.");
const seconds: JsonSchema = { type: ["integer", "null"], description: "Unix seconds." };
const fileId: JsonSchema = { type: ["string", "null"] };

const batch = object({
  id: text,
  object: { type: "string", enum: ["batch"] },
  endpoint: text,
  status: {
    type: "string",
    enum: ["validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"],
  },
  errors: {
    type: ["object", "null"],
    description: "Why the batch was refused, with the numbers of the lines.",
    additionalProperties: true,
  },
  input_file_id: fileId,
  output_file_id: fileId,
  error_file_id: fileId,
  completion_window: { type: "string", enum: ["24h"] },
  created_at: seconds,
  expires_at: seconds,
  request_counts: object({ total: count, completed: count, failed: count }),
  metadata: { type: ["object", "null"], additionalProperties: { type: "string" } },
});

const createBatch = call({
  operationId: "createBatch",
  summary: "Create a batch",
  description:
    "Runs the requests of a file (`purpose: batch`) later, with every model of the key. One bad line refuses the whole batch: it is `failed`, and `errors` lists the lines.",
  body: object(
    {
      input_file_id: text,
      endpoint: {
        type: "string",
        enum: [
          ...["/v1/responses", "/v1/chat/completions", "/v1/embeddings", "/v1/completions", "/v1/moderations"],
          "/v1/images/generations",
          "/v1/images/edits",
        ],
      },
      completion_window: { type: "string", enum: ["24h"] },
      metadata: { type: "object", additionalProperties: { type: "string" } },
      output_expires_after: object({
        anchor: { type: "string", enum: ["created_at"] },
        seconds: { type: "integer", minimum: 3_600, maximum: 2_592_000 },
      }),
    },
    ["input_file_id", "endpoint", "completion_window"],
  ),
  answer: batch,
  errors: "openai",
  more: [408, 413, 415],
});

const listBatches = call({
  operationId: "listBatches",
  summary: "List batches, newest first",
  parameters: [
    { name: "limit", in: "query", description: "Default: 20.", schema: { type: "integer", minimum: 1, maximum: 100 } },
    { name: "after", in: "query", description: "The last batch of the page before.", schema: text },
  ],
  answer: object({
    object: { type: "string", enum: ["list"] },
    data: { type: "array", items: batch },
    has_more: { type: "boolean" },
    first_id: fileId,
    last_id: fileId,
  }),
  errors: "openai",
});

const getBatch = call({
  operationId: "getBatch",
  summary: "Get a batch",
  parameters: [batchId],
  answer: batch,
  errors: "openai",
});

const cancelBatch = call({
  operationId: "cancelBatch",
  summary: "Cancel a batch",
  description: "No further request begins. Requests that have begun are finished and charged.",
  parameters: [batchId],
  answer: batch,
  errors: "openai",
});

const geminiId = idParameter("batch_id", "The id behind `batches/`. A batch of another workspace returns 404.");
const geminiModel = idParameter("model", "The model of every request.");

const geminiOperation = object(
  { name: text, done: { type: "boolean" }, metadata: { type: "object", additionalProperties: true } },
  ["name", "metadata"],
);

const geminiCreation = {
  parameters: [geminiModel],
  body: object({
    batch: object(
      {
        displayName: text,
        inputConfig: {
          type: "object",
          description: "`fileName`, or `requests.requests` with `{request, metadata: {key}}` each.",
          additionalProperties: true,
        },
      },
      ["inputConfig"],
    ),
  }),
  answer: geminiOperation,
  errors: "gemini",
  more: [408, 413, 415],
} as const;

const createGeminiBatch = call({
  operationId: "createGeminiBatch",
  summary: "Create a batch in Gemini's format",
  description:
    "Runs the requests later, with any model of the key. A request that is refused is an error among the results.",
  ...geminiCreation,
});

const createGeminiEmbeddings = call({
  operationId: "createGeminiEmbeddingsBatch",
  summary: "Create a batch of embeddings in Gemini's format",
  ...geminiCreation,
});

const listGeminiBatches = call({
  operationId: "listGeminiBatches",
  summary: "List batches in Gemini's format, newest first",
  parameters: [
    { name: "pageSize", in: "query", description: "Default: 100.", schema: { type: "integer", minimum: 0 } },
    { name: "pageToken", in: "query", description: "`nextPageToken` of the previous page.", schema: text },
  ],
  answer: object({ operations: { type: "array", items: geminiOperation }, nextPageToken: text }, ["operations"]),
  errors: "gemini",
});

const getGeminiBatch = call({
  operationId: "getGeminiBatch",
  summary: "Get a batch in Gemini's format, with its answers once it has ended",
  parameters: [geminiId],
  answer: geminiOperation,
  errors: "gemini",
});

const deletion = {
  summary: "Delete an ended batch in Gemini's format",
  parameters: [geminiId],
  answer: object({}),
};
const cancellation = { ...deletion, summary: "Cancel a batch in Gemini's format" };
const deleteGeminiBatch = call({ ...deletion, operationId: "deleteGeminiBatch", errors: "gemini" });
const cancelGeminiBatch = call({ ...cancellation, operationId: "cancelGeminiBatch", errors: "gemini" });

/** Google's SDK sends them to OpenAI's path. */
const deleteGoogleBatch = call({ ...deletion, operationId: "deleteBatchOfGoogle", errors: "any" });
const cancelGoogleBatch = call({
  ...cancellation,
  operationId: "cancelBatchOfGoogle",
  description: "The id ends with `:cancel`.",
  errors: "any",
});

const messageBatchId = idParameter("message_batch_id", "`msgbatch_…`. A batch of another workspace returns 404.");

const messageBatch = object({
  id: text,
  type: { type: "string", enum: ["message_batch"] },
  processing_status: { type: "string", enum: ["in_progress", "canceling", "ended"] },
  request_counts: object({ processing: count, succeeded: count, errored: count, canceled: count, expired: count }),
  created_at: time,
  expires_at: time,
  ended_at: time,
  cancel_initiated_at: time,
  archived_at: time,
  results_url: { type: ["string", "null"] },
});

const createMessageBatch = call({
  operationId: "createMessageBatch",
  summary: "Create a batch of messages",
  description:
    "Runs up to 100,000 requests of `/v1/messages` later, in any order, with every model of the key. A request that is refused is an error among the results.",
  body: object({
    requests: {
      type: "array",
      items: object({
        custom_id: { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" },
        params: { type: "object", description: "The body of a request, without `stream`.", additionalProperties: true },
      }),
    },
  }),
  answer: messageBatch,
  errors: "anthropic",
  more: [408, 413, 415],
});

const listMessageBatches = call({
  operationId: "listMessageBatches",
  summary: "List batches of messages, newest first",
  parameters: [
    {
      name: "limit",
      in: "query",
      description: "Default: 20.",
      schema: { type: "integer", minimum: 1, maximum: 1_000 },
    },
    { name: "after_id", in: "query", description: "The last batch of the page before.", schema: text },
    { name: "before_id", in: "query", description: "The first batch of the page after.", schema: text },
  ],
  answer: object({
    data: { type: "array", items: messageBatch },
    has_more: { type: "boolean" },
    first_id: { type: ["string", "null"] },
    last_id: { type: ["string", "null"] },
  }),
  errors: "anthropic",
});

const getMessageBatch = call({
  operationId: "getMessageBatch",
  summary: "Get a batch of messages",
  parameters: [messageBatchId],
  answer: messageBatch,
  errors: "anthropic",
});

const deleteMessageBatch = call({
  operationId: "deleteMessageBatch",
  summary: "Delete an ended batch of messages and its results",
  parameters: [messageBatchId],
  answer: object({ id: text, type: { type: "string", enum: ["message_batch_deleted"] } }),
  errors: "anthropic",
});

const cancelMessageBatch = call({
  operationId: "cancelMessageBatch",
  summary: "Cancel a batch of messages",
  description: "No further request begins. Requests that have begun are finished and charged.",
  parameters: [messageBatchId],
  answer: messageBatch,
  errors: "anthropic",
});

const getMessageBatchResults = call({
  operationId: "getMessageBatchResults",
  summary: "Get the results of an ended batch of messages",
  parameters: [messageBatchId],
  answer: "lines",
  errors: "anthropic",
});
