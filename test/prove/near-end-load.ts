import type { TruthRecord } from "@sluice/simulator";
import { chat } from "../acceptance/chat-call.ts";
import { costOf, type Finding, finding, mostWithin, type Stay } from "./proof.ts";
import { pacedKey, pacedRpm, smallBudgets, smallBudgetUsd } from "./prove-config.ts";

const spenders = 4;
const pacers = 3;
const outputMax = 40;
/** Refusals in a row after which the next budget is spent. */
const refusalsEnough = 12;
/** A caller that waits longer calls again. Its first call may still be on its way: the replica may stand still. */
const callMsMax = 30_000;
const windowMs = 60_000;

/** Callers who are at the end of a budget or of a rate all the while: what is granted twice shows at once. */
export class NearEndLoad {
  readonly #urls: readonly string[];
  readonly #between: (least: number, most: number) => number;
  #stopped = false;
  #budget = 0;
  #refusals = 0;
  #calls = 0;

  constructor(urls: readonly string[], between: (least: number, most: number) => number) {
    this.#urls = urls;
    this.#between = between;
  }

  /** Resolves when every caller has ended after `stop`. */
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
    // Who is refused, or finds nobody, asks again soon, and not in a circle.
    while (!this.#stopped) if ((await call()) !== 200) await Bun.sleep(100);
  }

  async #spend(): Promise<number> {
    const budget = smallBudgets[this.#budget % smallBudgets.length] ?? smallBudgets[0];
    if (budget === undefined) throw new Error("there is no budget to be spent");
    const status = await this.#ask(budget.secret, budget.model);
    if (status === 200) this.#refusals = 0;
    if (status === 402 && ++this.#refusals >= refusalsEnough) {
      this.#refusals = 0;
      this.#budget += 1;
    }
    return status;
  }

  /** The status; 0 when no answer came. */
  async #ask(key: string, model: string): Promise<number> {
    const url = this.#urls[this.#between(0, this.#urls.length - 1)] ?? "";
    const script = { tokens: this.#between(outputMax / 2, outputMax), latency_ms: this.#between(50, 250) };
    const requestId = `${++this.#calls} ${Date.now()}`;
    try {
      const asked = { key, model, script, requestId, more: { max_tokens: outputMax } };
      const answer = await chat(url, asked, AbortSignal.timeout(callMsMax));
      await answer.text();
      return answer.status;
    } catch {
      return 0;
    }
  }
}

/** When each paced call was sent and when the upstream first received it: it was admitted in between. */
function pacedStays(truth: readonly TruthRecord[]): readonly Stay[] {
  const stays = new Map<string, Stay>();
  for (const { model, client_request_id = "", received_at } of truth) {
    if (model !== pacedKey.upstream) continue;
    const [call, sentMs] = client_request_id.split(" ");
    if (call === undefined || sentMs === undefined) throw new Error("a paced call does not say when it was sent");
    const untilMs = Math.min(received_at, stays.get(call)?.untilMs ?? received_at);
    stays.set(call, { fromMs: Number(sentMs), untilMs });
  }
  return [...stays.values()];
}

/**
 * Judges what the upstream served of each budget and within each minute. A budget may be exceeded by the calls in flight when it
 * ends, at most one of each caller. A rate may not be exceeded: only calls that were sent and received within one minute count,
 * because the others may have been admitted before it.
 */
export function judgeNearEnd(truth: readonly TruthRecord[]): readonly Finding[] {
  const budget = Math.round(smallBudgetUsd * 1e9);
  const spent = smallBudgets.map(({ upstream }) => {
    const costs = truth.filter(({ model }) => model === upstream).map(costOf);
    return { sum: costs.reduce((sum, cost) => sum + cost, 0), dearest: Math.max(0, ...costs) };
  });
  const ended = spent.filter(({ sum, dearest }) => sum > 0 && sum >= budget - 3 * dearest);
  const most = Math.max(...spent.map(({ sum }) => sum));
  const stays = pacedStays(truth);
  const { most: inMinute, fromMs } = mostWithin(stays, windowMs);
  return [
    finding(
      `budgets of ${budget} nano-USD that end meanwhile`,
      `${ended.length} of ${spent.length} came to their end, ${most} spent at the most`,
      [
        ended.length === 0 ? "no budget came to its end: this proves nothing" : null,
        ...spent.map(({ sum, dearest }, at) =>
          sum > budget + spenders * dearest ? `budget ${at + 1}: ${sum} nano-USD were spent` : null,
        ),
      ],
    ),
    finding(
      `limit of ${pacedRpm} a minute that is reached meanwhile, fail: closed`,
      `${inMinute} within a minute at the most, ${stays.length} in all`,
      [
        inMinute > pacedRpm ? `${inMinute} within the minute from ${new Date(fromMs).toISOString()}` : null,
        inMinute < pacedRpm / 2 ? "not half of the limit was used: this proves nothing" : null,
      ],
    ),
  ];
}
