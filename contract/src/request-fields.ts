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
  readonly maximum?: number;
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

export const modelField: RequestField = {
  type: "string",
  required: true,
  minLength: 1,
  maxLength: modelNameCharactersMax,
  description: "A name from `GET /v1/models`.",
};
export const streamField: RequestField = {
  type: "boolean",
  description: "True: the answer comes as server-sent events.",
};
const list: RequestField = { type: "array", required: true };
const words: RequestField = { type: ["string", "array"], required: true };
/** Read for what is reserved and logged; anything else than a count is the upstream's to judge. */
const counted = (description: string): RequestField => ({ description });
/** Multiplies what a call costs. An upstream may read a text as a number, so only a number is taken. */
const multiplier = (description: string): RequestField => ({
  type: "integer",
  minimum: 1,
  must: "must be an integer above 0",
  description,
});
const input: RequestField = { type: ["string", "array"], description: "A text, or items." };
const previous: RequestField = {
  type: "string",
  description: "Goes to the account that made that response.",
};

const picture = {
  model: modelField,
  prompt: { type: "string", required: true, minLength: 1 },
  n: multiplier("How many pictures."),
  stream: streamField,
} as const satisfies RequestFields;

/** Of the endpoints whose body is JSON and is passed on in bytes, by their names in `modelEndpoints`. */
export const requestFields = {
  chat: {
    model: modelField,
    messages: { ...list, items: { type: "object" } },
    stream: streamField,
    stream_options: { description: "With `include_usage` the last chunk before `[DONE]` holds the usage." },
    max_completion_tokens: counted("How many tokens the answer may have."),
    max_tokens: counted("The same, as older models call it."),
    n: multiplier("How many answers."),
  },
  messages: {
    model: modelField,
    messages: { ...list, items: { type: "object" } },
    max_tokens: {
      type: "integer",
      required: true,
      minimum: 0,
      must: "must be an integer of at least 0",
      description: "How many tokens the answer may have; 0 warms the cache.",
    },
    stream: streamField,
  },
  "count-tokens": { model: modelField, messages: { ...list, items: { type: "object" } } },
  responses: {
    model: modelField,
    input: { ...input, description: "A text, or items; may be left out of a call that continues another." },
    stream: streamField,
    conversation: {
      type: ["string", "object"],
      examples: ["conv_1", { id: "conv_1" }],
      must: "must be an id, or an object that holds one",
      description: "A conversation that the upstream keeps: its id, or an object with it.",
    },
    prompt: {
      type: ["string", "object"],
      examples: ["pmpt_1", { id: "pmpt_1" }],
      must: "must be an id, or an object that holds one",
      description: "A prompt that the upstream keeps: its id, or an object with it.",
    },
    background: { type: "boolean", description: "True: made in the background, and asked for by its id." },
    previous_response_id: previous,
    max_output_tokens: counted("How many tokens the answer may have."),
  },
  "responses-compact": { model: modelField, input, previous_response_id: previous },
  "input-tokens": { model: modelField, input, previous_response_id: previous },
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
    model: modelField,
    prompt: { ...words, description: "A text, texts, or tokens." },
    suffix: { description: "What comes after what is filled in." },
    stream: streamField,
    max_tokens: counted("How many tokens the answer may have."),
    n: multiplier("How many answers."),
  },
  images: { ...picture, size: { description: "`<width>x<height>`, as the model takes it." } },
  "image-edits": { ...picture, images: { description: "Objects with an `image_url`." } },
  embeddings: { model: modelField, input: { ...words, description: "A text, texts, or tokens." } },
  "embed-content": {
    content: { required: true, description: "`parts` of `text`." },
    outputDimensionality: { description: "An integer, as the model takes it." },
  },
  "batch-embed-contents": { requests: { ...list, items: { type: "object" }, maxItems: 2_048 } },
  rerank: {
    model: modelField,
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
    model: modelField,
    input: { type: "string", required: true, description: "What is spoken." },
    voice: { description: "As the model takes it." },
    response_format: { description: "Such as `mp3`." },
    stream_format: { description: "`sse`: events that hold the sound." },
  },
} as const satisfies Readonly<Record<string, RequestFields>>;

/** A call of Responses has one of these. */
export const inputOrContinued = ["input", "previous_response_id", "conversation", "prompt"] as const;
