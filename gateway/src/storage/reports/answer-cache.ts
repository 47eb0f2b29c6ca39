import type { Clock } from "#ports/index.ts";
import type { AskReport, ReportKind } from "./report-answers.ts";

/** An answer that took at least this long is cached for reportKeptTimes times as long, up to the maximum. */
export const reportKeptFromMs = 40;
/** The same for lists of requests, where people expect their latest call. */
const reportListKeptFromMs = 100;
export const reportKeptTimes = 50;
export const reportKeptMsMax = 30_000;
export const reportsKeptMax = 200;
const reportsKeptCharactersMax = 4 * 1024 * 1024;

/** Never cached: spending that limits depend on, and keys and the audit log, which an administrator may have just changed. */
const cachedKinds: ReadonlySet<ReportKind> = new Set([
  "usage",
  "usageRows",
  "usageTags",
  "chargeback",
  "costs",
  "personSpend",
  "modelUsage",
  "deploymentUse",
  "dailySpend",
  "requests",
  "requestTotals",
  "guardrailFindings",
  "sessions",
  "sessionAgents",
  "entryCount",
]);

interface CachedAnswer {
  /** How long the latest reading took, milliseconds. */
  readonly tookMs: number;
  /** JSON, so that callers get copies; null: measured once, not cached yet. */
  readonly json: string | null;
  readonly untilMs: number;
}

/**
 * Caches slow answers for a time in proportion to what they took, so that repeated questions take a bounded part of a core. An answer
 * must be slow twice in a row, because a busy machine slows single ones. The key is the whole question, including the workspace and
 * the person that it is limited to.
 */
export class AnswerCache {
  readonly #ask: AskReport;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #answers = new Map<string, CachedAnswer>();
  #characters = 0;
  #generation = 0;

  constructor(ask: AskReport, clock: Pick<Clock, "monotonic">) {
    this.#ask = ask;
    this.#clock = clock;
  }

  readonly ask: AskReport = async (kind, args) => {
    if (!cachedKinds.has(kind)) return await this.#ask(kind, args);
    const question = JSON.stringify([kind, ...args]);
    const startMs = this.#clock.monotonic();
    const cached = this.#answers.get(question);
    if (cached !== undefined && cached.json !== null && startMs < cached.untilMs) return JSON.parse(cached.json);
    const generation = this.#generation;
    const answer = await this.#ask(kind, args);
    if (generation !== this.#generation) return answer;
    const nowMs = this.#clock.monotonic();
    const tookMs = nowMs - startMs;
    const slowMs = Math.min(tookMs, cached?.tookMs ?? 0);
    const fromMs = kind === "requests" || kind === "sessions" ? reportListKeptFromMs : reportKeptFromMs;
    this.#drop(question);
    if (tookMs < fromMs) return answer;
    const json = slowMs < fromMs ? null : JSON.stringify(answer);
    this.#put(question, { tookMs, json, untilMs: nowMs + Math.min(slowMs * reportKeptTimes, reportKeptMsMax) });
    return answer;
  };

  /** Something that answers refer to has changed. Answers that are being read are not cached. */
  clear(): void {
    this.#generation += 1;
    this.#answers.clear();
    this.#characters = 0;
  }

  #put(question: string, answer: CachedAnswer): void {
    this.#answers.set(question, answer);
    this.#characters += answer.json?.length ?? 0;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= reportsKeptMax && this.#characters <= reportsKeptCharactersMax) return;
      this.#drop(oldest);
    }
  }

  #drop(question: string): void {
    this.#characters -= this.#answers.get(question)?.json?.length ?? 0;
    this.#answers.delete(question);
  }
}
