import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter } from "./page-parameters.ts";
import type { Operation, Parameter, PathItem, Response } from "./types.ts";
import { contentResponses, idempotencyKey, rangeParameter } from "./video-paths.ts";

/** Video tasks in the format of OpenAI's video API. */
export function openAiVideoPaths(): Record<string, PathItem> {
  return {
    "/v1/videos": { post: createVideo, get: listVideos },
    "/v1/videos/{video_id}": { get: getVideo, delete: deleteVideo },
    "/v1/videos/{video_id}/content": { get: getVideoBytes },
    "/v1/videos/{video_id}/remix": { post: remixVideo },
  };
}

const videoId: Parameter = idParameter(
  "video_id",
  "`video_…`, or the same task's `vt_…`. An id of another workspace returns 404.",
);

function answer(description: string, schema: string): Response {
  return {
    description,
    headers: headersOf(schema === "Video" ? "polled" : "plain"),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

const request = { schema: { $ref: "#/components/schemas/VideoRequest" } };

const createVideo: Operation = {
  operationId: "createVideo",
  summary: "Create a video (OpenAI format)",
  description: [
    "Creates a video task for a model of any vendor: `seconds` is the duration, `size` the ratio and resolution, and",
    "`input_reference` the first frame: as JSON, as the file of a form, or by the id of a file. Every other field works as at `/v1/video/tasks`.",
    "Video and task have the same id except for the prefix: `video_…` and `vt_…`.",
  ].join("\n"),
  tags: ["video"],
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        ...request,
        examples: {
          words: {
            summary: "From a prompt",
            value: { model: "sora-2", prompt: "A boat on a lake.", seconds: "8", size: "1280x720" },
          },
          picture: {
            summary: "From an image",
            value: {
              model: "seedance",
              prompt: "She looks up.",
              input_reference: { image_url: "https://pictures.example/anna.png" },
            },
          },
        },
      },
      "multipart/form-data": { schema: { $ref: "#/components/schemas/VideoForm" } },
    },
  },
  responses: {
    "200": answer("The created video, `queued` or later.", "Video"),
    ...errorReferences(400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 429, 500, 502, 503, 504),
  },
};

const listVideos: Operation = {
  operationId: "listVideos",
  summary: "List videos (OpenAI format)",
  description: "Lists every video task of the workspace, including those created at `/v1/video/tasks`.",
  tags: ["video"],
  parameters: [
    {
      name: "limit",
      in: "query",
      description: "Maximum number of items. Default: 20.",
      schema: { type: "integer", minimum: 1, maximum: 1_000 },
    },
    { name: "after", in: "query", description: "`last_id` of the previous page.", schema: { type: "string" } },
    {
      name: "order",
      in: "query",
      description: "Sort order by creation time. Default: `desc`, newest first.",
      schema: { type: "string", enum: ["asc", "desc"] },
    },
  ],
  responses: { "200": answer("One page of videos.", "VideoList"), ...errorReferences(400, 401, 403, 405, 500) },
};

const getVideo: Operation = {
  operationId: "getVideo",
  summary: "Get a video (OpenAI format)",
  description: "Until the video has ended, the header `openai-poll-after-ms` is the time until the next poll.",
  tags: ["video"],
  parameters: [videoId],
  responses: { "200": answer("The video.", "Video"), ...errorReferences(401, 403, 404, 405, 500) },
};

const deleteVideo: Operation = {
  operationId: "deleteVideo",
  summary: "Delete a video (OpenAI format)",
  description: [
    "Also deletes it at the upstream if that is supported (OpenAI, Azure, Ark, Runway). A video in progress is canceled first: 400 if",
    "the upstream cannot cancel it, 409 while the outcome is unknown. Its ledger entry is kept.",
  ].join("\n"),
  tags: ["video"],
  parameters: [videoId],
  responses: {
    "200": answer("The video is deleted.", "VideoDeleted"),
    ...errorReferences(400, 401, 403, 404, 405, 409, 429, 500, 502, 504),
  },
};

const remixVideo: Operation = {
  operationId: "remixVideo",
  summary: "Remix a video with another prompt (OpenAI format)",
  description: [
    "Uses the account, model, length and size of the original, which must be completed. Returns 400 if the upstream does not",
    "support remixes; OpenAI and Azure do.",
  ].join("\n"),
  tags: ["video"],
  parameters: [videoId, idempotencyKey],
  requestBody: {
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/VideoRemixRequest" } } },
  },
  responses: {
    "200": answer("The new video.", "Video"),
    ...errorReferences(400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 429, 500, 502, 503, 504),
  },
};

const getVideoBytes: Operation = {
  operationId: "getVideoBytes",
  summary: "Download a video (OpenAI format)",
  description:
    "Returns 404 until the video is finished, and after the vendor's link has expired unless a copy was stored.",
  tags: ["video"],
  parameters: [
    videoId,
    {
      name: "variant",
      in: "query",
      description:
        "Part to download. `thumbnail` and `spritesheet` return 400 unless the upstream offers them (OpenAI, Azure).",
      schema: { type: "string", enum: ["video", "thumbnail", "spritesheet"] },
    },
    rangeParameter,
  ],
  responses: { ...contentResponses, ...errorReferences(400, 401, 403, 404, 405, 500, 502, 504) },
};
