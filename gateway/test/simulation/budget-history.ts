import { createMemoryCounter } from "#coordination/index.ts";
import {
  type Budget,
  type BudgetPeriod,
  bounds,
  defaultTimeouts,
  type LedgerEntry,
  type LimitScope,
  type Model,
  type Principal,
  periodStart,
  personScopeId,
  readableOf,
  type ScopeKind,
  scopesOf,
  usdToPico,
} from "#core/index.ts";
import { Admission, type Permit } from "#limits/index.ts";
import type { Observer } from "#ports/index.ts";
import { type EndpointProtocol, openaiChat, openaiChatCodec, openaiChatWire } from "#protocols/index.ts";
import type { Relay } from "#relay/index.ts";
import { steadyClock } from "#system/index.ts";
import { wireCalls } from "../../src/main/open-calls.ts";
import { quietCallParts } from "../call-parts.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { budgetUsage } from "./budget-usage.ts";
import { CountingUpstream, outputMaxOf } from "./counting-upstream.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { PersistentLedger, type ProcessJournal, scopeOf } from "./persistent-ledger.ts";
import { seededChance } from "./seeded-chance.ts";

const day = 86_400_000;
const outputPico = usdToPico(10, "million");
/** The cost of one output token. */
export const tokenNanoUsd = outputPico / 1_000;

const provider = (id: string) => ({
  id,
  kind: "openai-compatible",
  baseUrl: "http://upstream.example/v1",
  secret: null,
  allowPrivateNetwork: true,
  timeouts: defaultTimeouts,
  disconnect: "cancel" as const,
  settings: {},
  enabled: true,
});
const providers = ["first", "second"].map(provider);

const models: readonly Model[] = ["chat-60", "chat-600", "chat-3000"].map((name) => ({
  name,
  type: "chat",
  ownedBy: "us",
  createdAt: 0,
  outputTokensMax: outputMaxOf(name),
  fallbacks: [],
  contextWindow: null,
  deployments: providers.map((one, index) => ({
    id: `${name} on ${one.id}`,
    provider: one,
    upstreamModel: name,
    priority: index + 1,
    weight: 100,
    enabled: true,
    contextWindow: null,
  })),
  price: {
    id: `prc_${name}`,
    model: name,
    table: { inputUncached: usdToPico(1.25, "million"), output: outputPico },
    effectiveFrom: 0,
  },
}));

const protocol: EndpointProtocol = {
  endpoint: "chat",
  wireDialect: "openai-chat",
  dialect: openaiChat,
  wire: openaiChatWire,
  codec: openaiChatCodec,
};

/** A budget that applied to a call when it was admitted. */
interface HeldBudget {
  readonly key: string;
  readonly kind: ScopeKind;
  readonly id: string;
  readonly period: BudgetPeriod;
  readonly start: number;
  readonly limit: number;
}

export interface PlayedCall {
  readonly requestId: string;
  readonly stream: boolean;
  readonly held: readonly HeldBudget[];
  readonly permit: Permit;
}

/** One process of the gateway. */
interface Run {
  readonly relay: Relay;
  readonly admission: Admission;
  readonly upstream: CountingUpstream;
  readonly journal: ProcessJournal;
  readonly outstanding: () => number;
  killed: boolean;
}

const adaScope = personScopeId("ws_1", "usr_ada");

/**
 * A few days with three keys in two groups, where two keys first belong to Ada, and with everything that can happen to
 * budgets. The same seed gives the same history.
 */
export class BudgetHistory {
  readonly clock = new FakeClock(Date.UTC(2026, 4, 28, 20));
  readonly ledger = new PersistentLedger(models.flatMap(({ price }) => (price === null ? [] : [price])));
  readonly calls: PlayedCall[] = [];
  readonly upstreams: CountingUpstream[] = [];
  readonly problems: string[] = [];
  readonly codes = new Map<string, number>();
  readonly #chance;
  readonly #budgets = new Map<string, Budget | null>();
  readonly #groupOf = new Map<string, string>();
  readonly #ownerOf = new Map<string, "usr_ada" | "usr_ben">();
  #count = 0;
  #running = 0;
  #run: Run;

  constructor(seed: number) {
    this.#chance = seededChance(seed);
    for (const scope of ["ws_1", "grp_1", "grp_2", adaScope, "key_1", "key_2", "key_3"]) this.#budgets.set(scope, null);
    for (const key of ["key_1", "key_2", "key_3"]) this.#groupOf.set(key, "grp_1");
    for (const key of ["key_1", "key_2"]) this.#ownerOf.set(key, "usr_ada");
    for (let edit = 0; edit < 5; edit++) this.#edit();
    this.#run = this.#start();
  }

  get run(): Run {
    return this.#run;
  }

  async play(rounds: number, callsEach: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      for (let call = 0; call < callsEach; call++)
        this.clock.after(this.#chance.unit() * 2_500, () => void this.#call());
      for (let event = 0; event < 4; event++) this.clock.after(this.#chance.unit() * 3_000, () => this.#event());
      const dies = this.#chance.unit() < 0.3;
      if (dies) await this.#until((turn) => turn > 60 + this.#chance.unit() * 200);
      if (dies) await this.#kill();
      await this.#until(
        () => this.#running === 0 && this.#run.outstanding() === 0 && this.#run.journal.lag === 0,
        2_600,
      );
      this.#run.journal.down = false;
      // Nights pass, and a changed clock is accepted in the end.
      const nights = this.#chance.unit();
      this.clock.advance(nights < 0.3 ? day : nights < 0.6 ? 900_000 : 1_000);
    }
    const atRest = () => this.#running === 0 && this.#run.outstanding() === 0 && this.#run.journal.lag === 0;
    await this.#until(atRest, 1_000);
    this.#run.journal.down = false;
    // The longest time until a failed reading is retried.
    await this.#until(atRest, bounds.budgetReadRetryMsMax + 1_000);
  }

  /** The used amount of each active budget, by the gateway and by the ledger. */
  async limitUsages(): Promise<readonly { readonly name: string; readonly used: number; readonly ledger: number }[]> {
    this.#ownerOf.set("key_1", "usr_ada");
    const principals = ["key_1", "key_2", "key_3"].map((key) => this.#principal(key));
    const budgets = await budgetUsage(this.#run.admission, principals, this.#steady.now(), (done) => this.#until(done));
    return budgets.map((budget) => ({ ...budget, ledger: this.spent(budget) }));
  }

  /** The ledger's spend in one period of one scope. */
  spent(
    { kind, id, period, start }: Pick<HeldBudget, "kind" | "id" | "period" | "start">,
    of: (entry: LedgerEntry) => boolean = () => true,
  ): number {
    const within = (entry: LedgerEntry) => scopeOf(entry, kind) === id && periodStart(period, entry.at) === start;
    return this.ledger.entries.reduce((sum, entry) => sum + (within(entry) && of(entry) ? entry.costNanoUsd : 0), 0);
  }

  #steady = steadyClock(this.clock, { log: () => {} });

  #start(): Run {
    const { clock, ledger } = this;
    const chance = this.#chance;
    const ids = { next: (prefix: string) => `${prefix}${String(++this.#count).padStart(6, "0")}` };
    this.#steady = steadyClock(clock, { log: () => {} });
    const observer: Observer = {
      log: (level, message) => {
        if (level === "error") this.problems.push(message);
      },
      attemptEnd: () => {},
      requestEnd: () => {},
      breakerChange: () => {},
      configReload: () => {},
    };
    const journal = ledger.open(clock, chance);
    const counter = createMemoryCounter({ clock });
    const admission = new Admission({
      counter,
      clock: this.#steady,
      spending: {
        reports: { spending: (asks, since) => journal.spending(asks, since) },
        settled: (signal) => journal.drained(signal),
        observer,
      },
    });
    const upstream = new CountingUpstream(clock, chance);
    this.upstreams.push(upstream);
    const configSnapshot = quietConfigSnapshot({ providers, models });
    const { relay } = wireCalls({
      ...quietCallParts(),
      configSnapshot: () => configSnapshot,
      admission: this.#watched(admission),
      transport: upstream,
      steady: this.#steady,
      ...{ journal, ids, clock, chance, observer },
    });
    return { relay, admission, upstream, journal, outstanding: () => counter.outstanding, killed: false };
  }

  /** Records what each call reserves, and on which budgets. */
  #watched(admission: Admission): Admission {
    return new Proxy(admission, {
      get: (target, name) => {
        if (name === "admit") {
          return async (principal: Principal, estimate: Parameters<Admission["admit"]>[1]): Promise<Permit> => {
            const permit = await target.admit(principal, estimate);
            // Nothing can happen in between, because the counter grants at once.
            const requestId = asking.get(principal) ?? "";
            const stream = streaming.has(principal);
            this.calls.push({ requestId, stream, held: this.#heldBy(principal), permit });
            return permit;
          };
        }
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  #heldBy({ scopes }: Principal): readonly HeldBudget[] {
    const now = this.#steady.now();
    return scopes.flatMap(({ kind, id, budget }) => {
      if (budget === null) return [];
      const start = periodStart(budget.period, now);
      return [
        { key: `${id} ${budget.period} ${start}`, kind, id, period: budget.period, start, limit: budget.nanoUsd },
      ];
    });
  }

  async #call(): Promise<void> {
    const { relay } = this.#run;
    const chance = this.#chance;
    const alive = this.#run;
    // The killed process does not answer.
    if (alive.killed) return;
    const model = models[Math.floor(chance.unit() * models.length)] as Model;
    const principal = this.#principal(`key_${1 + Math.floor(chance.unit() * 3)}`);
    const requestId = `req_${++this.#count}`;
    const stream = chance.unit() < 0.6;
    const cap = chance.unit() < 0.4 ? `"max_tokens":${1 + Math.floor(chance.unit() * outputMaxOf(model.name))},` : "";
    const body = new TextEncoder().encode(
      `{"model":"${model.name}",${cap}"messages":[{"role":"user","content":"x"}],"stream":${stream}}`,
    );
    asking.set(principal, requestId);
    if (stream) streaming.add(principal);
    const disconnect = new AbortController();
    const disconnectsMs = chance.unit() < 0.15 ? chance.unit() * 500 : null;
    if (disconnectsMs !== null) this.clock.after(disconnectsMs, () => disconnect.abort());
    this.#running++;
    const result = await relay.run({
      requestId,
      principal,
      protocol,
      facts: protocol.wire.readRequest(body, null),
      body,
      query: "",
      headers: new Headers(),
      models: chance.unit() < 0.5 ? [model] : [model, ...models.filter((other) => other !== model).slice(0, 1)],
      signal: disconnect.signal,
      startedMs: this.clock.monotonic(),
      bodyWaitMs: 0,
      userAgent: "",
      tags: {},
      session: null,
      streamEnd: () => {},
      marks: null,
      mayCall: () => true,
    });
    const code = "failure" in result ? result.failure.code : "answered";
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    if (!("failure" in result) && !(result.body instanceof Uint8Array)) {
      const reader = readableOf(result.body).getReader();
      disconnect.signal.addEventListener("abort", () => void reader.cancel());
      if (disconnect.signal.aborted) void reader.cancel();
      let text = "";
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        text += new TextDecoder().decode(piece.value);
      if (text.includes("budget_exceeded")) this.codes.set("ended", (this.codes.get("ended") ?? 0) + 1);
    }
    if (!alive.killed) this.#running--;
  }

  #event(): void {
    const lot = this.#chance.unit();
    if (lot < 0.5) this.#edit();
    else if (lot < 0.6) this.#run.journal.down = true;
    else if (lot < 0.7) this.#run.journal.down = false;
    else if (lot < 0.85)
      this.clock.jump((this.#chance.unit() < 0.5 ? 1 : -1) * (this.#chance.unit() < 0.5 ? 31 : 2) * day);
    else if (lot < 0.93) {
      this.#ownerOf.set(
        `key_${1 + Math.floor(this.#chance.unit() * 3)}`,
        this.#chance.unit() < 0.7 ? "usr_ada" : "usr_ben",
      );
    } else
      this.#groupOf.set(
        `key_${1 + Math.floor(this.#chance.unit() * 3)}`,
        `grp_${1 + Math.floor(this.#chance.unit() * 2)}`,
      );
  }

  #edit(): void {
    const chance = this.#chance;
    const ids = [...this.#budgets.keys()];
    const id = ids[Math.floor(chance.unit() * ids.length)] ?? "ws_1";
    const period = (["day", "week", "month", "total"] as const)[Math.floor(chance.unit() * 4)] ?? "day";
    const nanoUsd = Math.floor(chance.unit() * 9_000) * tokenNanoUsd;
    this.#budgets.set(id, chance.unit() < 0.25 ? null : { nanoUsd, period });
  }

  #principal(key: string): Principal {
    const made = governedPrincipal({});
    const groupId = this.#groupOf.get(key) ?? "grp_1";
    const scope = (of: LimitScope, id: string): LimitScope => ({ ...of, id, budget: this.#budgets.get(id) ?? null });
    const [workspace, group, own] = [
      scope(made.workspace.scope, "ws_1"),
      scope(made.group.scope, groupId),
      scope(made.key.scope, key),
    ];
    const owner = this.#ownerOf.get(key) ?? null;
    // Ben has no limits.
    const ada = owner === "usr_ada" ? { personScope: scope({ ...made.key.scope, kind: "person" }, adaScope) } : {};
    const owned = owner === null ? {} : { ownerId: owner, ...ada };
    return {
      workspace: { ...made.workspace, scope: workspace },
      group: { ...made.group, id: groupId, scope: group },
      key: { ...made.key, id: key, groupId, scope: own, ...owned },
      person: owner,
      scopes: scopesOf({ scope: workspace }, { scope: group }, { scope: own, ...ada }),
    };
  }

  /** Kills the process: its memory is lost, the journal stays, and the next process recovers before it admits calls. */
  async #kill(): Promise<void> {
    this.#run.killed = true;
    this.#run.journal.cut();
    this.#run.upstream.cut();
    this.#run.admission.close();
    this.#running = 0;
    await this.ledger.recover();
    this.#run = this.#start();
  }

  async #until(done: (turn: number) => boolean, atLeastMs = 0): Promise<void> {
    const sinceMs = this.clock.monotonic();
    for (let turn = 0; !done(turn) || this.clock.monotonic() - sinceMs < atLeastMs; turn++) {
      if (turn > 20_000) throw new Error(`${this.#running} calls never end, ${this.#run.outstanding()} are held`);
      await new Promise((resolve) => setImmediate(resolve));
      this.clock.advance(11);
    }
  }
}

const asking = new WeakMap<Principal, string>();
const streaming = new WeakSet<Principal>();
