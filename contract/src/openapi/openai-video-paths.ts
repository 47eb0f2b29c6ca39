import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter } from "./page-parameters.ts";
import type { Operation, Parameter, PathItem, Response } from "./types.ts";
import { contentResponses, idempotencyKey, rangeParameter } from "./video-paths.ts";

/** Video tasks by OpenAI's calls for videos. */
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
  "`video_…`, or the same task's `vt_…`; one of another workspace looks like a missing one.",
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
  summary: "Start a video, as at OpenAI",
  description: [
    "A video task of any vendor's model, asked for in OpenAI's words: `seconds` is the duration, `size` ratio and resolution, and",
    "`input_reference` the first frame. Every other member means what it means at `/v1/video/tasks`. A form's file comes as",
    "`input_reference`. The video is the task with the same id but for its beginning: `video_…` for `vt_…`.",
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
            summary: "From words",
            value: { model: "sora-2", prompt: "A boat on a lake.", seconds: "8", size: "1280x720" },
          },
          picture: {
            summary: "From a picture",
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
    "200": answer("The video: `queued`, or further already.", "Video"),
    ...errorReferences(400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 429, 500, 502, 503, 504),
  },
};

const listVideos: Operation = {
  operationId: "listVideos",
  summary: "The workspace's videos, as at OpenAI",
  description: "Every video task of the workspace, whichever way it was asked for.",
  tags: ["video"],
  parameters: [
    {
      name: "limit",
      in: "query",
      description: "How many at most; 20 unless told.",
      schema: { type: "integer", minimum: 1, maximum: 1_000 },
    },
    { name: "after", in: "query", description: "`last_id` of the page before.", schema: { type: "string" } },
    {
      name: "order",
      in: "query",
      description: "The newest first (`desc`) unless told.",
      schema: { type: "string", enum: ["asc", "desc"] },
    },
  ],
  responses: { "200": answer("A page.", "VideoList"), ...errorReferences(400, 401, 403, 405, 500) },
};

const getVideo: Operation = {
  operationId: "getVideo",
  summary: "How a video stands, as at OpenAI",
  description: "The header `openai-poll-after-ms` says when to look again, until the video has ended.",
  tags: ["video"],
  parameters: [videoId],
  responses: { "200": answer("The video.", "Video"), ...errorReferences(401, 403, 404, 405, 500) },
};

const deleteVideo: Operation = {
  operationId: "deleteVideo",
  summary: "Delete a video for good, as at OpenAI",
  description: [
    "Also at the upstream, where it deletes (OpenAI, Azure, Ark, Runway). One that is still being made is cancelled first: 400 where",
    "the upstream cannot do that, 409 while it is not known how it ends. Its ledger entry stays.",
  ].join("\n"),
  tags: ["video"],
  parameters: [videoId],
  responses: {
    "200": answer("It is deleted.", "VideoDeleted"),
    ...errorReferences(400, 401, 403, 404, 405, 409, 429, 500, 502, 504),
  },
};

const remixVideo: Operation = {
  operationId: "remixVideo",
  summary: "The same video with other words, as at OpenAI",
  description: [
    "By the account that has the video, which must be completed, with its model, length and size. 400 where its upstream makes no",
    "remixes: OpenAI and Azure do.",
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
  summary: "The finished video's bytes, as at OpenAI",
  description: "404 while there are none, and once the vendor's link has ended and nobody kept a copy.",
  tags: ["video"],
  parameters: [
    videoId,
    {
      name: "variant",
      in: "query",
      description: "What is wanted; the pictures where the upstream makes them (OpenAI, Azure), else 400.",
      schema: { type: "string", enum: ["video", "thumbnail", "spritesheet"] },
    },
    rangeParameter,
  ],
  responses: { ...contentResponses, ...errorReferences(400, 401, 403, 404, 405, 500, 502, 504) },
};
