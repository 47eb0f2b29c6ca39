/**
 * The members of request bodies that the gateway itself reads, endpoint by endpoint. This is what a body is checked by before
 * anything else is done with it, and what the API description shows. Whatever is not listed goes on as it came, unread.
 */
export interface RequestField {
  /** By JSON Schema's names; left out: anything, which the upstream judges. */
  readonly type?: FieldType | readonly FieldType[];
  readonly required?: true;
  /** Characters of a string. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  /** ECMAScript, with the flag u. */
  readonly pattern?: string;
  readonly items?: object;
  readonly examples?: readonly unknown[];
  readonly description?: string;
  /** What a refusal says after the parameter's name, where its type alone would not tell. */
  readonly must?: string;
}
export type FieldType = "string" | "boolean" | "integer" | "array" | "object";
export type RequestFields = Readonly<Record<string, RequestField>>;

export const modelNameCharactersMax = 256;

const model: RequestField = {
  type: "string",
  required: true,
  minLength: 1,
  maxLength: modelNameCharactersMax,
  description: "A name from `GET /v1/models`.",
};
const stream: RequestField = {
  type: "boolean",
  description: "True: the answer comes as server-sent events.",
};
const list: RequestField = { type: "array", required: true };
const words: RequestField = { type: ["string", "array"], required: true };
/** Read for what is reserved and logged; anything else than a count is the upstream's to judge. */
const counted = (description: string): RequestField => ({ description });
const input: RequestField = { type: ["string", "array"], description: "A text, or items." };
const previous: RequestField = {
  type: "string",
  description: "Goes to the account that made that response.",
};

const picture = {
  model,
  prompt: { type: "string", required: true, minLength: 1 },
  n: counted("How many pictures."),
  stream,
} as const satisfies RequestFields;

/** Of the endpoints whose body is JSON and is passed on in bytes, by their names in `modelEndpoints`. */
export const requestFields = {
  chat: {
    model,
    messages: { ...list, items: { type: "object" } },
    stream,
    stream_options: { description: "With `include_usage` the last chunk before `[DONE]` holds the usage." },
    max_completion_tokens: counted("How many tokens the answer may have."),
    max_tokens: counted("The same, as older models call it."),
    n: counted("How many answers."),
  },
  messages: {
    model,
    messages: { ...list, items: { type: "object" } },
    max_tokens: {
      type: "integer",
      required: true,
      minimum: 0,
      must: "must be a whole number of at least 0",
      description: "How many tokens the answer may have; 0 warms the cache.",
    },
    stream,
  },
  "count-tokens": { model, messages: { ...list, items: { type: "object" } } },
  responses: {
    model,
    input: { ...input, description: "A text, or items; may be left out of a call that continues another." },
    stream,
    background: { type: "boolean", description: "True: made in the background, and asked for by its id." },
    previous_response_id: previous,
    max_output_tokens: counted("How many tokens the answer may have."),
  },
  "responses-compact": { model, input, previous_response_id: previous },
  "input-tokens": { model, input, previous_response_id: previous },
  generate: { contents: { ...list, items: { type: "object" } } },
  "gemini-count-tokens": {
    contents: { type: "array", items: { type: "object" }, description: "Required unless the whole request stands." },
    generateContentRequest: {
      type: "object",
      examples: [{ contents: [{ parts: [{ text: "Say hello." }] }] }],
      description: "A whole request, in the place of `contents`.",
    },
  },
  completions: {
    model,
    prompt: { ...words, description: "A text, texts, or tokens." },
    suffix: { description: "What comes after what is filled in." },
    stream,
    max_tokens: counted("How many tokens the answer may have."),
    n: counted("How many answers."),
  },
  images: { ...picture, size: { description: "`<width>x<height>`, as the model takes it." } },
  "image-edits": { ...picture, images: { description: "Objects with an `image_url`." } },
  embeddings: { model, input: { ...words, description: "A text, texts, or tokens." } },
  "embed-content": {
    content: { required: true, description: "`parts` of `text`." },
    outputDimensionality: { description: "A whole number, as the model takes it." },
  },
  "batch-embed-contents": { requests: { ...list, items: { type: "object" }, maxItems: 2_048 } },
  rerank: {
    model,
    query: { required: true, description: "A text; for some models an object." },
    documents: list,
    top_n: { description: "How many of them the answer shows." },
  },
  moderations: {
    model: {
      type: "string",
      minLength: 1,
      maxLength: modelNameCharactersMax,
      description: "Default: `omni-moderation-latest`.",
    },
    input: { required: true, description: "A text, texts, or parts of text and pictures." },
  },
  speech: {
    model,
    input: { type: "string", required: true, description: "What is spoken." },
    voice: { description: "As the model takes it." },
    response_format: { description: "Such as `mp3`." },
    stream_format: { description: "`sse`: events that hold the sound." },
  },
} as const satisfies Readonly<Record<string, RequestFields>>;

/** A call of Responses has one of these. */
export const inputOrContinued = ["input", "previous_response_id", "conversation", "prompt"] as const;

const videoMaterial = {
  type: ["string", "object"],
  examples: ["https://example.com/frame.png"],
} as const satisfies RequestField;
const materialMax = 64;

/** Of POST /v1/video/tasks. Members that are not listed go to the upstream as they are. */
export const videoTaskFields = {
  model,
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
    must: "must be a whole number of seconds greater than 0",
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

const platform = {
  required: true,
  examples: ["local", "volcengine", "byteplus"],
  description:
    "Where it lives: in the gateway's own store (`local`), or in the asset library of an upstream (`volcengine`, `byteplus`). Another is a 404.",
} as const satisfies RequestField;

/** Of POST /v1/asset-groups. */
export const assetGroupFields = {
  platform,
  name: { type: "string", required: true, minLength: 1, maxLength: 64 },
  description: { type: "string", maxLength: 300 },
  project_name: {
    type: "string",
    maxLength: 64,
    description: "Of the library; default: the account's own, else `default`.",
  },
} as const satisfies RequestFields;

/** Of POST /v1/assets. */
export const assetFields = {
  platform: { ...platform, description: "That of the group." },
  group_id: { type: "string", required: true, minLength: 1, maxLength: 64 },
  asset_type: {
    type: "string",
    required: true,
    enum: ["Image", "Video", "Audio"],
    must: "must be Image, Video or Audio, written like that",
  },
  url: {
    type: "string",
    required: true,
    maxLength: 8_192,
    examples: ["https://example.com/hero.png"],
    description: "Public, http or https.",
  },
  name: { type: "string", maxLength: 64 },
} as const satisfies RequestFields;
