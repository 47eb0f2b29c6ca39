import { bounds, type UpstreamObjectKind } from "#core/index.ts";
import type { ServerToolUse } from "./reading.ts";

/**
 * Costs that a request's body does not show, and how each is bounded before the call: objects that
 * the vendor keeps by kind, media at an address by member, and the vendor's own tools by type.
 * record    by the tokens of the object's own record (what it was made with), else by the model's context window
 * picture   by the tokens of the largest picture
 * window    by the model's context window
 * nothing   it is not input: the tool that reads it is bounded instead, or nothing reads it
 * docs/limits.md lists what a row does not bound, under "Reservations".
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

export interface HostedTool {
  /** Its `type`, or in Gemini's dialect the name of a member. */
  readonly type: RegExp;
  /** The name in docs/limits.md. */
  readonly title: string;
  /** The usage class of its calls. Null: calls are free. */
  readonly counted: keyof ServerToolUse | null;
  /** Assumed if the request does not limit them. */
  readonly calls: number;
  /** Input tokens of each call. */
  readonly tokens: number;
  readonly pictures?: number;
}

const { serverToolCallsAssumed: calls } = bounds;

export const searchTool: HostedTool = {
  type: /^(?:\w+:)?(?:web_?search|google_?search|enterprise_?web_?search|exa_?ai_?search|parallel_?ai_?search|x_search|live_search)/i,
  title: "web search",
  counted: "webSearches",
  calls,
  tokens: 8_000,
};

export const hostedTools: readonly HostedTool[] = [
  searchTool,
  {
    type: /^(?:\w+:)?(?:web_?fetch|url_?context)/i,
    title: "web fetch",
    counted: null,
    calls,
    tokens: 10_000,
  },
  {
    type: /^(?:file_?search|collections_search|retrieval)/i,
    title: "search of files or of a data store",
    counted: "fileSearches",
    calls,
    tokens: 8_000,
  },
  {
    type: /^code_?(?:interpreter|execution)/i,
    title: "code in a container",
    // Priced by the container; a call has one.
    counted: "codeSessions",
    calls: 1,
    tokens: 20_000,
  },
  {
    type: /^(?:shell$|programmatic_tool_calling)/i,
    title: "a shell, or a program that calls tools",
    counted: null,
    calls: 1,
    tokens: 20_000,
  },
  { type: /^mcp/i, title: "an MCP server", counted: null, calls, tokens: 4_000 },
  { type: /^google_?maps/i, title: "maps", counted: "mapSearches", calls: 1, tokens: 4_000 },
  { type: /^image_?gen/i, title: "image generation", counted: null, calls: 1, tokens: 2_000, pictures: 1 },
];

/** Gemini's tools are members of one object and may be spelled in camelCase or snake_case. */
export const geminiTools: ReadonlySet<string> = new Set(
  [
    ...["googleSearch", "googleSearchRetrieval", "enterpriseWebSearch", "exaAiSearch", "parallelAiSearch"],
    ...["fileSearch", "retrieval", "urlContext", "codeExecution", "googleMaps", "mcpServers"],
  ].flatMap((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
);
