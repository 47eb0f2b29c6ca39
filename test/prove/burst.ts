import type { Script } from "@sluice/simulator";
import { chat } from "../acceptance/chat-call.ts";

export interface BurstOptions {
  /** URLs of the replicas; each client calls them in turn. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly clients: number;
  readonly script: (client: number, call: number) => Script;
  /** Extra fields of each request body. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Whether a client makes call number `call` (from 0) after this many refusals. */
  readonly shouldCall: (call: number, refusals: number) => boolean;
  /** Called with the status of every answer. */
  readonly onAnswer?: (status: number) => void;
}

export interface BurstResult {
  /** Answers by status and, for refusals, code: `200`, `429 rate_limit_exceeded`. */
  readonly answers: ReadonlyMap<string, number>;
  readonly tookMs: number;
}

/** Longer than any call takes; a caller that waits longer has found a bug. */
const callMsMax = 60_000;

/** Runs the clients in parallel; each makes its calls one after the other. */
export async function burst(options: BurstOptions): Promise<BurstResult> {
  const answers = new Map<string, number>();
  const fromMs = performance.now();
  await Promise.all(Array.from({ length: options.clients }, (_, client) => lane(options, client, answers)));
  return { answers, tookMs: Math.round(performance.now() - fromMs) };
}

export function admitted({ answers }: BurstResult): number {
  return answers.get("200") ?? 0;
}

/** Describes each kind of answer that starts with none of the expected prefixes. */
export function unexpectedAnswers({ answers }: BurstResult, ...expected: readonly string[]): readonly string[] {
  return [...answers]
    .filter(([answer]) => !expected.some((prefix) => answer.startsWith(prefix)))
    .map(([answer, count]) => `${count} calls were answered with ${answer}`);
}

async function lane(options: BurstOptions, client: number, answers: Map<string, number>): Promise<void> {
  let refusals = 0;
  for (let call = 0; options.shouldCall(call, refusals); call++) {
    const url = options.urls[(client + call) % options.urls.length] ?? "";
    const answer = await answerOf(url, options, options.script(client, call));
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    if (answer.startsWith("429") || answer.startsWith("402")) refusals += 1;
    options.onAnswer?.(Number.parseInt(answer, 10));
    // While no counter is available, retry slowly instead of in a tight loop.
    if (answer.startsWith("503")) await Bun.sleep(100);
  }
}

async function answerOf(url: string, { key, more = {} }: BurstOptions, script: Script): Promise<string> {
  try {
    const answer = await chat(url, { key, script, more }, AbortSignal.timeout(callMsMax));
    const body = (await answer.json()) as { readonly error?: { readonly code: string | null } };
    return answer.ok ? String(answer.status) : `${answer.status} ${body.error?.code}`;
  } catch (thrown) {
    return String(thrown);
  }
}
