/**
 * Fields of request bodies that the gateway reads, by endpoint. A body is validated against them before anything else, and the API
 * description shows them. Other fields are forwarded unread.
 */
export interface RequestField {
  /** JSON Schema types. Left out: any value; the upstream validates it. */
  readonly type?: FieldType | readonly FieldType[];
  readonly required?: true;
  /** Length of a string in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  /** ECMAScript pattern with the `u` flag. */
  readonly pattern?: string;
  readonly items?: object;
  readonly examples?: readonly unknown[];
  readonly description?: string;
  /** Text after the field name in an error message, if the type alone is not clear enough. */
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
  description: "True: stream the response as server-sent events.",
};
const list: RequestField = { type: "array", required: true };
const words: RequestField = { type: ["string", "array"], required: true };
/** Read to reserve and log usage. The upstream validates anything other than a number. */
const counted = (description: string): RequestField => ({ description });
/** Multiplies the cost of a call. Some upstreams read a string as a number, so only numbers are accepted. */
const multiplier = (description: string): RequestField => ({
  type: "integer",
  minimum: 1,
  must: "must be an integer above 0",
  description,
});
const input: RequestField = { type: ["string", "array"], description: "A string or a list of items." };
const previous: RequestField = {
  type: "string",
  description: "Id of the previous response. The call is sent to the account that created it.",
};

const picture = {
  model: modelField,
  prompt: { type: "string", required: true, minLength: 1 },
  n: multiplier("Number of images."),
  stream: streamField,
} as const satisfies RequestFields;

/** Endpoints with a JSON body that is forwarded as bytes, by their names in `modelEndpoints`. */
export const requestFields = {
  chat: {
    model: modelField,
    messages: { ...list, items: { type: "object" } },
    stream: streamField,
    stream_options: { description: "With `include_usage`, the last chunk before `[DONE]` contains the usage." },
    max_completion_tokens: counted("Maximum number of output tokens."),
    max_tokens: counted("Same as `max_completion_tokens`, for older models."),
    n: multiplier("Number of choices."),
  },
  messages: {
    model: modelField,
    messages: { ...list, items: { type: "object" } },
    max_tokens: {
      type: "integer",
      required: true,
      minimum: 0,
      must: "must be an integer of at least 0",
      description: "Maximum number of output tokens. 0 only fills the prompt cache.",
    },
    stream: streamField,
  },
  "count-tokens": { model: modelField, messages: { ...list, items: { type: "object" } } },
  responses: {
    model: modelField,
    input: { ...input, description: "A string or a list of items. May be left out if the call continues another." },
    stream: streamField,
    conversation: {
      type: ["string", "object"],
      examples: ["conv_1", { id: "conv_1" }],
      must: "must be an id, or an object with an id",
      description: "A conversation stored by the upstream: its id, or an object with the id.",
    },
    prompt: {
      type: ["string", "object"],
      examples: ["pmpt_1", { id: "pmpt_1" }],
      must: "must be an id, or an object with an id",
      description: "A prompt stored by the upstream: its id, or an object with the id.",
    },
    background: { type: "boolean", description: "True: generate the response in the background; get it by its id." },
    previous_response_id: previous,
    max_output_tokens: counted("Maximum number of output tokens."),
  },
  "responses-compact": { model: modelField, input, previous_response_id: previous },
  "input-tokens": { model: modelField, input, previous_response_id: previous },
  generate: { contents: { ...list, items: { type: "object" } } },
  interactions: {
    model: {
      type: "string",
      minLength: 1,
      maxLength: modelNameCharactersMax,
      description: "A name from `GET /v1/models`. Required unless `agent` is sent.",
    },
    agent: {
      type: "string",
      minLength: 1,
      maxLength: modelNameCharactersMax,
      description: "The name of a model here that is an agent of its upstream, instead of `model`.",
    },
    input: {
      type: ["string", "array", "object"],
      description:
        "A string, a content, or a list of contents or of steps. May be left out if the call continues another.",
    },
    stream: streamField,
    store: { type: "boolean", description: "False: the upstream keeps nothing. Default: true." },
    background: { type: "boolean", description: "True: generate in the background; get the interaction by its id." },
    previous_interaction_id: {
      type: "string",
      description: "Id of the previous interaction. The call is sent to the account that created it.",
    },
    continuation_token: {
      type: "string",
      description: "From an interaction that stopped with `requires_continuation`.",
    },
    generation_config: { type: "object", description: "`max_output_tokens` is the maximum number of output tokens." },
  },
  "gemini-count-tokens": {
    contents: {
      type: "array",
      items: { type: "object" },
      description: "Required unless `generateContentRequest` is sent.",
    },
    generateContentRequest: {
      type: "object",
      examples: [{ contents: [{ parts: [{ text: "Say hello." }] }] }],
      description: "A complete request, instead of `contents`.",
    },
  },
  completions: {
    model: modelField,
    prompt: { ...words, description: "A string, a list of strings, or tokens." },
    suffix: { description: "Text after the gap, for fill-in-the-middle." },
    stream: streamField,
    max_tokens: counted("Maximum number of output tokens."),
    n: multiplier("Number of choices."),
  },
  images: { ...picture, size: { description: "`<width>x<height>`, if the model supports it." } },
  "image-edits": { ...picture, images: { description: "Objects with an `image_url`." } },
  embeddings: { model: modelField, input: { ...words, description: "A string, a list of strings, or tokens." } },
  "embed-content": {
    content: { required: true, description: "`parts` of `text`." },
    outputDimensionality: { description: "An integer, if the model supports it." },
  },
  "batch-embed-contents": { requests: { ...list, items: { type: "object" }, maxItems: 2_048 } },
  rerank: {
    model: modelField,
    query: { required: true, description: "A string; for some models an object." },
    documents: list,
    top_n: { description: "Number of results to return." },
  },
  moderations: {
    model: {
      type: "string",
      minLength: 1,
      maxLength: modelNameCharactersMax,
      description: "Default: `omni-moderation-latest`.",
    },
    input: { required: true, description: "A string, a list of strings, or parts with text and images." },
  },
  decisions: {
    model: modelField,
    input: { ...input, required: true, description: "A string or a list of items, which all questions are about." },
    questions: {
      type: "array",
      required: true,
      must: "must be a list of questions",
      items: { type: "object" },
      description: "At most 400 at OpenAI. Each is a `predicate`, a `choice` or a `score`.",
    },
  },
  "gemini-decisions": {
    model: modelField,
    input: { required: true, description: "A string, a content or a list of contents, which all questions are about." },
    questions: {
      type: "object",
      required: true,
      must: "must be an object of questions",
      description: "Questions by id. Each is a `noul`, a `choice` or a `score`.",
    },
  },
  speech: {
    model: modelField,
    input: { type: "string", required: true, description: "Text to speak." },
    voice: { description: "Name of a voice of the model." },
    response_format: { description: "Such as `mp3`." },
    stream_format: { description: "`sse`: stream events that contain the audio." },
  },
} as const satisfies Readonly<Record<string, RequestFields>>;

/** An interaction must have one of these. */
export const interactionInputs = ["input", "previous_interaction_id", "continuation_token"] as const;

/** A Responses call must have one of these. */
export const inputOrContinued = ["input", "previous_response_id", "conversation", "prompt"] as const;
