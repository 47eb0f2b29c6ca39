import { createAsKey } from "#api/index.ts";
import { createMemoryCounter } from "#coordination/index.ts";
import {
  type CallerMemory,
  type ConfigSnapshot,
  defaultTimeouts,
  type LedgerEntry,
  type Model,
  type PriceTable,
  type PriceVersion,
  type Provider,
  usdToPico,
} from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { Chance, Clock, Ids, Observer } from "#ports/index.ts";
import type { Relay } from "#relay/index.ts";
import type { Router } from "#routing/index.ts";
import { steadyClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { wireCalls } from "../../src/main/open-calls.ts";
import { quietCallParts } from "../call-parts.ts";
import { callerConnections } from "../caller-memory.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { silentExplainer } from "../silent-explainer.ts";
import { KillableProcess } from "./killable-process.ts";
import type { PersistentLedger, ProcessJournal } from "./persistent-ledger.ts";
import { ScriptedUpstream } from "./scripted-upstream.ts";

/** Short timeouts, so that a history of a few seconds reaches each of them. */
const timeouts = {
  ...defaultTimeouts,
  headersMs: 1_500,
  firstEventMs: 700,
  idleMs: 600,
  totalMs: 6_000,
};

const provider = (id: string, kind: string, endpoints: readonly string[]): Provider => ({
  id,
  kind,
  baseUrl: `demo://${id}/v1`,
  secret: null,
  allowPrivateNetwork: true,
  timeouts,
  disconnect: id === "chat-b" ? "drain" : "cancel",
  settings: { endpoints },
  enabled: true,
});

const providers: readonly Provider[] = [
  provider("chat-a", "openai-compatible", ["chat"]),
  provider("chat-b", "openai-compatible", ["chat"]),
  provider("claude", "anthropic", ["messages"]),
  provider("google", "gemini", ["generate"]),
  provider("open", "openai", ["responses"]),
];

interface Offer {
  readonly name: string;
  readonly places: readonly (readonly [provider: string, priority: number])[];
  readonly fallbacks: readonly string[];
}

/** One model for each dialect, and models that are translated for all dialects except one. */
const offers: readonly Offer[] = [
  {
    name: "plain",
    places: [
      ["chat-a", 1],
      ["chat-b", 1],
    ],
    fallbacks: [],
  },
  {
    name: "mixed",
    places: [
      ["claude", 1],
      ["google", 1],
      ["chat-a", 2],
      ["open", 2],
    ],
    fallbacks: ["plain"],
  },
  { name: "opus", places: [["claude", 1]], fallbacks: ["plain"] },
  { name: "flash", places: [["google", 1]], fallbacks: [] },
  { name: "stored", places: [["open", 1]], fallbacks: ["mixed"] },
];

export const modelNames: readonly string[] = offers.map(({ name }) => name);
export const outputTokensMax = 1_800;
export const highestOutputPico = usdToPico(40, "million");

/** The configuration after the edits so far. */
export interface Configuration {
  readonly prices: ReadonlyMap<string, PriceVersion>;
  readonly retrySent: boolean;
}

export function firstConfiguration(): Configuration {
  const prices = modelNames.map((name) => [name, priceOf(name, 0, 1)] as const);
  return { prices: new Map(prices), retrySent: false };
}

/** `times` is a factor from 1 to 2. Long inputs cost twice as much. */
export function priceOf(model: string, version: number, times: number): PriceVersion {
  const input = usdToPico(1.25 * times, "million");
  const output = usdToPico(10 * times, "million");
  const table: PriceTable = {
    inputUncached: input,
    cacheRead: usdToPico(0.125 * times, "million"),
    cacheWrite5m: usdToPico(1.5 * times, "million"),
    output,
    webSearches: usdToPico(10 * times, "thousand"),
    longContext: { above: 150, prices: { inputUncached: input * 2, output: output * 2 } },
  };
  return { id: `prc_${model}_${version}`, model, table, effectiveFrom: 0 };
}

function configSnapshotOf({ prices, retrySent }: Configuration, version: number): ConfigSnapshot {
  const models = offers.map(
    ({ name, places, fallbacks }): Model => ({
      name,
      type: "chat",
      ownedBy: "us",
      createdAt: 0,
      outputTokensMax,
      contextWindow: null,
      fallbacks,
      deployments: places.map(([id, priority]) => ({
        id: `${name} on ${id}`,
        provider: providers.find((one) => one.id === id) as Provider,
        upstreamModel: "up",
        priority,
        weight: 100,
        enabled: true,
        contextWindow: null,
      })),
      price: prices.get(name) ?? null,
    }),
  );
  return quietConfigSnapshot({ version, providers, models, settings: { retry_sent: retrySent } });
}

/**
 * One process of the gateway. It is called like by the console's playground, with a whole HTTP request and a key's
 * principal.
 */
export interface Simulation {
  readonly call: ReturnType<typeof createAsKey>;
  readonly relay: Relay;
  readonly admission: Admission;
  readonly router: Router;
  readonly upstream: ScriptedUpstream;
  readonly journal: ProcessJournal;
  readonly steady: Clock;
  readonly memory: CallerMemory;
  readonly outstanding: () => number;
  configure(configuration: Configuration): void;
  /** Loses everything in memory and stops all activity. */
  kill(): void;
  killed: boolean;
}

export interface SimulationOptions {
  readonly ledger: PersistentLedger;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly ids: Ids;
  readonly turn: () => number;
  readonly configuration: Configuration;
  readonly problem: (words: string) => void;
  readonly ended: (entry: LedgerEntry) => void;
  readonly watched: (admission: Admission) => Admission;
}

export function openSimulation(parts: SimulationOptions): Simulation {
  const { chance, ids } = parts;
  const killable = new KillableProcess();
  const clock = killable.clock(parts.clock);
  const steady = steadyClock(clock, { log: () => {} });
  const observer: Observer = {
    log: (level, message, fields) => {
      if (level === "error") parts.problem(`${message} ${String(fields?.["error"] ?? "")}`);
    },
    attemptEnd: parts.ended,
    requestEnd: () => {},
    breakerChange: () => {},
    configReload: () => {},
  };
  const journal = parts.ledger.open(clock, chance);
  const counter = createMemoryCounter({ clock });
  const admission = new Admission({
    counter,
    clock: steady,
    spending: {
      reports: { spending: (asks, since) => journal.spending(asks, since) },
      settled: (signal) => journal.drained(signal),
      observer,
    },
  });
  const upstream = new ScriptedUpstream(clock, parts.turn);
  const transport = createTransport({
    clock,
    inProcess: new Map(providers.map(({ id }) => [id, (request: Request) => upstream.answer(request)])),
  });
  let version = 1;
  let configSnapshot = configSnapshotOf(parts.configuration, version);
  const quiet = quietCallParts();
  const { memory } = quiet;
  const { relay, router, bodies } = wireCalls({
    ...quiet,
    configSnapshot: () => configSnapshot,
    admission: parts.watched(admission),
    ...{ journal, transport, ids, clock, steady, chance, observer },
  });
  const apiDependencies: Parameters<typeof createAsKey>[0] = {
    authenticator: { authenticate: () => unexpected("a secret") },
    uploadTokens: unavailable("tokens of uploads"),
    agentSignIn: unavailable("sign-ins of agents"),
    agentSettings: async () => null,
    agentTelemetry: null,
    consoleUrl: () => null,
    relay,
    videos: unavailable("videos"),
    assets: unavailable("assets"),
    batches: unavailable("batches"),
    files: unavailable("files"),
    spool: unavailable("the spool"),
    publicUrl: () => null,
    configSnapshot: () => configSnapshot,
    clock,
    ids,
    observer,
    explainer: silentExplainer,
    bodies,
    memory,
    connections: callerConnections(),
    unready: () => null,
    remark: () => null,
    journal,
    draining: () => false,
    leaving: () => false,
    metricsKey: null,
    metricsText: async () => "",
    metricsType: "",
    countCall: async () => () => {},
    keyUsage: async () => [],
    periodSpend: async () => ({ day: 0, week: 0, month: 0 }),
    limitUsage: () => [],
  };
  const simulation: Simulation = {
    call: createAsKey(apiDependencies),
    relay,
    admission,
    router,
    upstream,
    journal,
    steady,
    memory,
    outstanding: () => counter.outstanding,
    configure(configuration) {
      configSnapshot = configSnapshotOf(configuration, ++version);
    },
    kill() {
      simulation.killed = true;
      killable.kill();
      journal.cut();
      upstream.cut();
      admission.close();
    },
    killed: false,
  };
  return simulation;
}

function unavailable<T extends object>(what: string): T {
  return new Proxy({} as T, { get: () => unexpected(what) });
}

/** These calls use models only. */
function unexpected(what: string): never {
  throw new Error(`${what} is not expected here`);
}
