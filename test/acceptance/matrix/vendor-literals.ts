import type { CallerDialect } from "./ask.ts";

/** One JSON value that a caller got, and the type that its vendor has published for it. */
export interface Literal {
  readonly type: VendorType;
  /** Where it came from, for the one who reads a fault. */
  readonly from: string;
  readonly json: unknown;
}

/** Names in `vendorImports`. */
export type VendorType =
  | "ChatCompletion"
  | "ChatCompletionChunk"
  | "ModelResponse"
  | "ResponseStreamEvent"
  | "Message"
  | "MessageStreamEvent"
  | "MessageTokensCount"
  | "GenerateContentResponse"
  | "ErrorObject"
  | "ErrorResponse"
  | "Model"
  | "ModelPage"
  | "ModelInfo"
  | "ModelInfoPage"
  | "Embeddings";

/** The published types, with the members left out that an SDK adds on its own side. */
export const vendorImports = `
import type OpenAI from "openai";
import type Anthropic from "@anthropic-ai/sdk";
import type * as Google from "@google/genai";

type ChatCompletion = OpenAI.Chat.ChatCompletion;
type ChatCompletionChunk = OpenAI.Chat.ChatCompletionChunk;
type ModelResponse = Omit<OpenAI.Responses.Response, "output_text">;
type ResponseStreamEvent = WithoutText<OpenAI.Responses.ResponseStreamEvent>;
type Message = Anthropic.Message;
type MessageStreamEvent = Anthropic.RawMessageStreamEvent;
type MessageTokensCount = Anthropic.MessageTokensCount;
type ErrorResponse = Anthropic.ErrorResponse;
type GenerateContentResponse = Plain<Pick<Google.GenerateContentResponse, GeminiMembers>>;
type GeminiMembers =
  | "candidates"
  | "createTime"
  | "modelStatus"
  | "modelVersion"
  | "promptFeedback"
  | "responseId"
  | "usageMetadata";
type ErrorObject = { error: OpenAI.ErrorObject };
type Model = OpenAI.Model;
type ModelPage = { object: "list"; data: Model[] };
type ModelInfo = Anthropic.ModelInfo;
type ModelInfoPage = { data: ModelInfo[]; has_more: boolean; first_id: string | null; last_id: string | null };
type Embeddings = OpenAI.CreateEmbeddingResponse;

/** A response inside an event has no output_text on the wire either. */
type WithoutText<T> = T extends { response: OpenAI.Responses.Response }
  ? Omit<T, "response"> & { response: ModelResponse }
  : T;

/** The enums of Google's types are plain texts on the wire. */
type Plain<T> = T extends string
  ? \`\${T}\`
  : T extends (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T;
`;

/** Where answers may differ from the published types, and why. What is named is taken out before the check. */
const knownDifferences: readonly KnownDifference[] = [
  {
    why: "What is thought has no member in OpenAI's types; most vendors of the dialect call it so.",
    types: ["ChatCompletion", "ChatCompletionChunk"],
    drop: (name) => name === "reasoning_content",
  },
  {
    why: "How Gemini's own chat endpoint carries the signature of a call.",
    types: ["ChatCompletion", "ChatCompletionChunk"],
    drop: (name) => name === "extra_content",
  },
  {
    why: "OpenAI sends `store` with every response, and null as the usage of one that is not over; the types leave both out.",
    types: ["ModelResponse", "ResponseStreamEvent"],
    drop: (name, value) => name === "store" || (name === "usage" && value === null),
  },
  {
    why: "The name of the called function stands in this event on the wire and in the types of the major before.",
    types: ["ResponseStreamEvent"],
    drop: (name, _, holder) => name === "name" && holder["type"] === "response.function_call_arguments.done",
  },
  {
    why: "What Sluice tells of a model beyond OpenAI's four members.",
    types: ["Model", "ModelPage"],
    drop: (name) => ["type", "endpoints", "available"].includes(name),
  },
  {
    why: "Open Responses requires the penalties in a response; OpenAI's own types do not know them.",
    types: ["ModelResponse", "ResponseStreamEvent"],
    drop: (name, _, holder) => penalties.has(name) && holder["object"] === "response",
  },
  {
    why: "What Azure's content filter found, in bytes that pass unchanged.",
    types: ["ChatCompletion", "ChatCompletionChunk"],
    drop: (name) => name === "content_filter_results" || name === "prompt_filter_results",
  },
  {
    why: "Bedrock's own count in the last event, in bytes that pass unchanged.",
    types: ["MessageStreamEvent"],
    drop: (name) => name === "amazon-bedrock-invocationMetrics",
  },
];

const penalties: ReadonlySet<string> = new Set(["frequency_penalty", "presence_penalty"]);

interface KnownDifference {
  readonly why: string;
  readonly types: readonly VendorType[];
  readonly drop: (name: string, value: unknown, holder: Readonly<Record<string, unknown>>) => boolean;
}

/** What a taped answer of a caller consists of. Comments and pings are no values. */
export function literalsOf(dialect: CallerDialect, from: string, status: number, body: string): readonly Literal[] {
  if (status >= 400) {
    const json: unknown = JSON.parse(body);
    if (dialect === "messages") return [{ type: "ErrorResponse", from, json }];
    return dialect === "generate" ? [] : [{ type: "ErrorObject", from, json }];
  }
  const [whole, event] = answerTypes[dialect];
  if (body.trimStart().startsWith("{")) return [{ type: whole, from, json: JSON.parse(body) }];
  return eventsIn(body).flatMap((json) => (isOutside(json) ? [] : [{ type: event, from, json }]));
}

const answerTypes: Readonly<Record<CallerDialect, readonly [VendorType, VendorType]>> = {
  chat: ["ChatCompletion", "ChatCompletionChunk"],
  responses: ["ModelResponse", "ResponseStreamEvent"],
  messages: ["Message", "MessageStreamEvent"],
  generate: ["GenerateContentResponse", "GenerateContentResponse"],
};

function eventsIn(body: string): readonly unknown[] {
  return body.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith("data:")) return [];
    const data = line.slice(5).trim();
    return data === "[DONE]" ? [] : [JSON.parse(data)];
  });
}

/**
 * Pings and error events are no part of the published unions of events; the SDKs' own throwing checks the latter. The
 * first chunk of Azure, which tells of its content filter alone, has empty texts everywhere.
 */
function isOutside(json: unknown): boolean {
  const { type, error, object } = json as {
    readonly type?: unknown;
    readonly error?: unknown;
    readonly object?: unknown;
  };
  return type === "ping" || (error !== undefined && (type === "error" || type === undefined)) || object === "";
}

/** The value without what is known to differ. */
export function withoutDifferences({ type, json }: Literal): unknown {
  const known = knownDifferences.filter((one) => one.types.includes(type));
  return JSON.parse(JSON.stringify(json), function (this: Readonly<Record<string, unknown>>, name, value: unknown) {
    if (known.some((one) => one.drop(name, value, this))) return undefined;
    if (name === "code" && value === overloadedCode) return "server_error";
    return isBareText(type, value) ? { ...value, citations: null } : value;
  });
}

/** OpenAI's API sends it in `response.failed`, and Codex reads it; the SDK's type does not list it. */
const overloadedCode = "server_is_overloaded";

/** Anthropic's types want `citations: null` of a text without any; its API leaves the member out, and clients are made for that. */
function isBareText(type: VendorType, value: unknown): value is { readonly type: "text" } {
  if (type !== "Message" && type !== "MessageStreamEvent") return false;
  if (typeof value !== "object" || value === null || !("type" in value) || !("text" in value)) return false;
  return value.type === "text" && !("citations" in value);
}
