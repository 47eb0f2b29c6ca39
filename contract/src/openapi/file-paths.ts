import { errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter } from "./page-parameters.ts";
import type { JsonSchema, Operation, Parameter, PathItem, Response } from "./types.ts";

/** Files in the shapes of three vendors. */
export function filePaths(): Record<string, PathItem> {
  return {
    "/v1/files": { post: createFile, get: listFiles },
    "/v1/files/{file_id}": { get: getFile, delete: deleteFile },
    "/v1/files/{file_id}/content": { get: getContent },
    "/v1/uploads": { post: createUpload },
    "/v1/uploads/{upload_id}/parts": { post: addPart },
    "/v1/uploads/{upload_id}/complete": { post: completeUpload },
    "/v1/uploads/{upload_id}/cancel": { post: cancelUpload },
    "/upload/v1beta/files": { post: geminiUpload("uploadGeminiFile") },
    "/upload/v1/files": { post: geminiUpload("uploadGeminiFileV1") },
    "/v1beta/files": { get: listGeminiFiles },
    "/v1beta/files/{file_id}": { get: getGeminiFile, delete: deleteGeminiFile },
  };
}

const fileId = idParameter("file_id", "`file-…` or `file_…`. An id of another workspace returns 404.");
const uploadId = idParameter("upload_id", "`upload_…`. An id of another workspace returns 404.");
const geminiFileId = idParameter(
  "file_id",
  "The part of the name after `files/`. With `:download`, the bytes are returned.",
);

interface Call extends Pick<Operation, "operationId" | "summary"> {
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: NonNullable<Operation["requestBody"]>;
  readonly good: Response;
  readonly errors: readonly number[];
}

function call({ good, errors, ...about }: Call): Operation {
  return {
    ...about,
    tags: ["files"],
    responses: { "200": good, ...errorsShaped("any", 401, 403, 405, ...errors, 500) },
  };
}

function answer(description: string, ...schemas: readonly string[]): Response {
  const references = schemas.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const [only] = references;
  const schema: JsonSchema = references.length === 1 && only !== undefined ? only : { anyOf: references };
  return { description, headers: headersOf("plain"), content: { "application/json": { schema } } };
}

function query(name: string, description: string, schema: JsonSchema): Parameter {
  return { name, in: "query", description, schema };
}

const createFile = call({
  operationId: "createFile",
  summary: "Upload a file",
  description: [
    "A form with one file of at most 512 MB. Every key of the workspace can use it, in every dialect.",
    "With the header `anthropic-version`, the form and the answers at `/v1/files` are Anthropic's: `purpose` and",
    "`expires_after` are absent, `expires_in_seconds` is the lifetime. With Google's headers, answers are Gemini's.",
  ].join("\n"),
  requestBody: {
    required: true,
    content: { "multipart/form-data": { schema: { $ref: "#/components/schemas/FileUpload" } } },
  },
  good: answer("The file, in the shape of the vendor that the headers name.", "File", "AnthropicFile"),
  errors: [400, 402, 408, 413, 415, 429, 503],
});

const listFiles = call({
  operationId: "listFiles",
  summary: "List files",
  parameters: [
    query("limit", "Maximum number of files. Default: 10000, in pages of at most 1000.", {
      type: "integer",
      minimum: 1,
      maximum: 10_000,
    }),
    query("after", "`last_id` of the previous page.", { type: "string" }),
    query("order", "By time of creation. Default: `desc`.", { type: "string", enum: ["asc", "desc"] }),
    query("purpose", "Filter by purpose.", { type: "string" }),
  ],
  good: answer("The workspace's files.", "FileList", "AnthropicFileList", "GeminiFileList"),
  errors: [400],
});

const getFile = call({
  operationId: "getFile",
  summary: "Get a file",
  parameters: [fileId],
  good: answer("The file.", "File", "AnthropicFile", "GeminiFile"),
  errors: [404],
});

const deleteFile = call({
  operationId: "deleteFile",
  summary: "Delete a file",
  description: "It is missing at once. Its bytes and its copies at vendors are removed soon after.",
  parameters: [fileId],
  good: answer("It is deleted.", "FileDeleted", "AnthropicFileDeleted"),
  errors: [402, 404, 429],
});

const getContent = call({
  operationId: "getFileContent",
  summary: "Download a file",
  description: "Supports ranges.",
  parameters: [fileId],
  good: {
    description: "The bytes.",
    headers: headersOf("plain"),
    content: { "*/*": { schema: { type: "string", format: "binary" } } },
  },
  errors: [404, 503],
});

function jsonBody(name: string): NonNullable<Operation["requestBody"]> {
  return { required: true, content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } };
}

const createUpload = call({
  operationId: "createUpload",
  summary: "Begin a file that arrives in parts",
  requestBody: jsonBody("UploadRequest"),
  good: answer("The upload.", "Upload"),
  errors: [400, 402, 408, 413, 415, 429, 503],
});

const addPart = call({
  operationId: "addUploadPart",
  summary: "Add a part to an upload",
  description: "Parts may be sent at the same time.",
  parameters: [uploadId],
  requestBody: {
    required: true,
    content: {
      "multipart/form-data": {
        schema: {
          type: "object",
          required: ["data"],
          properties: { data: { type: "string", format: "binary", description: "At most 64 MB." } },
        },
      },
    },
  },
  good: answer("The part.", "UploadPart"),
  errors: [400, 402, 404, 408, 409, 413, 415, 429, 503],
});

const completeUpload = call({
  operationId: "completeUpload",
  summary: "Make the file of its parts",
  parameters: [uploadId],
  requestBody: jsonBody("UploadComplete"),
  good: answer("The upload, with its file.", "Upload"),
  errors: [400, 402, 404, 408, 409, 413, 415, 429, 503],
});

const cancelUpload = call({
  operationId: "cancelUpload",
  summary: "Cancel an upload",
  parameters: [uploadId],
  good: answer("The upload.", "Upload"),
  errors: [404, 409],
});

function geminiUpload(operationId: string): Operation {
  const header = (name: string, description: string): Parameter => {
    return { name, in: "header", description, schema: { type: "string" } };
  };
  return call({
    operationId,
    summary: "Upload a file in Gemini's resumable protocol",
    description: "`start` returns the address for the pieces in `x-goog-upload-url`. It is the gateway's own.",
    parameters: [
      query("upload_id", "In the address that `start` returned.", { type: "string" }),
      query("upload_token", "In the same address. With it, pieces need no key.", { type: "string" }),
      header("x-goog-upload-protocol", "`resumable`"),
      header("x-goog-upload-command", "`start`, `upload`, `upload, finalize`, `query` or `cancel`."),
      header("x-goog-upload-offset", "Bytes that arrived before the piece."),
      header("x-goog-upload-header-content-length", "With `start`: size of the file."),
      header("x-goog-upload-header-content-type", "With `start`: media type of the file."),
    ],
    good: {
      description: "The state of the upload in headers. After `finalize`, the file.",
      headers: headersOf("plain"),
      content: {
        "application/json": {
          schema: { type: "object", properties: { file: { $ref: "#/components/schemas/GeminiFile" } } },
        },
      },
    },
    errors: [400, 402, 404, 408, 409, 413, 415, 429, 503],
  });
}

const listGeminiFiles = call({
  operationId: "listGeminiFiles",
  summary: "List files in Gemini's shape",
  parameters: [
    query("pageSize", "Default: 10. At most 100.", { type: "integer", minimum: 0 }),
    query("pageToken", "`nextPageToken` of the previous page.", { type: "string" }),
  ],
  good: answer("The workspace's files.", "GeminiFileList"),
  errors: [400],
});

const getGeminiFile = call({
  operationId: "getGeminiFile",
  summary: "Get a file in Gemini's shape, or its bytes",
  parameters: [geminiFileId],
  good: answer("The file.", "GeminiFile"),
  errors: [404, 503],
});

const deleteGeminiFile = call({
  operationId: "deleteGeminiFile",
  summary: "Delete a file in Gemini's shape",
  parameters: [geminiFileId],
  good: { description: "It is deleted.", headers: headersOf("plain"), content: { "application/json": { schema: {} } } },
  errors: [402, 404, 429],
});

const purpose: JsonSchema = {
  type: "string",
  enum: ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"],
};
const seconds: JsonSchema = {
  type: "integer",
  minimum: 3_600,
  maximum: 2_592_000,
  description: "Default: never; 30 days for the purpose `batch`.",
};

/** POST /v1/uploads. */
export const uploadRequestSchema: JsonSchema = {
  type: "object",
  required: ["bytes", "filename", "mime_type", "purpose"],
  properties: {
    bytes: { type: "integer", minimum: 1, maximum: 536_870_912 },
    filename: { type: "string", minLength: 1 },
    mime_type: { type: "string", minLength: 1 },
    purpose,
    expires_after: {
      type: "object",
      required: ["anchor", "seconds"],
      properties: { anchor: { type: "string", enum: ["created_at"] }, seconds },
    },
  },
};

/** POST /v1/uploads/{id}/complete. */
export const uploadCompleteSchema: JsonSchema = {
  type: "object",
  required: ["part_ids"],
  properties: {
    part_ids: { type: "array", minItems: 1, maxItems: 1_000, items: { type: "string" } },
    md5: { type: "string", pattern: "^[0-9a-fA-F]{32}$" },
  },
};

/** POST /v1/files. */
export const fileUploadSchema: JsonSchema = {
  type: "object",
  required: ["file", "purpose"],
  properties: {
    file: { type: "string", format: "binary", description: "At most 512 MB." },
    purpose,
    "expires_after[anchor]": { type: "string", enum: ["created_at"] },
    "expires_after[seconds]": seconds,
  },
};
