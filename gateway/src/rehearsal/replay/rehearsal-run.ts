import type { RehearsalResult } from "@sluice/contract/console";
import { rehearsedChecksMax } from "@sluice/contract/words";
import { createMemoryCounter } from "#coordination/index.ts";
import type { BudgetPolicy, ConfigSnapshot } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import { type Database, hourMs, pastEntryReader, prunedBefore } from "#storage/in-thread.ts";
import { countsWithin, type RehearsedChanges } from "../change/rehearsed-changes.ts";
import { BoundLimits } from "./bound-limits.ts";
import { Callers } from "./callers.ts";
import { GuardrailReplay } from "./guardrail-replay.ts";
import { Holds } from "./holds.ts";
import { namedResult } from "./named-result.ts";
import { ruleName } from "./refusal.ts";
import { Replay } from "./replay.ts";
import { ReplayClock } from "./replay-clock.ts";
import { Repricing } from "./repricing.ts";
import { Rerouting } from "./rerouting.ts";
import { spentBefore } from "./spent-before.ts";
import { RehearsalTally } from "./tally.ts";

/** A rehearsal as plain values. Times are Unix milliseconds. */
export interface RehearsalOrder {
  readonly from: number;
  /** Excluded. */
  readonly to: number;
  /** The time of the order. */
  readonly now: number;
  /** null: all. */
  readonly workspaceIds: readonly string[] | null;
  readonly changes: RehearsedChanges;
  /** The current configuration. */
  readonly config: Pick<ConfigSnapshot, "workspaces" | "groups" | "models" | "budgetPolicies">;
}

export interface RehearsalProgress {
  readonly entries: number;
  /** 0 to 1. */
  readonly progress: number;
  readonly isOver: boolean;
}

/** Replayed before the period, so that rates and running calls are right when it begins. Spending is read up to a whole hour. */
const warmUpMs = 600_000;
const pageEntries = 2_000;
/** The captured bodies of a page are checked at once. */
const guardedPageEntries = 25;
/** Limits are often unused for a minute. To create their windows again took a fifth of the time. */
const idleCountersMax = 20_000;

/** One rehearsal, read and replayed page by page. */
export class RehearsalRun {
  readonly #database: Database;
  readonly #order: RehearsalOrder;
  readonly #startMs: number;
  readonly #callers: Callers;
  readonly #repricing: Repricing;
  readonly #tally: RehearsalTally;
  readonly #rerouting: Rerouting;
  readonly #replay: Replay;
  readonly #guardrails: GuardrailReplay;
  readonly #pageEntries: number;
  readonly #admission: Admission | null;
  readonly #pastEntries = pastEntryReader();
  #after: { readonly at: number; readonly id: string } | null = null;
  #entries = 0;
  #hasEntries = true;
  #isOver = false;

  constructor(database: Database, order: RehearsalOrder, checksMax = rehearsedChecksMax) {
    this.#database = database;
    this.#order = order;
    this.#startMs = Math.max(0, Math.floor((order.from - warmUpMs) / hourMs) * hourMs);
    const clock = new ReplayClock(this.#startMs);
    const policies = countablePolicies(order);
    this.#callers = new Callers({ ...order.config, changes: order.changes, policies });
    this.#repricing = new Repricing(order.changes.prices, order.changes.models.values());
    for (const name of changedPolicies(order)) this.#callers.changedRules.add(name);
    this.#tally = new RehearsalTally(this.#callers.changedRules);
    this.#guardrails = new GuardrailReplay({
      guardrails: order.changes.guardrails,
      ...{ span: order, now: order.now, checksMax, workspaces: order.config.workspaces },
      callerOf: (entry) => this.#callers.of(entry),
      unknown: (code, calls) => this.#tally.unknown(code, calls),
    });
    for (const refusal of this.#guardrails.refusals) this.#callers.changedRules.add(ruleName(refusal));
    this.#pageEntries = order.changes.guardrails.length === 0 ? pageEntries : guardedPageEntries;
    const spending = spentBefore(database, this.#startMs);
    const counter = createMemoryCounter({ clock, keepsBudgets: true, idleMax: idleCountersMax });
    this.#admission = BoundLimits.canCount(policies)
      ? null
      : new Admission({ counter, clock, policies: () => policies, spending });
    this.#rerouting = new Rerouting(order.changes.models, order.changes.routes, clock);
    const holds = new Holds(order.config.models, order.changes.models, this.#repricing);
    const { models } = order.changes;
    const { blocked } = this.#guardrails;
    const parts = { callers: this.#callers, repricing: this.#repricing, rerouting: this.#rerouting, holds, blocked };
    const replayed = {
      admission: this.#admission,
      reports: spending.reports,
      clock,
      tally: this.#tally,
      countFrom: order.from,
    };
    this.#replay = new Replay({ ...parts, ...replayed, models });
  }

  /** Replays the next page. */
  async step(): Promise<RehearsalProgress> {
    const { reading } = this.#database;
    const { from, to, workspaceIds, config } = this.#order;
    if (!this.#hasEntries) {
      this.#isOver = !(await this.#guardrails.readRefusals(reading));
      return { entries: this.#entries, progress: 1, isOver: this.#isOver };
    }
    const areMany = workspaceIds !== null && workspaceIds.length > 1 + config.workspaces.size / 10;
    const span = { from: this.#startMs, to, after: this.#after, limit: this.#pageEntries };
    const query = { ...span, workspaceIds, areMany };
    const entries = await this.#pastEntries(reading, query);
    await this.#callers.read(reading, entries);
    await this.#repricing.read(reading, entries);
    await this.#guardrails.read(reading, entries);
    await this.#replay.add(entries);
    this.#entries += entries.length;
    const last = entries.at(-1);
    if (last !== undefined) this.#after = { at: last.at, id: last.attemptId };
    if (entries.length < this.#pageEntries) {
      await this.#replay.finish();
      this.#hasEntries = false;
    }
    const at = Math.max(from, last?.at ?? from);
    const progress = !this.#hasEntries || to <= from ? 1 : (at - from) / (to - from);
    return { entries: this.#entries, progress, isOver: false };
  }

  async result(): Promise<RehearsalResult> {
    const { reading } = this.#database;
    if (this.#order.from < (await prunedBefore(reading))) this.#tally.unknown("entries_deleted", 0);
    if (this.#rerouting.unhealthyCalls > 0) this.#tally.unknown("health_unknown", this.#rerouting.unhealthyCalls);
    this.#admission?.close();
    return await namedResult(reading, { ...this.#tally.result(), ...this.#guardrails.result() });
  }
}

/** Without policies that also count calls of workspaces that are not read. */
function countablePolicies({ workspaceIds, changes, config }: RehearsalOrder): readonly BudgetPolicy[] {
  if (workspaceIds === null) return changes.policies;
  return changes.policies.filter((policy) => countsWithin(policy, workspaceIds, config.groups));
}

/** Names (`ruleName`) of the policies that are new, or that the change sets to other values. */
function changedPolicies({ changes, config: { budgetPolicies } }: RehearsalOrder): readonly string[] {
  const before = new Map(budgetPolicies.map((policy) => [policy.id, JSON.stringify(policy)]));
  return changes.policies
    .filter((policy) => before.get(policy.id) !== JSON.stringify(policy))
    .map(({ id }) => ruleName({ scope: "policy", scopeId: id, limit: "budget" }));
}
