import { type KeyCall, type Told, toldBy } from "../../media/key-call.ts";
import { answerEvents } from "../answer-events.ts";
import { noReply, type Reply, type Usage, usageOf, withChunk } from "./reply.ts";

/** Who answered and what it took. Times are milliseconds as this page saw them. */
export interface Served extends Told, Usage {
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
}

interface StreamOptions {
  readonly signal: AbortSignal;
  /** Called when the response starts, so that an interrupted request can be found. */
  readonly onTold: (told: Told) => void;
  readonly onReply: (reply: Reply) => void;
}

/** Sends one chat call and hands on its answer as it grows. Resolves at a clean end; anything else is a Problem. */
export async function streamChat(call: KeyCall, body: object, options: StreamOptions): Promise<Served> {
  const startedMs = performance.now();
  const response = await call.send("/v1/chat/completions", {
    method: "POST",
    signal: options.signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const told = toldBy(response);
  options.onTold(told);
  let firstTokenMs: number | null = null;
  let usage: Usage = { inputTokens: null, outputTokens: null };
  let reply = noReply;
  for await (const chunk of answerEvents(response)) {
    usage = usageOf(chunk) ?? usage;
    const next = withChunk(reply, chunk);
    if (next.text !== "" || next.thinking !== "" || next.toolCalls.length > 0) {
      firstTokenMs ??= performance.now() - startedMs;
    }
    reply = next;
    options.onReply(reply);
  }
  return { ...told, ...usage, firstTokenMs, totalMs: performance.now() - startedMs };
}
