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
  };
}

const fileId = idParameter("file_id", "`file-…`. An id of another workspace returns 404.");

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
  description: "A form with one file of at most 512 MB. Every key of the workspace can use it, in every dialect.",
  requestBody: {
    required: true,
    content: { "multipart/form-data": { schema: { $ref: "#/components/schemas/FileUpload" } } },
  },
  good: answer("The file.", "File"),
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
  good: answer("The workspace's files.", "FileList"),
  errors: [400],
});

const getFile = call({
  operationId: "getFile",
  summary: "Get a file",
  parameters: [fileId],
  good: answer("The file.", "File"),
  errors: [404],
});

const deleteFile = call({
  operationId: "deleteFile",
  summary: "Delete a file",
  description: "It is missing at once. Its bytes and its copies at vendors are removed soon after.",
  parameters: [fileId],
  good: answer("It is deleted.", "FileDeleted"),
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

/** POST /v1/files. */
export const fileUploadSchema: JsonSchema = {
  type: "object",
  required: ["file", "purpose"],
  properties: {
    file: { type: "string", format: "binary", description: "At most 512 MB." },
    purpose: { type: "string", enum: ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"] },
    "expires_after[anchor]": { type: "string", enum: ["created_at"] },
    "expires_after[seconds]": {
      type: "integer",
      minimum: 3_600,
      maximum: 2_592_000,
      description: "Default: never; 30 days for the purpose `batch`.",
    },
  },
};
