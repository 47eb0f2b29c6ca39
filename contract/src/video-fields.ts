import { modelField, modelNameCharactersMax, type RequestField, type RequestFields } from "./request-fields.ts";

const videoMaterial = {
  type: ["string", "object"],
  examples: ["https://example.com/frame.png"],
} as const satisfies RequestField;
const materialMax = 64;

/** Of POST /v1/video/tasks. Members that are not listed go to the upstream as they are. */
export const videoTaskFields = {
  model: modelField,
  prompt: { type: "string", maxLength: 32_768, description: "Required unless there is material or `content`." },
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
    must: "must be an integer of seconds greater than 0",
    description: "Whole seconds, but for 0; -1 where the model may decide.",
  },
  resolution: {
    type: "string",
    pattern: "^(?:[1-9]\\d{1,4}[pP]|[1-9]\\d?[kK])$",
    examples: ["720p"],
    must: 'must be a number of lines, such as "720p", or "2k" or "4k"',
    description: "`<lines>p`, or `2k` or `4k`.",
  },
  audio: { type: "boolean", description: "With sound or without." },
  watermark: { type: "boolean" },
  seed: { type: "integer", description: "May be negative: any." },
  image: { ...videoMaterial, description: "The first frame: a public URL, a `data:` URI, or `asset://<asset_id>`." },
  last_frame: { ...videoMaterial, description: "The last frame." },
  references: {
    type: "array",
    maxItems: materialMax,
    items: videoMaterial,
    description:
      "What it should look and sound like: as `image`, or an object with `url`, `type` (`image`, `video`, `audio`) and `role`.",
  },
  content: {
    type: "array",
    minItems: 1,
    maxItems: materialMax,
    items: { type: "object", examples: [{ type: "text", text: "A boat." }] },
    description: "Ark's own array, passed on with assets resolved; other upstreams refuse it.",
  },
  return_last_frame: { type: "boolean", description: "Whether the last frame is wanted as a picture too." },
  remix_of: {
    type: "string",
    description:
      "A task of yours whose video is made anew with other words (OpenAI, Azure); it keeps length, shape and sound.",
  },
  callback_url: { type: "string", description: "A public address that is told when the task has ended." },
  metadata: { type: "object", description: "The caller's own, at most 4 KiB; comes back as it is." },
} as const satisfies RequestFields;

const { duration: _duration, ratio: _ratio, resolution: _resolution, image: _image, ...alike } = videoTaskFields;
const { content: _content, remix_of: _remixOf, ...shared } = alike;

/**
 * Of POST /v1/videos, in OpenAI's words. A task's own (`duration`, `ratio`, `resolution`, `image`, `content`, `remix_of`) are taken too, each
 * in the place of the one here that says the same.
 */
export const openAiVideoFields = {
  ...shared,
  model: {
    type: "string",
    maxLength: modelNameCharactersMax,
    description: "A name from `GET /v1/models`; `sora-2` unless told.",
  },
  prompt: { ...videoTaskFields.prompt, description: "Required unless there is a picture." },
  seconds: {
    type: ["string", "integer"],
    pattern: "^[1-9]\\d{0,4}$",
    minimum: 1,
    maximum: 99_999,
    examples: ["8", 8],
    must: 'must be an integer of seconds, such as "8"',
    description: 'Whole seconds, such as "8": those that the model takes.',
  },
  size: {
    type: "string",
    pattern: "^[1-9]\\d{0,2}[02468]x[1-9]\\d{0,2}[02468]$",
    examples: ["1280x720"],
    must: "must be <width>x<height> in even numbers of pixels, such as 1280x720",
    description: "`<width>x<height>` in pixels, as the model takes it.",
  },
  input_reference: {
    type: ["string", "object"],
    examples: ["https://example.com/frame.png", { image_url: "https://example.com/frame.png" }],
    must: "must be a picture, or an object with its `image_url`",
    description:
      "The first frame: its public URL, a `data:` URI or `asset://<asset_id>`, or an object with that as `image_url`.",
  },
} as const satisfies RequestFields;

/** Of POST /v1/videos/{video_id}/remix. What the video has stays as it is. */
export const openAiRemixFields = {
  prompt: { ...videoTaskFields.prompt, required: true, minLength: 1, description: "What is to be seen instead." },
  callback_url: videoTaskFields.callback_url,
  metadata: videoTaskFields.metadata,
} as const satisfies RequestFields;
