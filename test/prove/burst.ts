import type { Script } from "@sluice/simulator";
import { chat } from "../acceptance/chat-call.ts";

export interface BurstOptions {
  /** Of the replicas; each client's calls go to them in turn. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly clients: number;
  readonly script: (client: number, call: number) => Script;
  /** More members of each body. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Whether a client makes this call (from 0) after those answers. */
  readonly goesOn: (call: number, refusals: number) => boolean;
  /** Told of every answer as it comes. */
  readonly onAnswer?: (status: number) => void;
}

export interface BurstSeen {
  /** Answers by status and, for refusals, code: `200`, `429 rate_limit_exceeded`. */
  readonly answers: ReadonlyMap<string, number>;
  readonly tookMs: number;
}

/** Longer than any call of a burst takes; a caller that waits longer has found a fault. */
const callMsMax = 60_000;

/** Clients side by side, each one call after the other. */
export async function burst(options: BurstOptions): Promise<BurstSeen> {
  const answers = new Map<string, number>();
  const fromMs = performance.now();
  await Promise.all(Array.from({ length: options.clients }, (_, client) => lane(options, client, answers)));
  return { answers, tookMs: Math.round(performance.now() - fromMs) };
}

export function admitted({ answers }: BurstSeen): number {
  return answers.get("200") ?? 0;
}

/** A fault for each kind of answer that begins with none of these. */
export function strangers({ answers }: BurstSeen, ...known: readonly string[]): readonly string[] {
  return [...answers]
    .filter(([answer]) => !known.some((one) => answer.startsWith(one)))
    .map(([answer, count]) => `${count} calls were answered ${answer}`);
}

async function lane(options: BurstOptions, client: number, answers: Map<string, number>): Promise<void> {
  let refusals = 0;
  for (let call = 0; options.goesOn(call, refusals); call++) {
    const url = options.urls[(client + call) % options.urls.length] ?? "";
    const answer = await answerOf(url, options, options.script(client, call));
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    if (answer.startsWith("429") || answer.startsWith("402")) refusals += 1;
    options.onAnswer?.(Number.parseInt(answer, 10));
    // Who is told that nobody can count at present does not ask in a circle.
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
