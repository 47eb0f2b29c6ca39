import { type CallInfo, callInfoOf, type KeyCall } from "../../media/key-call.ts";
import { answerEvents } from "../answer-events.ts";
import { noReply, type Reply, type Usage, usageOf, withChunk } from "./reply.ts";

/** Provider, usage and times of a response. Times are milliseconds as measured in this page. */
export interface Served extends CallInfo, Usage {
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
}

interface StreamOptions {
  readonly signal: AbortSignal;
  /** Called when the response starts, so that an interrupted request can be found. */
  readonly onInfo: (told: CallInfo) => void;
  readonly onReply: (reply: Reply) => void;
}

/** Sends one chat call and reports its reply as it grows. Resolves when it is complete; otherwise throws a Problem. */
export async function streamChat(call: KeyCall, body: object, options: StreamOptions): Promise<Served> {
  const startedMs = performance.now();
  const response = await call.send("/v1/chat/completions", {
    method: "POST",
    signal: options.signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const info = callInfoOf(response);
  options.onInfo(info);
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
  return { ...info, ...usage, firstTokenMs, totalMs: performance.now() - startedMs };
}
