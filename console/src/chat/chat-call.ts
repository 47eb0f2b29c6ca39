import { bearer, send } from "../client/call.ts";
import { Problem, problemOfBody } from "../client/problem.ts";
import { readEvents } from "./event-reader.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** Who answered and what it took. Times are milliseconds as this page saw them. */
export interface Served {
  readonly requestId: string | null;
  readonly provider: string | null;
  readonly deployment: string | null;
  readonly attempts: number | null;
  readonly overheadMs: number | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export interface ChatCall {
  readonly key: string;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
  readonly onText: (piece: string) => void;
}

export function chatBody(model: string, messages: readonly Message[]): object {
  return { model, stream: true, stream_options: { include_usage: true }, messages };
}

/** Sends one chat call and hands on its text as it arrives. Resolves at a clean end; anything else is a Problem. */
export async function streamChat(call: ChatCall): Promise<Served> {
  const startedMs = performance.now();
  const response = await send("/v1/chat/completions", {
    method: "POST",
    signal: call.signal,
    headers: { ...bearer(call.key), "content-type": "application/json" },
    body: JSON.stringify(chatBody(call.model, call.messages)),
  });
  const requestId = response.headers.get("x-request-id");
  const number = (name: string) => numberOrNull(response.headers.get(name));
  let firstTokenMs: number | null = null;
  let usage: Chunk["usage"] = null;
  let whole = false;
  if (response.body === null) throw new Problem("upstream_truncated", "The answer had no body.", requestId);
  for await (const event of readEvents(response.body)) {
    if (event === "[DONE]") {
      whole = true;
      break;
    }
    const chunk = parse(event, requestId);
    const failed = problemOfBody(chunk, requestId);
    if (failed !== null) throw failed;
    const piece = chunk.choices?.[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
    if (piece === "") continue;
    firstTokenMs ??= performance.now() - startedMs;
    call.onText(piece);
  }
  if (!whole) throw new Problem("upstream_truncated", "The answer broke off before its end.", requestId);
  return {
    requestId,
    provider: response.headers.get("x-sluice-provider"),
    deployment: response.headers.get("x-sluice-deployment"),
    attempts: number("x-sluice-attempts"),
    overheadMs: number("x-sluice-overhead-ms"),
    firstTokenMs,
    totalMs: performance.now() - startedMs,
    inputTokens: usage?.prompt_tokens ?? null,
    outputTokens: usage?.completion_tokens ?? null,
  };
}

/** What is read of a chunk; vendors leave any of it out. */
interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
}

function parse(event: string, requestId: string | null): Chunk {
  try {
    const value: unknown = JSON.parse(event);
    return value !== null && typeof value === "object" ? value : {};
  } catch {
    throw new Problem("upstream_error", "A piece of the answer could not be read.", requestId);
  }
}

function numberOrNull(text: string | null): number | null {
  const value = text === null || text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
