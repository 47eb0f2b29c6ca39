import type { CallerDialect } from "./call-spec.ts";

/** A JSON value that a caller received, and its published vendor type. */
export interface Literal {
  readonly type: VendorType;
  /** Its origin, for error messages. */
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
  | "Interaction"
  | "InteractionEvent"
  | "InteractionError"
  | "ErrorObject"
  | "ErrorResponse"
  | "Model"
  | "ModelPage"
  | "ModelInfo"
  | "ModelInfoPage"
  | "Embeddings";

/** The published types, without fields that an SDK adds itself. */
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
type Interaction = Google.Interactions.Interaction;
type InteractionEvent = Google.Interactions.InteractionSSEEvent;
type InteractionError = { error: { code: string; message: string } };
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

/** On the wire, a response inside an event has no output_text either. */
type WithoutText<T> = T extends { response: OpenAI.Responses.Response }
  ? Omit<T, "response"> & { response: ModelResponse }
  : T;

/** Google's enums are plain strings on the wire. */
type Plain<T> = T extends string
  ? \`\${T}\`
  : T extends (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T;
`;

/** Fields in which answers may differ from the published types, with the reason. They are removed before the check. */
const knownDifferences: readonly KnownDifference[] = [
  {
    why: "OpenAI's types have no field for reasoning; most vendors with this API use this name.",
    types: ["ChatCompletion", "ChatCompletionChunk"],
    drop: (name) => name === "reasoning_content",
  },
  {
    why: "Gemini's chat endpoint returns the signature of a tool call in this field.",
    types: ["ChatCompletion", "ChatCompletionChunk"],
    drop: (name) => name === "extra_content",
  },
  {
    why: "OpenAI sends `store` with every response, and null as the usage of an unfinished one; the types have neither.",
    types: ["ModelResponse", "ResponseStreamEvent"],
    drop: (name, value) => name === "store" || (name === "usage" && value === null),
  },
  {
    why: "On the wire, and in the types of the previous major version, this event contains the function's name.",
    types: ["ResponseStreamEvent"],
    drop: (name, _, holder) => name === "name" && holder["type"] === "response.function_call_arguments.done",
  },
  {
    why: "Sluice describes a model with more than OpenAI's four fields.",
    types: ["Model", "ModelPage"],
    drop: (name) => ["type", "endpoints", "available"].includes(name),
  },
  {
    why: "Open Responses requires the penalties in a response; OpenAI's types do not have them.",
    types: ["ModelResponse", "ResponseStreamEvent"],
    drop: (name, _, holder) => penalties.has(name) && holder["object"] === "response",
  },
  {
    why: "Google documents `object`; the type of a whole interaction omits it.",
    types: ["Interaction"],
    drop: (name, value) => name === "object" && value === "interaction",
  },
  {
    why: "The last event has the errors of the interaction; the type of its interaction has only some members.",
    types: ["InteractionEvent"],
    drop: (name, _, holder) => name === "errors" && holder["object"] === "interaction",
  },
  {
    why: "Results of Azure's content filter, in answers that are forwarded unchanged.",
    types: ["ChatCompletion", "ChatCompletionChunk"],
    drop: (name) => name === "content_filter_results" || name === "prompt_filter_results",
  },
  {
    why: "Bedrock's metrics in the last event, in answers that are forwarded unchanged.",
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

/** The typed values of a recorded answer. Comments and pings contain none. */
export function literalsOf(dialect: CallerDialect, from: string, status: number, body: string): readonly Literal[] {
  if (status >= 400) {
    const json: unknown = JSON.parse(body);
    if (dialect === "messages") return [{ type: "ErrorResponse", from, json }];
    if (dialect === "interactions") return [{ type: "InteractionError", from, json }];
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
  interactions: ["Interaction", "InteractionEvent"],
};

function eventsIn(body: string): readonly unknown[] {
  return body.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith("data:")) return [];
    const data = line.slice(5).trim();
    return data === "[DONE]" ? [] : [JSON.parse(data)];
  });
}

/**
 * The published unions do not include pings and error events; the latter are checked when the SDK throws. Azure's first chunk, which
 * only reports its content filter, has empty strings everywhere.
 */
function isOutside(json: unknown): boolean {
  const { type, error, object } = json as {
    readonly type?: unknown;
    readonly error?: unknown;
    readonly object?: unknown;
  };
  return type === "ping" || (error !== undefined && (type === "error" || type === undefined)) || object === "";
}

/** The value without known differences. */
export function withoutDifferences({ type, json }: Literal): unknown {
  const differences = knownDifferences.filter((difference) => difference.types.includes(type));
  return JSON.parse(JSON.stringify(json), function (this: Readonly<Record<string, unknown>>, name, value: unknown) {
    if (differences.some((difference) => difference.drop(name, value, this))) return undefined;
    if (name === "code" && value === overloadedCode) return "server_error";
    return isBareText(type, value) ? { ...value, citations: null } : value;
  });
}

/** OpenAI's API sends this code in `response.failed`, and Codex reads it; the SDK's type does not list it. */
const overloadedCode = "server_is_overloaded";

/** Anthropic's types require `citations: null` in text without citations; its API omits the field, and clients expect that. */
function isBareText(type: VendorType, value: unknown): value is { readonly type: "text" } {
  if (type !== "Message" && type !== "MessageStreamEvent") return false;
  if (typeof value !== "object" || value === null || !("type" in value) || !("text" in value)) return false;
  return value.type === "text" && !("citations" in value);
}
