import type { CallInfo, KeyCall } from "../../media/key-call.ts";
import { callInfoOf } from "../../media/key-call.ts";
import { answerEvents } from "../answer-events.ts";

export interface CompletionDraft {
  readonly prompt: string;
  /** The text after the gap. */
  readonly suffix: string;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
}

export const plainCompletion: CompletionDraft = { prompt: "", suffix: "", maxTokens: null, temperature: null };

export interface Completed {
  readonly prompt: string;
  readonly text: string;
  readonly suffix: string;
  /** The upstream's finish reason. */
  readonly finish: string | null;
  readonly info: CallInfo;
  readonly firstTokenMs: number | null;
  readonly totalMs: number | null;
}

export function completionBody(model: string, { prompt, suffix, maxTokens, temperature }: CompletionDraft) {
  return {
    model,
    prompt,
    ...(suffix === "" ? {} : { suffix }),
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(temperature === null ? {} : { temperature }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Completes a prompt and reports the text as it grows. */
export async function complete(
  call: KeyCall,
  body: ReturnType<typeof completionBody>,
  { signal, show }: { readonly signal: AbortSignal; readonly show: (part: Completed) => void },
): Promise<Completed> {
  const startedMs = performance.now();
  const response = await call.send("/v1/completions", {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { prompt, suffix = "" } = body;
  let sofar: Completed = {
    ...{ prompt, suffix, text: "", finish: null },
    ...{ info: callInfoOf(response), firstTokenMs: null, totalMs: null },
  };
  for await (const chunk of answerEvents(response)) {
    const { text, finish } = pieceOf(chunk);
    const firstTokenMs = sofar.firstTokenMs ?? (text === "" ? null : performance.now() - startedMs);
    sofar = { ...sofar, text: sofar.text + text, finish: finish ?? sofar.finish, firstTokenMs };
    show(sofar);
  }
  return { ...sofar, totalMs: performance.now() - startedMs };
}

export function pieceOf(chunk: unknown): { readonly text: string; readonly finish: string | null } {
  const choices = chunk !== null && typeof chunk === "object" ? Reflect.get(chunk, "choices") : null;
  const choice: { text?: unknown; finish_reason?: unknown } | null = Array.isArray(choices) ? choices[0] : null;
  const { text, finish_reason: finish } = choice ?? {};
  return { text: typeof text === "string" ? text : "", finish: typeof finish === "string" ? finish : null };
}
