import { bounds, type UpstreamObjectKind } from "#core/index.ts";
import type { ServerToolUse } from "./server-tools.ts";

/**
 * Everything in a request that costs something which its body does not show, and how that is bounded before the call: objects that
 * the vendor keeps by kind, media at an address by member, and the vendor's own tools by type.
 * record    by the tokens of the object's own record (what it was made with), else by the model's context window
 * picture   by the tokens of the largest picture
 * window    by the model's context window
 * nothing   it is no input by itself: a tool that reads it is held, or it is used without being read
 * What a row does not bound stands in docs/operations.md, under "What a call holds".
 */
export type UnseenBound = "record" | "picture" | "window" | "nothing";

export const objectBounds: Readonly<Record<UpstreamObjectKind, UnseenBound>> = {
  response: "record",
  item: "record",
  thread_message: "record",
  interaction: "record",
  conversation: "record",
  prompt: "record",
  cache: "record",
  file: "record",
  other: "record",
  container: "nothing",
  skill: "nothing",
  vector_store: "nothing",
  resource: "nothing",
};

export const addressBounds: Readonly<Record<string, UnseenBound>> = {
  image_url: "picture",
  file_url: "window",
  document_url: "window",
  video_url: "window",
  audio_url: "window",
  fileUri: "window",
  file_uri: "window",
};

/** A tool that the upstream runs by itself. */
export interface HostedTool {
  /** What it is declared with: its `type`, or in Gemini's dialect the name of its one member. */
  readonly type: RegExp;
  /** The class that its calls are counted in; null: they cost nothing by themselves. */
  readonly counted: keyof ServerToolUse | null;
  /** Calls that are assumed where the request does not say how many there may be. */
  readonly calls: number;
  /** Input that each call brings, in tokens. */
  readonly tokens: number;
  /** Pictures that it draws. */
  readonly pictures?: number;
}

const { serverToolCallsAssumed: calls } = bounds;

export const searchTool: HostedTool = {
  type: /^(?:web_?search|google_?search|x_search|live_search)/i,
  counted: "webSearches",
  calls,
  tokens: 8_000,
};

export const hostedTools: readonly HostedTool[] = [
  searchTool,
  { type: /^(?:web_?fetch|url_?context)/i, counted: null, calls, tokens: 10_000 },
  { type: /^file_?search/i, counted: "fileSearches", calls, tokens: 8_000 },
  // Priced by the container, which one call has one of.
  { type: /^code_?(?:interpreter|execution)/i, counted: "codeSessions", calls: 1, tokens: 20_000 },
  { type: /^shell$/i, counted: null, calls: 1, tokens: 20_000 },
  { type: /^mcp/i, counted: null, calls, tokens: 4_000 },
  { type: /^google_?maps/i, counted: "mapSearches", calls: 1, tokens: 4_000 },
  { type: /^image_?gen/i, counted: null, calls: 1, tokens: 2_000, pictures: 1 },
];
