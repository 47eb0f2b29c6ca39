import { modelField, modelNameCharactersMax, type RequestField, type RequestFields } from "./request-fields.ts";

const mediaReference = {
  type: ["string", "object"],
  examples: ["https://example.com/frame.png"],
} as const satisfies RequestField;
const mediaMax = 64;

/** POST /v1/video/tasks. Other fields are forwarded to the upstream unchanged. */
export const videoTaskFields = {
  model: modelField,
  prompt: {
    type: "string",
    maxLength: 32_768,
    description: "Required unless there is an image, a reference or `content`.",
  },
  ratio: {
    type: "string",
    pattern: "^(?:[1-9]\\d{0,4}:[1-9]\\d{0,4}|adaptive|auto|keep_ratio)$",
    examples: ["16:9", "adaptive"],
    must: 'must be <width>:<height>, such as "16:9", or "adaptive" or "auto"',
    description: "`<width>:<height>`, `adaptive` or `auto`.",
  },
  duration: {
    type: "integer",
    minimum: -1,
    examples: [5, -1],
    must: "must be an integer number of seconds greater than 0",
    description: "Whole seconds, not 0. -1: the model decides, if it supports this.",
  },
  resolution: {
    type: "string",
    pattern: "^(?:[1-9]\\d{1,4}[pP]|[1-9]\\d?[kK])$",
    examples: ["720p"],
    must: 'must be a number of lines, such as "720p", or "2k" or "4k"',
    description: "`<lines>p`, or `2k` or `4k`.",
  },
  audio: { type: "boolean", description: "Whether to generate audio." },
  watermark: { type: "boolean" },
  seed: { type: "integer", description: "May be negative." },
  image: {
    ...mediaReference,
    description:
      "The first frame: a public URL, a `data:` URI, `asset://<asset_id>`, or an object with the `file_id` of a picture.",
  },
  last_frame: { ...mediaReference, description: "The last frame." },
  references: {
    type: "array",
    maxItems: mediaMax,
    items: mediaReference,
    description:
      "References for look and sound. Each is a value like `image`, or an object with `url` or `file_id`, `type` (`image`, `video` or `audio`) and `role`.",
  },
  content: {
    type: "array",
    minItems: 1,
    maxItems: mediaMax,
    items: { type: "object", examples: [{ type: "text", text: "A boat." }] },
    description: "Ark's `content` array, forwarded with assets resolved. Other upstreams refuse it.",
  },
  return_last_frame: { type: "boolean", description: "Whether to return the last frame as an image as well." },
  remix_of: {
    type: "string",
    description: "Id of a task to remix with a new prompt (OpenAI, Azure). Length, size and audio stay the same.",
  },
  callback_url: { type: "string", description: "A public URL that receives a webhook when the task ends." },
  metadata: { type: "object", description: "Any object of at most 4 KiB. Returned unchanged." },
} as const satisfies RequestFields;

const { duration: _duration, ratio: _ratio, resolution: _resolution, image: _image, ...alike } = videoTaskFields;
const { content: _content, remix_of: _remixOf, ...shared } = alike;

/**
 * POST /v1/videos, with OpenAI's field names. The fields of a task (`duration`, `ratio`, `resolution`, `image`, `content`, `remix_of`)
 * are accepted too and replace the equivalent field.
 */
export const openAiVideoFields = {
  ...shared,
  model: {
    type: "string",
    maxLength: modelNameCharactersMax,
    description: "A name from `GET /v1/models`. Default: `sora-2`.",
  },
  prompt: { ...videoTaskFields.prompt, description: "Required unless there is an image." },
  seconds: {
    type: ["string", "integer"],
    pattern: "^[1-9]\\d{0,4}$",
    minimum: 1,
    maximum: 99_999,
    examples: ["8", 8],
    must: 'must be an integer number of seconds, such as "8"',
    description: 'Whole seconds, such as "8". The model must support this duration.',
  },
  size: {
    type: "string",
    pattern: "^[1-9]\\d{0,2}[02468]x[1-9]\\d{0,2}[02468]$",
    examples: ["1280x720"],
    must: "must be <width>x<height> in even numbers of pixels, such as 1280x720",
    description: "`<width>x<height>` in pixels. The model must support this size.",
  },
  input_reference: {
    type: ["string", "object"],
    examples: ["https://example.com/frame.png", { image_url: "https://example.com/frame.png" }],
    must: "must be an image, or an object with its `image_url` or `file_id`",
    description:
      "The first frame: its public URL, a `data:` URI or `asset://<asset_id>`, an object with that as `image_url`, or an object with the `file_id` of a picture.",
  },
} as const satisfies RequestFields;

/** POST /v1/videos/{video_id}/remix. */
export const openAiRemixFields = {
  prompt: { ...videoTaskFields.prompt, required: true, minLength: 1, description: "The new prompt." },
  callback_url: videoTaskFields.callback_url,
  metadata: videoTaskFields.metadata,
} as const satisfies RequestFields;
