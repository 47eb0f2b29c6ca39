import { errorsShaped } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter } from "./page-parameters.ts";
import type { MediaType, Operation, Parameter, PathItem } from "./types.ts";

/** Conversations, containers, skills and vector stores, which vendors store. Bodies and answers are the vendor's. */
export function objectPaths(): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, summary]) => [method, operation(path, method, summary)]),
      ) as PathItem,
    ]),
  );
}

const paths: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/v1/conversations": { post: "Create a conversation" },
  "/v1/conversations/{id}": {
    get: "Get a conversation",
    post: "Update a conversation",
    delete: "Delete a conversation",
  },
  "/v1/conversations/{id}/items": { get: "List a conversation's items", post: "Add items to a conversation" },
  "/v1/conversations/{id}/items/{item_id}": { get: "Get an item", delete: "Delete an item" },
  "/v1/containers": { post: "Create a container", get: "List containers" },
  "/v1/containers/{id}": { get: "Get a container", delete: "Delete a container" },
  "/v1/containers/{id}/files": { get: "List a container's files", post: "Add a file to a container" },
  "/v1/containers/{id}/files/{file_id}": { get: "Get a container's file", delete: "Delete a container's file" },
  "/v1/containers/{id}/files/{file_id}/content": { get: "Download a container's file" },
  "/v1/skills": { post: "Create a skill", get: "List skills" },
  "/v1/skills/{id}": { get: "Get a skill", post: "Update a skill", delete: "Delete a skill" },
  "/v1/skills/{id}/content": { get: "Download a skill" },
  "/v1/skills/{id}/versions": { get: "List a skill's versions", post: "Create a version of a skill" },
  "/v1/skills/{id}/versions/{version}": { get: "Get a version of a skill", delete: "Delete a version of a skill" },
  "/v1/skills/{id}/versions/{version}/content": { get: "Download a version of a skill" },
  "/v1/vector_stores": { post: "Create a vector store", get: "List vector stores" },
  "/v1/vector_stores/{id}": {
    get: "Get a vector store",
    post: "Update a vector store",
    delete: "Delete a vector store",
  },
  "/v1/vector_stores/{id}/search": { post: "Search a vector store" },
  "/v1/vector_stores/{id}/files": { get: "List a vector store's files", post: "Add a file to a vector store" },
  "/v1/vector_stores/{id}/files/{file_id}": {
    get: "Get a vector store's file",
    post: "Update a vector store's file",
    delete: "Remove a file from a vector store",
  },
  "/v1/vector_stores/{id}/files/{file_id}/content": { get: "Get the text of a vector store's file" },
  "/v1/vector_stores/{id}/file_batches": { post: "Add files to a vector store" },
  "/v1/vector_stores/{id}/file_batches/{batch_id}": { get: "Get a batch of files" },
  "/v1/vector_stores/{id}/file_batches/{batch_id}/cancel": { post: "Cancel a batch of files" },
  "/v1/vector_stores/{id}/file_batches/{batch_id}/files": { get: "List a batch's files" },
};

const anything: Record<string, MediaType> = { "*/*": { schema: {} } };

const account: Parameter = {
  name: "x-sluice-provider",
  in: "header",
  description: "The provider that stores the new object. Default: the first one of the key's models that stores such.",
  schema: { type: "string" },
};

function operation(path: string, method: string, summary: string): Operation {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const isList = method === "get" && names.length === 0;
  return {
    operationId: summary
      .replaceAll(/'s?/g, "")
      .replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase())
      .replace(/^./, (letter) => letter.toLowerCase()),
    summary,
    description: isList
      ? "The workspace's own objects, the last recorded first, each as its vendor shows it. At most 100 a page."
      : "The request and the answer are the vendor's own, by the headers OpenAI's or Anthropic's. An object of another workspace returns 404.",
    tags: ["objects"],
    parameters: [
      ...names.map((name) => idParameter(name, "An id of the vendor's.")),
      ...(method === "post" && names.length === 0 ? [account] : []),
    ],
    ...(method === "post" ? { requestBody: { required: false, content: anything } } : {}),
    responses: {
      "200": { description: "The vendor's answer.", headers: headersOf(isList ? "plain" : "call"), content: anything },
      ...errorsShaped("any", 400, 401, 402, 403, 404, 405, 408, 413, 429, 500, 502, 503, 504),
    },
  };
}
