import {
  type Budget,
  type LedgerEntry,
  type LimitScope,
  type PriceVersion,
  type Principal,
  periodStart,
  type RateLimits,
  type ScopeKind,
} from "#core/index.ts";
import type { Admission, Permit } from "#limits/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { budgetUsage } from "./budget-usage.ts";
import {
  type Configuration,
  firstConfiguration,
  modelNames,
  openSimulation,
  priceOf,
  type Simulation,
} from "./call-simulation.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { PersistentLedger } from "./persistent-ledger.ts";
import { seededChance } from "./seeded-chance.ts";
import { bodyOf, type SimulatedCall, simulatedCall, targetOf } from "./simulated-call.ts";

const day = 86_400_000;
const stepMs = 11;
const turnsMax = 6_000;

/** The time of an event that is left out. */
export const omitted = -1;

/** One event in a history. It can be left out without changing the others. */
export interface HistoryEvent {
  readonly atMs: number;
  readonly kind: "call" | "price" | "retry-sent" | "limit" | "jump" | "read-failure" | "kill";
  readonly seed: number;
}

/** A call as its caller experienced it. Times in monotonic milliseconds. */
export interface PlayedCall {
  readonly request: SimulatedCall;
  readonly startedMs: number;
  endedMs: number | null;
  status: number | null;
  text: string;
  streamed: boolean;
  readError: boolean;
  disconnected: boolean;
  readonly held: readonly HeldBudget[];
  permit: Permit | null;
  /** The process that accepted the call was killed. */
  killed: boolean;
}

/** A budget that applied to a call when it was admitted. */
export interface HeldBudget {
  readonly key: string;
  readonly kind: ScopeKind;
  readonly id: string;
  readonly start: number;
  readonly period: Budget["period"];
  readonly limit: number;
}

export function eventsFor(seed: number): readonly HistoryEvent[] {
  const chance = seededChance(seed);
  const at = (kind: HistoryEvent["kind"], withinMs: number): HistoryEvent => ({
    atMs: Math.floor(chance.unit() * withinMs),
    kind,
    seed: Math.floor(chance.unit() * 2 ** 30),
  });
  const events = Array.from({ length: 10 + Math.floor(chance.unit() * 12) }, () => at("call", 2_500));
  for (const kind of ["price", "price", "retry-sent", "limit", "limit", "limit", "jump", "read-failure"] as const) {
    if (chance.unit() < (kind === "read-failure" ? 0.15 : 0.6)) events.push(at(kind, 3_000));
  }
  if (chance.unit() < 0.5) events.push(at("retry-sent", 1));
  while (chance.unit() < 0.4) events.push(at("limit", 1));
  if (chance.unit() < 0.35) events.push(at("kill", 4_000));
  return events.toSorted((one, other) => one.atMs - other.atMs);
}

/** A few seconds of a gateway. The same events give the same history. */
export class CallHistory {
  readonly clock = new FakeClock(Date.UTC(2026, 4, 28, 20));
  readonly ledger = new PersistentLedger([]);
  readonly simulations: Simulation[] = [];
  readonly calls: PlayedCall[] = [];
  readonly problems: string[] = [];
  readonly prices = new Map<string, PriceVersion>();
  /** Every entry that was reported, including rejections. */
  readonly reported: LedgerEntry[] = [];
  /** Whether requests that may have been executed could be sent again at some time. */
  sendsAgain = false;
  readonly #chance = seededChance(7);
  readonly #budgets = new Map<string, Budget | null>();
  readonly #limits = new Map<string, RateLimits>();
  readonly #callsByScopes = new WeakMap<readonly LimitScope[], PlayedCall>();
  #configuration: Configuration = firstConfiguration();
  #count = 0;
  #turn = 0;
  #running = 0;
  #killRequested = false;
  #simulation: Simulation;

  constructor() {
    for (const price of this.#configuration.prices.values()) this.#addPrice(price);
    for (const scope of scopeIds) this.#budgets.set(scope, null);
    this.#simulation = this.#open();
  }

  get simulation(): Simulation {
    return this.#simulation;
  }

  async play(events: readonly HistoryEvent[]): Promise<void> {
    // Events keep their numbers when some are left out.
    events.forEach((event, index) => {
      if (event.atMs !== omitted) this.clock.after(event.atMs, () => this.#do(event, index));
    });
    const last = Math.max(0, ...events.map(({ atMs }) => atMs)) + stepMs;
    await this.#until(() => this.clock.monotonic() > last);
    this.#simulation.journal.down = false;
    await this.#until(
      () => this.#running === 0 && this.#simulation.outstanding() === 0 && this.#simulation.journal.lag === 0,
    );
    // Late answers, and the rest of drained streams.
    const rest = this.clock.monotonic() + 7_000;
    await this.#until(() => this.clock.monotonic() > rest);
  }

  /** The used amount of each active budget, by the gateway and by the ledger. */
  async limitUsages() {
    const { admission, steady } = this.#simulation;
    const principals = [1, 2].map((n) => this.#principal(n));
    return budgetUsage(admission, principals, steady.now(), (isDone) => this.#until(isDone));
  }

  #do({ kind, seed }: HistoryEvent, index: number): void {
    const chance = seededChance(seed);
    switch (kind) {
      case "call":
        void this.#call(simulatedCall(index, seed));
        return;
      case "price": {
        const model = modelNames[Math.floor(chance.unit() * modelNames.length)] as string;
        const price = priceOf(model, index + 1, 1 + chance.unit());
        this.#addPrice(price);
        this.#configure({ ...this.#configuration, prices: new Map([...this.#configuration.prices, [model, price]]) });
        return;
      }
      case "retry-sent":
        this.#configure({ ...this.#configuration, retrySent: !this.#configuration.retrySent });
        return;
      case "limit":
        this.#limit(chance.unit(), chance.unit(), chance.unit());
        return;
      case "jump":
        this.clock.jump((chance.unit() < 0.5 ? 1 : -1) * (chance.unit() < 0.5 ? 31 : 2) * day);
        return;
      case "read-failure":
        this.#simulation.journal.down = true;
        return;
      case "kill":
        this.#killRequested = true;
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

  async #call(request: SimulatedCall): Promise<void> {
    const simulation = this.#simulation;
    const principal = this.#principal(request.key);
    const played: PlayedCall = {
      request,
      startedMs: this.clock.monotonic(),
      endedMs: null,
      status: null,
      text: "",
      streamed: false,
      readError: false,
      disconnected: false,
      held: this.#heldBy(principal, simulation),
      permit: null,
      killed: false,
    };
    this.calls.push(played);
    this.#callsByScopes.set(principal.scopes, played);
    const disconnect = new AbortController();
    let stopReading = (): void => {};
    if (request.disconnectsAfterMs !== null) {
      this.clock.after(request.disconnectsAfterMs, () => {
        if (played.endedMs !== null || simulation.killed) return;
        played.disconnected = true;
        disconnect.abort();
        stopReading();
      });
    }
    this.#running++;
    const response = await simulation.call({
      principal,
      request: new Request("http://gateway.test/v1", {
        method: "POST",
        headers: {
          host: "gateway.test",
          "content-type": "application/json",
          "anthropic-version": "2023-06-01",
          "x-sluice-tags": `call=${request.number}`,
        },
        body: bodyOf(request),
        signal: disconnect.signal,
      }),
      target: targetOf(request),
      ip: "127.0.0.1",
    });
    played.status = response.status;
    played.streamed = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const reader = response.body?.getReader();
    stopReading = () => void reader?.cancel().catch(() => {});
    if (disconnect.signal.aborted) stopReading();
    try {
      for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
        played.text += new TextDecoder().decode(piece.value);
        if (request.pauseMs > 0) await this.#pause(request.pauseMs);
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
      configuration: this.#configuration,
      problem: (words) => this.problems.push(words),
      ended: (entry) => this.reported.push(entry),
      watched: (admission) => this.#watched(admission),
    });
    this.simulations.push(simulation);
    return simulation;
  }

  /** Records what each call reserves. */
  #watched(admission: Admission): Admission {
    return new Proxy(admission, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (name !== "admit") return typeof member === "function" ? member.bind(target) : member;
        return async (principal: Principal, estimate: Parameters<Admission["admit"]>[1]): Promise<Permit> => {
          const permit = await target.admit(principal, estimate);
          const played = this.#callsByScopes.get(principal.scopes);
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

  #configure(configuration: Configuration): void {
    this.#configuration = configuration;
    this.sendsAgain ||= configuration.retrySent;
    this.#simulation.configure(configuration);
  }

  #addPrice(price: PriceVersion): void {
    this.prices.set(price.id, price);
    this.ledger.addPrice(price);
  }

  /**
   * Kills the process: its memory is lost, the journal stays, and the next process recovers before it accepts calls.
   */
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
        throw new Error(`${this.#running} calls never end, ${this.#simulation.outstanding()} reservations remain`);
      }
      await new Promise((resolve) => setImmediate(resolve));
      this.#turn++;
      this.clock.advance(stepMs);
      if (this.#killRequested) {
        this.#killRequested = false;
        await this.#kill();
      }
    }
  }
}

const scopeIds = ["ws_1", "grp_1", "key_1", "key_2"] as const;
