import type { DialectId } from "./dialect.ts";
import type { TaskRequest } from "./task.ts";
import type { Usage } from "./usage.ts";

/**
 * A model call in neutral form, the hub between dialects. It is built only if caller and upstream speak different dialects. Readers
 * fill in what their dialect has; writers write what theirs supports and warn about the rest. null means "not set", never a default.
 */
export interface Turn {
  readonly stream: boolean;
  /** Instructions before the conversation, in order. */
  readonly system: readonly TextPart[];
  /** Neighbors may have the same role; a writer merges them if its dialect requires alternation. */
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
  /** Number of answers; only one can be translated. */
  readonly choices: number;
  readonly format: AnswerFormat | null;
  readonly reasoning: ReasoningRequest | null;
  readonly verbosity: string | null;
  readonly userId: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly cacheKey: string | null;
  /** The prompt should be cached; the upstream chooses where. */
  readonly autoCache?: CacheHint;
  readonly serviceTier: string | null;
  /** A web search by the vendor's own tool. */
  readonly search?: SearchRequest;
  /** The answer may contain images. */
  readonly pictures?: boolean;
  /** The caller uses `functions`, the predecessor of tools, and gets them in the answer. */
  readonly legacyFunctions?: boolean;
  /** Only for Google's models. */
  readonly google?: GoogleExtras;
  /** The conversation is summarized instead of answered. */
  readonly compaction?: Compaction;
}

/** `cachedContent`: name of a cache in the account. `safetySettings` as sent. */
export interface GoogleExtras {
  readonly cachedContent: string | null;
  readonly safetySettings: readonly Readonly<Record<string, unknown>>[];
}

/** A web search by the vendor while the model answers. */
export interface SearchRequest {
  readonly usesMax: number | null;
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** Approximate location of the user. */
  readonly location: SearchLocation | null;
  /** How much of the results the model receives. */
  readonly contextSize: "low" | "medium" | "high" | null;
}

export interface SearchLocation {
  readonly city?: string;
  readonly region?: string;
  readonly country?: string;
  readonly timezone?: string;
}

interface Compaction {
  /** User messages that are kept verbatim next to the summary. */
  readonly kept: readonly string[];
}

/** The facts of a turn that the writer of its answer needs. */
export type RequestedTurn = Omit<Turn, "messages">;

export type TurnRole = "user" | "assistant" | "system";

/**
 * `system` messages in a conversation keep their position. Tool results are parts of user messages, tool calls and reasoning parts of
 * assistant messages, in their original order.
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

/** An image, document (PDF or text), sound or video. */
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
  /** A file uploaded to one vendor, which only that vendor can read. */
  | { readonly kind: "file"; readonly id: string; readonly dialect: DialectId };

export interface ToolCallPart {
  readonly kind: "tool-call";
  /** The caller's id, unchanged. Writers map it consistently if their dialect is stricter. */
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. May be invalid but not empty: readers write {} for a call without arguments. */
  readonly argumentsText: string;
  /** Gemini's thoughtSignature of a call. */
  readonly seal: Seal | null;
  readonly cache: CacheHint | null;
}

export interface ToolResultPart {
  readonly kind: "tool-result";
  readonly callId: string;
  /** The name of the called tool, from the dialect or from the call with this id. */
  readonly name: string | null;
  readonly parts: readonly (TextPart | MediaPart)[];
  readonly isError: boolean;
  readonly cache: CacheHint | null;
}

/** `text` may be empty if only the sealed form is known. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly text: string;
  readonly seal: Seal | null;
  /** The vendor hides the text (Anthropic's redacted_thinking); only the seal exists. */
  readonly redacted: boolean;
}

interface RefusalPart {
  readonly kind: "refusal";
  readonly text: string;
}

/**
 * Opaque data that only its producer can read: a thinking signature, encrypted reasoning, a thought signature. `account` is the
 * provider id, null if unknown. It is returned to the same dialect and account only.
 */
export interface Seal {
  readonly dialect: DialectId;
  readonly account: string | null;
  readonly data: string;
  /** The vendor's id of the sealed item, if any (a Responses `rs_…`). */
  readonly itemId: string | null;
}

/** The prompt should be cached up to here. */
export interface CacheHint {
  readonly ttl: "5m" | "1h" | null;
}

export interface TurnTool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of the arguments; null if there are none. */
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

/** How much the model should reason: an effort, a budget in tokens, or both. */
export interface ReasoningRequest {
  readonly effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  readonly budgetTokens: number | null;
  /** The caller wants to see the reasoning or a summary. */
  readonly visible: boolean;
}

/** An embedding request in neutral form, built only if the upstream has another API than the caller. null means "not set". */
export interface EmbeddingTurn {
  readonly inputs: readonly EmbeddingInput[];
  readonly dimensions: number | null;
  /** Purpose of the embeddings in Google's words, which has the most: RETRIEVAL_QUERY, CLUSTERING … */
  readonly task: string | null;
  /** Whether long texts are truncated instead of refused. */
  readonly truncate: boolean | null;
}

export interface EmbeddingInput {
  readonly text: string;
  /** Title of a document for retrieval. */
  readonly title: string | null;
}

/** The facts of a request that the writer of its answer needs. */
export interface RequestedEmbedding {
  readonly count: number;
  /** Base64 of little-endian 32-bit floats. */
  readonly base64: boolean;
}

export interface EmbeddingAnswer {
  /** In the order of the inputs. */
  readonly vectors: readonly (readonly number[])[];
  /** null if the upstream reported none. */
  readonly inputTokens: number | null;
}

/**
 * An image request in neutral form: generates from a prompt, or edits `images`. Built only if the upstream has another dialect than the
 * caller. null means "not set".
 */
export interface ImageTurn {
  readonly prompt: string;
  readonly count: number;
  readonly size: ImageSize | null;
  readonly quality: string | null;
  /** `transparent`, `opaque` or `auto`. */
  readonly background: string | null;
  /** `png`, `jpeg` or `webp`. */
  readonly outputFormat: string | null;
  readonly images: readonly ImageMedia[];
  /** Transparent where the first image is to be edited. */
  readonly mask: ImageMedia | null;
  /** The caller wants events: partial images, then the complete one. */
  readonly stream: boolean;
}

/** The facts of a request that the writer of its answer needs. */
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
  /** null if the upstream reported none. */
  readonly usage: Usage | null;
  /** The prompt as rewritten by the upstream. */
  readonly revisedPrompt: string | null;
}

/** Material of a video: first or last frame, or a reference for look and sound. */
export interface VideoMaterial {
  readonly role: "first_frame" | "last_frame" | "reference";
  readonly type: "image" | "video" | "audio";
  /**
   * A public URL, a `data:` URI, `asset://<id>` or `file:<id>`. Once resolved, the ids are the upstream's own: of its library, and of
   * a file in its account.
   */
  readonly url: string;
}

/** A video task in neutral form, with assets resolved for its upstream. */
export interface VideoTurn extends Omit<TaskRequest, "remixOf"> {
  /** Upstream id of the video to remix; length, format and audio stay the same. */
  readonly remixOf?: string;
  readonly material: readonly VideoMaterial[];
  /** A `content` array in the vendor's format, with assets resolved; null if the caller used our own fields. */
  readonly content: readonly unknown[] | null;
  /** Unknown members of the body, which are forwarded. */
  readonly vendorFields: Readonly<Record<string, unknown>>;
  readonly wantsLastFrame: boolean;
}

/** The capabilities of an upstream model. An empty list or null is unknown, so nothing is refused. */
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
