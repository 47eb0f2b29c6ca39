import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter, pageParameters } from "./page-parameters.ts";
import type { MediaType, Operation, Parameter, PathItem, Response } from "./types.ts";

/** Video tasks, and the videos they produce. */
export function videoPaths(): Record<string, PathItem> {
  return {
    "/v1/video/tasks": { post: createVideoTask, get: listVideoTasks },
    "/v1/video/tasks/{task_id}": { get: getVideoTask, delete: cancelVideoTask },
    "/v1/video/tasks/{task_id}/content": { get: getVideoContent },
  };
}

const taskId = idParameter("task_id", "`vt_…`. An id of another workspace returns 404.");

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
  description:
    "Repeating a request with the same key and body returns the first task. The same key with another body returns 409.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

const createVideoTask: Operation = {
  operationId: "createVideoTask",
  summary: "Create a video task",
  description: [
    "The task is stored before it is sent, and is never sent again to an upstream that may have accepted it. A value that no",
    "deployment of the model accepts returns 400 with the parameter and the allowed values. If the upstream rejects the",
    "request, its 4xx status is returned. Fields that are not listed are forwarded unchanged.",
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
            summary: "From a prompt",
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
    "200": answer("The created task, `queued` or later.", "VideoTask"),
    ...errorReferences(400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 429, 500, 502, 503, 504),
  },
};

const listVideoTasks: Operation = {
  operationId: "listVideoTasks",
  summary: "List video tasks",
  description: "Lists the tasks of every key in the workspace, newest first.",
  tags: ["video"],
  parameters: [
    ...pageParameters,
    {
      name: "status",
      in: "query",
      description: "Filter by status.",
      schema: { type: "string", enum: ["queued", "running", "succeeded", "failed", "cancelled", "expired"] },
    },
    { name: "model", in: "query", description: "Filter by model.", schema: { type: "string" } },
  ],
  responses: { "200": answer("One page of tasks.", "VideoTaskList"), ...errorReferences(400, 401, 403, 405, 500) },
};

const getVideoTask: Operation = {
  operationId: "getVideoTask",
  summary: "Get a video task",
  description: "Returns the stored state. If it is stale, the upstream is polled first, for at most two seconds.",
  tags: ["video"],
  parameters: [taskId],
  responses: { "200": answer("The task.", "VideoTask"), ...errorReferences(401, 403, 404, 405, 500) },
};

const cancelVideoTask: Operation = {
  operationId: "cancelVideoTask",
  summary: "Cancel a video task",
  description: [
    "Returns 400 if the upstream cannot cancel the task (most cancel only queued tasks), and 409 if the task has already",
    "ended or it is not certain yet whether the upstream accepted it. Returns the updated task.",
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
  description: "A single byte range, `bytes=…`.",
  schema: { type: "string" },
};

export const contentResponses: Record<string, Response> = {
  "200": part("The whole video.", true),
  "206": part("The requested range; see `content-range`.", true),
  "416": part("The range lies outside the video.", false),
};

const getVideoContent: Operation = {
  operationId: "getVideoContent",
  summary: "Download the video",
  description:
    "Returns 404 until the video is finished, and after the vendor's link has expired unless a copy was stored.",
  tags: ["video"],
  parameters: [taskId, rangeParameter],
  responses: { ...contentResponses, ...errorReferences(401, 403, 404, 405, 500, 502, 504) },
};
