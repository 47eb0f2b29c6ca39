import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter, pageParameters } from "./page-parameters.ts";
import type { MediaType, Operation, Parameter, PathItem, Response } from "./types.ts";

/** Videos, which are made over minutes: tasks, and what comes of them. */
export function videoPaths(): Record<string, PathItem> {
  return {
    "/v1/video/tasks": { post: createVideoTask, get: listVideoTasks },
    "/v1/video/tasks/{task_id}": { get: getVideoTask, delete: cancelVideoTask },
    "/v1/video/tasks/{task_id}/content": { get: getVideoContent },
  };
}

const taskId = idParameter("task_id", "`vt_…`; one of another workspace looks like a missing one.");

function answer(description: string, schema: string): Response {
  return {
    description,
    headers: headersOf("plain"),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

export const idempotencyKey: Parameter = {
  name: "idempotency-key",
  in: "header",
  description: "The same key with the same body finds the task that was made first; with another body it is a 409.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const createVideoTask: Operation = {
  operationId: "createVideoTask",
  summary: "Start a video",
  description: [
    "The task is stored before anything is sent, and is sent at most once to an upstream that may have taken it. Values",
    "that no deployment of the model takes are a 400 that names the parameter and what is allowed. A refusal of the",
    "upstream that is about the request comes back as that 4xx. Fields that are not listed go to the upstream as they are.",
  ].join("\n"),
  tags: ["video"],
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/VideoTaskRequest" },
        examples: {
          words: {
            summary: "From words",
            value: {
              model: "seedance",
              prompt: "A boat on a lake.",
              ratio: "16:9",
              duration: 5,
              resolution: "720p",
              audio: false,
              watermark: false,
              seed: -1,
            },
          },
          asset: {
            summary: "From an asset",
            value: {
              model: "seedance",
              prompt: "She looks up.",
              references: ["asset://as_01M7YK1MQY00004NYJNBJFATXC"],
            },
          },
        },
      },
    },
  },
  responses: {
    "200": answer("The task: `queued`, or further already.", "VideoTask"),
    ...errorReferences(400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 429, 500, 502, 503, 504),
  },
};

const listVideoTasks: Operation = {
  operationId: "listVideoTasks",
  summary: "The workspace's video tasks",
  description: "Of all its keys, newest first.",
  tags: ["video"],
  parameters: [
    ...pageParameters,
    {
      name: "status",
      in: "query",
      description: "Only those that stand so.",
      schema: { type: "string", enum: ["queued", "running", "succeeded", "failed", "cancelled", "expired"] },
    },
    { name: "model", in: "query", description: "Only those of this model.", schema: { type: "string" } },
  ],
  responses: { "200": answer("A page.", "VideoTaskList"), ...errorReferences(400, 401, 403, 405, 500) },
};

const getVideoTask: Operation = {
  operationId: "getVideoTask",
  summary: "How a video task stands",
  description: "What is stored; when that is stale the upstream is asked first, for two seconds at most.",
  tags: ["video"],
  parameters: [taskId],
  responses: { "200": answer("The task.", "VideoTask"), ...errorReferences(401, 403, 404, 405, 500) },
};

const cancelVideoTask: Operation = {
  operationId: "cancelVideoTask",
  summary: "Cancel a video task",
  description: [
    "400 when the upstream cannot or will not (most take back only what waits), 409 when the task has ended already or",
    "it is not known yet whether the upstream has it. The answer shows how the task stands afterwards.",
  ].join("\n"),
  tags: ["video"],
  parameters: [taskId],
  responses: {
    "200": answer("The task.", "VideoTask"),
    ...errorReferences(400, 401, 403, 404, 405, 409, 429, 500, 502, 504),
  },
};

const bytes: MediaType = { schema: { type: "string", format: "binary" } };

function part(description: string, content: boolean): Response {
  return { description, headers: headersOf("plain"), ...(content ? { content: { "video/mp4": bytes } } : {}) };
}

export const rangeParameter: Parameter = {
  name: "range",
  in: "header",
  description: "`bytes=…`, one range.",
  schema: { type: "string" },
};

export const contentResponses: Record<string, Response> = {
  "200": part("All of it.", true),
  "206": part("The part that was asked for; `content-range` says which.", true),
  "416": part("There is no such part.", false),
};

const getVideoContent: Operation = {
  operationId: "getVideoContent",
  summary: "The finished video",
  description: "404 while there is none, and once the vendor's link has ended and nobody kept a copy.",
  tags: ["video"],
  parameters: [taskId, rangeParameter],
  responses: { ...contentResponses, ...errorReferences(401, 403, 404, 405, 500, 502, 504) },
};
