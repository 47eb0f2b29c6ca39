import type { Budget, LedgerEntry, LimitScope, PriceVersion, Principal, RateLimits, ScopeKind } from "#core/index.ts";
import { type Admission, type Permit, periodStart } from "#limits/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { type AskedCall, askedCall, bodyOf, targetOf } from "./asked-call.ts";
import { budgetsTold } from "./budgets-told.ts";
import {
  type Configured,
  firstConfiguration,
  modelNames,
  openSimulation,
  priceOf,
  type Simulation,
} from "./call-simulation.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { KeptLedger } from "./kept-ledger.ts";
import { seededChance } from "./seeded-chance.ts";

const day = 86_400_000;
const stepMs = 11;
const turnsMax = 6_000;

/** The time of an act that is left out. */
export const leftOut = -1;

/** One thing that happens in a history, by itself: left out of it, the others stay as they are. */
export interface Act {
  readonly atMs: number;
  readonly kind: "call" | "price" | "retry-sent" | "limit" | "jump" | "blind" | "kill";
  readonly seed: number;
}

/** What one call came to, as its caller saw it. Monotonic milliseconds. */
export interface PlayedCall {
  readonly asked: AskedCall;
  readonly startedMs: number;
  endedMs: number | null;
  status: number | null;
  text: string;
  streamed: boolean;
  readError: boolean;
  left: boolean;
  readonly held: readonly HeldBudget[];
  permit: Permit | null;
  /** The process that took it was killed. */
  killed: boolean;
}

/** A budget that stood on a call when it was admitted. */
export interface HeldBudget {
  readonly key: string;
  readonly kind: ScopeKind;
  readonly id: string;
  readonly start: number;
  readonly period: Budget["period"];
  readonly limit: number;
}

export function actsOf(seed: number): readonly Act[] {
  const chance = seededChance(seed);
  const at = (kind: Act["kind"], withinMs: number): Act => ({
    atMs: Math.floor(chance.unit() * withinMs),
    kind,
    seed: Math.floor(chance.unit() * 2 ** 30),
  });
  const acts = Array.from({ length: 10 + Math.floor(chance.unit() * 12) }, () => at("call", 2_500));
  for (const kind of ["price", "price", "retry-sent", "limit", "limit", "limit", "jump", "blind"] as const) {
    if (chance.unit() < (kind === "blind" ? 0.15 : 0.6)) acts.push(at(kind, 3_000));
  }
  if (chance.unit() < 0.5) acts.push(at("retry-sent", 1));
  while (chance.unit() < 0.4) acts.push(at("limit", 1));
  if (chance.unit() < 0.35) acts.push(at("kill", 4_000));
  return acts.toSorted((one, other) => one.atMs - other.atMs);
}

/** A few seconds of a gateway's life; the same for the same acts. */
export class CallHistory {
  readonly clock = new FakeClock(Date.UTC(2026, 4, 28, 20));
  readonly ledger = new KeptLedger([]);
  readonly simulations: Simulation[] = [];
  readonly calls: PlayedCall[] = [];
  readonly problems: string[] = [];
  readonly prices = new Map<string, PriceVersion>();
  /** Every entry that was told of, refusals too. */
  readonly told: LedgerEntry[] = [];
  /** What was sent and may have been done could be sent again, at some time. */
  sendsAgain = false;
  readonly #chance = seededChance(7);
  readonly #budgets = new Map<string, Budget | null>();
  readonly #limits = new Map<string, RateLimits>();
  readonly #asking = new WeakMap<readonly LimitScope[], PlayedCall>();
  #configured: Configured = firstConfiguration();
  #count = 0;
  #turn = 0;
  #running = 0;
  #killAsked = false;
  #simulation: Simulation;

  constructor() {
    for (const price of this.#configured.prices.values()) this.#knows(price);
    for (const scope of scopeIds) this.#budgets.set(scope, null);
    this.#simulation = this.#open();
  }

  get simulation(): Simulation {
    return this.#simulation;
  }

  async play(acts: readonly Act[]): Promise<void> {
    // Numbered as in the whole history, also where some are left out.
    acts.forEach((act, index) => {
      if (act.atMs !== leftOut) this.clock.after(act.atMs, () => this.#do(act, index));
    });
    const last = Math.max(0, ...acts.map(({ atMs }) => atMs)) + stepMs;
    await this.#until(() => this.clock.monotonic() > last);
    this.#simulation.journal.down = false;
    await this.#until(
      () => this.#running === 0 && this.#simulation.outstanding() === 0 && this.#simulation.journal.lag === 0,
    );
    // What a clock of its own would still bring: late answers, the rest of streams that are drained.
    const rest = this.clock.monotonic() + 7_000;
    await this.#until(() => this.clock.monotonic() > rest);
  }

  /** What each budget in force says that it has used, and what the ledger says. */
  async limitUsages() {
    const { admission, steady } = this.#simulation;
    const principals = [1, 2].map((n) => this.#principal(n));
    return budgetsTold(admission, principals, steady.now(), (told) => this.#until(told));
  }

  #do({ kind, seed }: Act, index: number): void {
    const chance = seededChance(seed);
    switch (kind) {
      case "call":
        void this.#call(askedCall(index, seed));
        return;
      case "price": {
        const model = modelNames[Math.floor(chance.unit() * modelNames.length)] as string;
        const price = priceOf(model, index + 1, 1 + chance.unit());
        this.#knows(price);
        this.#configure({ ...this.#configured, prices: new Map([...this.#configured.prices, [model, price]]) });
        return;
      }
      case "retry-sent":
        this.#configure({ ...this.#configured, retrySent: !this.#configured.retrySent });
        return;
      case "limit":
        this.#limit(chance.unit(), chance.unit(), chance.unit());
        return;
      case "jump":
        this.clock.jump((chance.unit() < 0.5 ? 1 : -1) * (chance.unit() < 0.5 ? 31 : 2) * day);
        return;
      case "blind":
        this.#simulation.journal.down = true;
        return;
      case "kill":
        this.#killAsked = true;
    }
  }

  #limit(which: number, what: number, much: number): void {
    const id = scopeIds[Math.floor(which * scopeIds.length)] as string;
    if (what < 0.2) this.#budgets.set(id, null);
    else if (what < 0.8) {
      const period = (["day", "week", "month", "total"] as const)[Math.floor(what * 97) % 4] ?? "day";
      this.#budgets.set(id, { nanoUsd: 5_000_000 + Math.floor(much ** 2 * 60_000_000), period });
    } else this.#limits.set(id, { rpm: 3 + Math.floor(much * 20), concurrency: 2 + Math.floor(much * 6) });
  }

  async #call(asked: AskedCall): Promise<void> {
    const simulation = this.#simulation;
    const principal = this.#principal(asked.key);
    const played: PlayedCall = {
      asked,
      startedMs: this.clock.monotonic(),
      endedMs: null,
      status: null,
      text: "",
      streamed: false,
      readError: false,
      left: false,
      held: this.#heldBy(principal, simulation),
      permit: null,
      killed: false,
    };
    this.calls.push(played);
    this.#asking.set(principal.scopes, played);
    const leaving = new AbortController();
    let stopReading = (): void => {};
    if (asked.leavesMs !== null) {
      this.clock.after(asked.leavesMs, () => {
        if (played.endedMs !== null || simulation.killed) return;
        played.left = true;
        leaving.abort();
        stopReading();
      });
    }
    this.#running++;
    const response = await simulation.call({
      principal,
      request: new Request("http://gateway.test/v1", {
        method: "POST",
        headers: { host: "gateway.test", "content-type": "application/json", "anthropic-version": "2023-06-01" },
        body: bodyOf(asked),
        signal: leaving.signal,
      }),
      target: targetOf(asked),
      ip: "127.0.0.1",
      tags: { call: String(asked.number) },
    });
    played.status = response.status;
    played.streamed = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const reader = response.body?.getReader();
    stopReading = () => void reader?.cancel().catch(() => {});
    if (leaving.signal.aborted) stopReading();
    try {
      for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
        played.text += new TextDecoder().decode(piece.value);
        if (asked.pausesMs > 0) await this.#pause(asked.pausesMs);
      }
    } catch {
      played.readError = true;
    }
    if (simulation.killed) return;
    played.endedMs = this.clock.monotonic();
    this.#running--;
  }

  #open(): Simulation {
    const simulation = openSimulation({
      ledger: this.ledger,
      clock: this.clock,
      chance: this.#chance,
      ids: { next: (prefix) => `${prefix}${String(++this.#count).padStart(6, "0")}` },
      turn: () => this.#turn,
      configured: this.#configured,
      problem: (words) => this.problems.push(words),
      ended: (entry) => this.told.push(entry),
      watched: (admission) => this.#watched(admission),
    });
    this.simulations.push(simulation);
    return simulation;
  }

  /** Notes what each call holds. */
  #watched(admission: Admission): Admission {
    return new Proxy(admission, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (name !== "admit") return typeof member === "function" ? member.bind(target) : member;
        return async (principal: Principal, estimate: Parameters<Admission["admit"]>[1]): Promise<Permit> => {
          const permit = await target.admit(principal, estimate);
          const played = this.#asking.get(principal.scopes);
          if (played !== undefined) played.permit = permit;
          return permit;
        };
      },
    });
  }

  #heldBy({ scopes }: Principal, simulation: Simulation): readonly HeldBudget[] {
    const now = simulation.steady.now();
    return scopes.flatMap(({ kind, id, budget }) => {
      if (budget === null) return [];
      const start = periodStart(budget.period, now);
      const { period, nanoUsd: limit } = budget;
      return [{ key: `${id} ${period} ${start}`, kind, id, period, start, limit }];
    });
  }

  #principal(n: number): Principal {
    const made = governedPrincipal({});
    const scope = (of: LimitScope, id: string): LimitScope => ({
      ...of,
      id,
      budget: this.#budgets.get(id) ?? null,
      limits: this.#limits.get(id) ?? {},
    });
    const [workspace, group, key] = [
      scope(made.workspace.scope, "ws_1"),
      scope(made.group.scope, "grp_1"),
      scope(made.key.scope, `key_${n}`),
    ];
    return {
      workspace: { ...made.workspace, scope: workspace },
      group: { ...made.group, scope: group },
      key: { ...made.key, id: `key_${n}`, scope: key },
      person: null,
      scopes: [workspace, group, key],
    };
  }

  #configure(configured: Configured): void {
    this.#configured = configured;
    this.sendsAgain ||= configured.retrySent;
    this.#simulation.configure(configured);
  }

  #knows(price: PriceVersion): void {
    this.prices.set(price.id, price);
    this.ledger.knows(price);
  }

  /** What is in memory is gone, the journal stays, and the next process recovers before it takes calls. */
  async #kill(): Promise<void> {
    this.#simulation.kill();
    for (const call of this.calls) if (call.endedMs === null) call.killed = true;
    this.#running = 0;
    await this.ledger.recover();
    this.#simulation = this.#open();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }

  async #until(done: () => boolean): Promise<void> {
    for (let turn = 0; !done(); turn++) {
      if (turn > turnsMax) {
        throw new Error(`${this.#running} calls never end, ${this.#simulation.outstanding()} places are held`);
      }
      await new Promise((resolve) => setImmediate(resolve));
      this.#turn++;
      this.clock.advance(stepMs);
      if (this.#killAsked) {
        this.#killAsked = false;
        await this.#kill();
      }
    }
  }
}

const scopeIds = ["ws_1", "grp_1", "key_1", "key_2"] as const;
