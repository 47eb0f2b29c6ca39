import type { DialectId } from "./dialect.ts";
import type { TaskRequest } from "./task.ts";
import type { Usage } from "./usage.ts";

/**
 * One model call in neutral form: the hub between dialects. It is built only when the caller's dialect is not the
 * upstream's. A reader fills in what its dialect can say; a writer carries what its dialect can carry and warns of
 * the rest. null always means "not said", never a default.
 */
export interface Turn {
  readonly stream: boolean;
  /** Instructions that stand before the conversation, in order. */
  readonly system: readonly TextPart[];
  /** Neighbours may have the same role; a writer whose dialect wants alternation merges them. */
  readonly messages: readonly TurnMessage[];
  readonly tools: readonly TurnTool[];
  readonly toolChoice: ToolChoice | null;
  readonly parallelToolCalls: boolean | null;
  readonly outputTokensMax: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  readonly seed: number | null;
  readonly stop: readonly string[];
  /** How many answers are wanted; only one can be translated. */
  readonly choices: number;
  readonly format: AnswerFormat | null;
  readonly reasoning: ReasoningRequest | null;
  readonly verbosity: string | null;
  readonly userId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly cacheKey: string | null;
  /** The caller asks that the prompt be cached, and leaves to others where. */
  readonly autoCache?: CacheHint;
  readonly serviceTier: string | null;
  /** A search of the web by the vendor's own tool is wanted. */
  readonly search?: SearchRequest;
  /** Pictures may be part of the answer. */
  readonly pictures?: boolean;
  /** The caller of chat completions speaks of `functions`, as before there were tools: it is answered in the same words. */
  readonly legacyFunctions?: boolean;
  /** What only Google's models are told. */
  readonly google?: GoogleExtras;
  /** The conversation is not answered but made shorter: what the model writes is a summary of it. */
  readonly compaction?: Compaction;
}

/** `cachedContent`: the name of a cache at the account. `safetySettings` as the vendor has them. */
export interface GoogleExtras {
  readonly cachedContent: string | null;
  readonly safetySettings: readonly Readonly<Record<string, unknown>>[];
}

/** A search of the web that the vendor carries out by itself while the model answers. */
export interface SearchRequest {
  readonly usesMax: number | null;
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** Where the user roughly is. */
  readonly location: SearchLocation | null;
  /** How much of what is found the model is shown. */
  readonly contextSize: "low" | "medium" | "high" | null;
}

export interface SearchLocation {
  readonly city?: string;
  readonly region?: string;
  readonly country?: string;
  readonly timezone?: string;
}

interface Compaction {
  /** What the user said that stays beside the summary, word for word. */
  readonly kept: readonly string[];
}

/** What an answer is written by: the turn without what was said. */
export type RequestedTurn = Omit<Turn, "messages">;

export type TurnRole = "user" | "assistant" | "system";

/**
 * `system` in the middle of a conversation stays where it stood. Tool results are parts of a user message, tool calls
 * and reasoning are parts of an assistant message, in the order in which they were said.
 */
export interface TurnMessage {
  readonly role: TurnRole;
  readonly parts: readonly TurnPart[];
}

export type TurnPart = TextPart | MediaPart | ToolCallPart | ToolResultPart | ReasoningPart | RefusalPart;

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
  readonly cache: CacheHint | null;
}

/** A picture, a document (PDF or text), a sound or a film. */
export interface MediaPart {
  readonly kind: "image" | "document" | "audio" | "video";
  readonly source: MediaSource;
  /** File name or title. */
  readonly name: string | null;
  /** OpenAI's `detail` of an image. */
  readonly detail: string | null;
  readonly cache: CacheHint | null;
}

export type MediaSource =
  | { readonly kind: "base64"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string; readonly mediaType: string | null }
  | { readonly kind: "text"; readonly text: string }
  /** A file that was uploaded to one vendor; only that vendor can read it. */
  | { readonly kind: "file"; readonly id: string; readonly dialect: DialectId };

export interface ToolCallPart {
  readonly kind: "tool-call";
  /** The caller's id, unchanged; a writer maps it where its dialect is stricter, the same way each time. */
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it; may be invalid, but is never empty: readers write {} for a call without arguments. */
  readonly argumentsText: string;
  /** Gemini's thoughtSignature of a call. */
  readonly seal: Seal | null;
  readonly cache: CacheHint | null;
}

export interface ToolResultPart {
  readonly kind: "tool-result";
  readonly callId: string;
  /** The called tool's name where the dialect says it, or as found by the id in the history. */
  readonly name: string | null;
  readonly parts: readonly (TextPart | MediaPart)[];
  readonly isError: boolean;
  readonly cache: CacheHint | null;
}

/** What the model thought. `text` may be empty when only the sealed form is known. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly text: string;
  readonly seal: Seal | null;
  /** The vendor hides the text (Anthropic's redacted_thinking): the seal is all there is. */
  readonly redacted: boolean;
}

interface RefusalPart {
  readonly kind: "refusal";
  readonly text: string;
}

/**
 * An opaque thing that only its producer can read: a thinking signature, encrypted reasoning, a thought signature.
 * `account` is the provider (our id) that made it, null when that is not known. It goes back to the same dialect and
 * account only; everyone else never sees it.
 */
export interface Seal {
  readonly dialect: DialectId;
  readonly account: string | null;
  readonly data: string;
  /** The vendor's id of the sealed item, where it has one (a Responses `rs_…`). */
  readonly itemId: string | null;
}

/** A wish that the prompt up to here be cached. */
export interface CacheHint {
  readonly ttl: "5m" | "1h" | null;
}

export interface TurnTool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of the arguments; null when the tool takes none. */
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly strict: boolean | null;
  readonly cache: CacheHint | null;
}

export type ToolChoice =
  | { readonly kind: "auto" }
  | { readonly kind: "none" }
  | { readonly kind: "any" }
  | { readonly kind: "tool"; readonly name: string };

export type AnswerFormat =
  | { readonly kind: "text" }
  | { readonly kind: "json" }
  | {
      readonly kind: "schema";
      readonly name: string | null;
      readonly description: string | null;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean | null;
    };

/** How much the model should think: an effort in words, a budget in tokens, or both as far as they were said. */
export interface ReasoningRequest {
  readonly effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  readonly budgetTokens: number | null;
  /** The caller wants to see what was thought, or a summary of it. */
  readonly visible: boolean;
}

/**
 * One call for vectors in neutral form. Built only when the upstream is asked in another way than the caller asks. null means
 * "not said".
 */
export interface EmbeddingTurn {
  readonly inputs: readonly EmbeddingInput[];
  /** Numbers in each vector. */
  readonly dimensions: number | null;
  /** What the vectors are for, in Google's words, of which there are the most: RETRIEVAL_QUERY, CLUSTERING … */
  readonly task: string | null;
  /** Whether a text that is too long is cut instead of refused. */
  readonly truncate: boolean | null;
}

export interface EmbeddingInput {
  readonly text: string;
  /** Of a document that is to be found later. */
  readonly title: string | null;
}

/** What an answer is written by: the turn without its texts. */
export interface RequestedEmbedding {
  readonly count: number;
  /** The vectors are wanted as base64 of little-endian 32-bit floats. */
  readonly base64: boolean;
}

export interface EmbeddingAnswer {
  /** In the order of the inputs. */
  readonly vectors: readonly (readonly number[])[];
  /** null when the upstream reported none. */
  readonly inputTokens: number | null;
}

/**
 * One call for pictures in neutral form: to make them from words, or to change `images` by words. Built only when the
 * upstream makes pictures in another dialect than the caller's. null means "not said".
 */
export interface ImageTurn {
  readonly prompt: string;
  /** How many pictures are wanted. */
  readonly count: number;
  readonly size: ImageSize | null;
  readonly quality: string | null;
  /** `transparent`, `opaque` or `auto`. */
  readonly background: string | null;
  /** `png`, `jpeg` or `webp`. */
  readonly outputFormat: string | null;
  readonly images: readonly ImageMedia[];
  /** Transparent where the first image is to be changed. */
  readonly mask: ImageMedia | null;
  /** The caller wants events: partial pictures, then the whole one. */
  readonly stream: boolean;
}

/** What an answer is written by: the turn without its words and pictures. */
export type RequestedImages = Pick<ImageTurn, "size" | "quality" | "background">;

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

export interface ImageMedia {
  readonly mediaType: string;
  /** base64 */
  readonly data: string;
}

export interface ImageAnswer {
  readonly images: readonly ImageMedia[];
  /** null when the upstream reported none. */
  readonly usage: Usage | null;
  /** The prompt as the upstream rewrote it, where it says so. */
  readonly revisedPrompt: string | null;
}

/** Material of a video: what it begins or ends with, or what it should look and sound like. */
export interface VideoMaterial {
  readonly role: "first_frame" | "last_frame" | "reference";
  readonly type: "image" | "video" | "audio";
  /** A public URL, a `data:` URI, or, once resolved, the library id that the upstream knows (`asset://…`). */
  readonly url: string;
}

/** A video task in neutral form, its assets resolved for the upstream that is to make it. */
export interface VideoTurn extends Omit<TaskRequest, "remixOf"> {
  /** What the upstream calls the video that is made anew; its length, shape and sound stay. Absent: none. */
  readonly remixOf?: string;
  readonly material: readonly VideoMaterial[];
  /** A vendor-shaped `content` array, passed on with assets resolved; null when the caller used our own fields. */
  readonly content: readonly unknown[] | null;
  /** Members of the body that are not ours: forwarded as they are. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly wantsLastFrame: boolean;
}

/** What one upstream model takes. An empty list or a null range: not known, so nothing is refused. */
export interface VideoCapabilities {
  readonly ratios: readonly string[];
  readonly resolutions: readonly string[];
  /** Whole seconds; either these or a range. */
  readonly durations: readonly number[];
  readonly durationMin: number | null;
  readonly durationMax: number | null;
  readonly audio: boolean | null;
  readonly firstFrame: boolean | null;
  readonly lastFrame: boolean | null;
  readonly referencesMax: number | null;
  readonly seed: boolean | null;
}

export const unknownCapabilities: VideoCapabilities = Object.freeze({
  ratios: [],
  resolutions: [],
  durations: [],
  durationMin: null,
  durationMax: null,
  audio: null,
  firstFrame: null,
  lastFrame: null,
  referencesMax: null,
  seed: null,
});
