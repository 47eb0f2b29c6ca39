import type { TruthRecord } from "@sluice/simulator";
import { chat } from "../acceptance/chat-call.ts";
import { costOf, type Finding, finding, type Interval, mostWithin } from "./proof.ts";
import { pacedKey, pacedRpm, smallBudgets, smallBudgetUsd } from "./prove-config.ts";

const spenders = 4;
const pacers = 3;
const outputMax = 40;
/** After this many refusals in a row, spend the next budget. */
const refusalsEnough = 12;
/** A caller gives up after this time and calls again. Its first call may still be running, because the replica may be stopped. */
const callMsMax = 30_000;
const windowMs = 60_000;

/** Callers that are always at the limit of a budget or a rate, so that anything granted twice shows at once. */
export class NearEndLoad {
  readonly #urls: readonly string[];
  readonly #between: (min: number, max: number) => number;
  #stopped = false;
  #budget = 0;
  #refusals = 0;
  #calls = 0;

  constructor(urls: readonly string[], between: (min: number, max: number) => number) {
    this.#urls = urls;
    this.#between = between;
  }

  /** Resolves when every caller has stopped, after `stop` was called. */
  async run(): Promise<void> {
    await Promise.all([
      ...Array.from({ length: spenders }, () => this.#client(() => this.#spend())),
      ...Array.from({ length: pacers }, () => this.#client(() => this.#ask(pacedKey.secret, pacedKey.model))),
    ]);
  }

  stop(): void {
    this.#stopped = true;
  }

  async #client(call: () => Promise<number>): Promise<void> {
    // After a refusal or an error, retry slowly instead of in a tight loop.
    while (!this.#stopped) if ((await call()) !== 200) await Bun.sleep(100);
  }

  async #spend(): Promise<number> {
    const budget = smallBudgets[this.#budget % smallBudgets.length] ?? smallBudgets[0];
    if (budget === undefined) throw new Error("no budget is configured");
    const status = await this.#ask(budget.secret, budget.model);
    if (status === 200) this.#refusals = 0;
    if (status === 402 && ++this.#refusals >= refusalsEnough) {
      this.#refusals = 0;
      this.#budget += 1;
    }
    return status;
  }

  /** The status of the answer, or 0 if there was none. */
  async #ask(key: string, model: string): Promise<number> {
    const url = this.#urls[this.#between(0, this.#urls.length - 1)] ?? "";
    const script = { tokens: this.#between(outputMax / 2, outputMax), latency_ms: this.#between(50, 250) };
    const requestId = `${++this.#calls} ${Date.now()}`;
    try {
      const call = { key, model, script, requestId, more: { max_tokens: outputMax } };
      const answer = await chat(url, call, AbortSignal.timeout(callMsMax));
      await answer.text();
      return answer.status;
    } catch {
      return 0;
    }
  }
}

/** When each paced call was sent and when the upstream first received it; it was admitted between these two times. */
function pacedIntervals(truth: readonly TruthRecord[]): readonly Interval[] {
  const intervals = new Map<string, Interval>();
  for (const { model, client_request_id = "", received_at } of truth) {
    if (model !== pacedKey.upstream) continue;
    const [call, sentMs] = client_request_id.split(" ");
    if (call === undefined || sentMs === undefined) throw new Error("the request id of a paced call has no time");
    const untilMs = Math.min(received_at, intervals.get(call)?.untilMs ?? received_at);
    intervals.set(call, { fromMs: Number(sentMs), untilMs });
  }
  return [...intervals.values()];
}

/**
 * Checks what the upstream served from each budget and within each minute. Calls in flight when a budget runs out may exceed it,
 * at most one per caller. A rate may not be exceeded: only calls that were both sent and received within one minute count, because
 * others may have been admitted before it.
 */
export function judgeNearEnd(truth: readonly TruthRecord[]): readonly Finding[] {
  const budget = Math.round(smallBudgetUsd * 1e9);
  const spent = smallBudgets.map(({ upstream }) => {
    const costs = truth.filter(({ model }) => model === upstream).map(costOf);
    return { sum: costs.reduce((sum, cost) => sum + cost, 0), mostExpensive: Math.max(0, ...costs) };
  });
  const ended = spent.filter(({ sum, mostExpensive }) => sum > 0 && sum >= budget - 3 * mostExpensive);
  const most = Math.max(...spent.map(({ sum }) => sum));
  const intervals = pacedIntervals(truth);
  const { most: inMinute, fromMs } = mostWithin(intervals, windowMs);
  return [
    finding(
      `budgets of ${budget} nano-USD that run out meanwhile`,
      `${ended.length} of ${spent.length} ran out, at most ${most} spent`,
      [
        ended.length === 0 ? "no budget ran out, so this proves nothing" : null,
        ...spent.map(({ sum, mostExpensive }, at) =>
          sum > budget + spenders * mostExpensive ? `budget ${at + 1}: ${sum} nano-USD spent` : null,
        ),
      ],
    ),
    finding(
      `limit of ${pacedRpm} per minute, reached meanwhile, fail: closed`,
      `at most ${inMinute} within a minute, ${intervals.length} in total`,
      [
        inMinute > pacedRpm ? `${inMinute} within the minute from ${new Date(fromMs).toISOString()}` : null,
        inMinute < pacedRpm / 2 ? "less than half of the limit was used, so this proves nothing" : null,
      ],
    ),
  ];
}
