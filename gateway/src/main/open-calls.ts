import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Assets, createAssetStore } from "#assets/index.ts";
import { BodyWork } from "#bodies/index.ts";
import { createMemoryHealthBoard } from "#coordination/index.ts";
import { bounds, type ConfigSnapshot } from "#core/index.ts";
import { matches } from "#identity/index.ts";
import { createRecorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Chance, Clock, Observer, Offload, Spool } from "#ports/index.ts";
import { ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import { providerKind } from "#providers/index.ts";
import { Relay } from "#relay/index.ts";
import { Router } from "#routing/index.ts";
import { createExplainStore, createSpool, ExplainQueue } from "#storage/index.ts";
import { systemChance, WorkerPool } from "#system/index.ts";
import { createTaskStore, VideoTasks } from "#tasks/index.ts";
import { isSecretHeader, isShownHeader } from "#telemetry/index.ts";
import { holderOf, openBlobs, webhookSecretsOf } from "./control.ts";
import { openCallerMemory } from "./machine-memory.ts";
import type { Base } from "./open-base.ts";
import type { Data } from "./open-data.ts";
import type { Governance } from "./open-governance.ts";

/** Work on bodies: how long one piece may take with its wait, how many wait, when an unasked thread ends. */
const bodyWorkMs = 30_000;
const bodyWorkWaitingMax = 256;
const bodyWorkIdleMs = 60_000;

/** A piece on so many bytes may take long: there is always a thread that none of these has. One that waited so long goes first. */
const bodyWorkLongBytes = 4 * 1024 * 1024;
const bodyWorkPatienceMs = 2_000;
const bodyWorkThreadsMax = 4;

export type Calls = Awaited<ReturnType<typeof openCalls>>;

/** Opens what makes calls of models, and what lasts longer than a call: video tasks, background responses and assets. */
export async function openCalls(base: Base, data: Data, governance: Governance) {
  const { environment, control, configSnapshot, ending, clock, ids } = base;
  const { journal, rest } = data;
  const { admission, steady } = governance;
  const explainer = openExplainer(base);
  ending.defer("explanations", () => explainer.close(bounds.lastBytesMs));
  const { memory, spoolBytes, connections } = openCallerMemory(environment, clock);
  const offload = openBodyThreads(base);
  ending.defer("threads for bodies", () => offload.close());
  const { relay, settled, ...wired } = wireCalls({
    ...{
      transport: base.transport,
      observer: base.observer,
      clock,
      ids,
      steady,
      chance: systemChance,
      ...base.tracing,
    },
    ...{ admission, journal, explainer, memory, offload, objectStore: control.objectStore },
    configSnapshot: () => configSnapshot.current,
    sharesAccount: sharedAccounts(() => configSnapshot.current),
    sharesLedger: control.database.flavour.name === "postgres",
    background: () => media.videos.responses,
    probes: true,
  });
  ending.defer("refused calls", () => wired.recorder.flush());
  rest.unless(() => relay.liveStreams > 0);
  const spooling = { directory: join(environment.dataDir, "spool"), memoryBytesMax: spoolBytes };
  const spool = createSpool({ ...spooling, nextName: () => ids.next("spool_") });
  const media = openMedia(base, settled, spool, { ...wired, admission, journal, explainer, memory });
  ending.defer("videos and assets", () => media.stop(), bounds.endStepMsMax);
  await media.start();
  const explain = createExplainStore(control.database, clock);
  return { ...wired, relay, explainer, explain, memory, connections, spool, media };
}

function openBodyThreads({ clock, observer }: Pick<Base, "clock" | "observer">): WorkerPool {
  return new WorkerPool({
    entry: new URL("./body-worker.ts", import.meta.url),
    name: "bodies",
    threads: Math.min(bodyWorkThreadsMax, Math.max(2, availableParallelism() - 1)),
    waitingMax: bodyWorkWaitingMax,
    jobMs: bodyWorkMs,
    idleMs: bodyWorkIdleMs,
    longBytes: bodyWorkLongBytes,
    patienceMs: bodyWorkPatienceMs,
    clock,
    observer,
  });
}

/** Whether calls of more than one workspace can reach an account, by what their grants say now. */
function sharedAccounts(configSnapshot: () => ConfigSnapshot): (providerId: string) => boolean {
  /** By snapshot: a change brings a new one. */
  const known = new WeakMap<ConfigSnapshot, Map<string, boolean>>();
  return (providerId) => {
    const now = configSnapshot();
    let answers = known.get(now);
    if (answers === undefined) {
      answers = new Map();
      known.set(now, answers);
    }
    let shared = answers.get(providerId);
    if (shared === undefined) {
      shared = isShared(now, providerId);
      answers.set(providerId, shared);
    }
    return shared;
  };
}

function isShared({ models, workspaces }: ConfigSnapshot, providerId: string): boolean {
  const names = [...models.values()]
    .filter(({ deployments }) => deployments.some(({ provider }) => provider.id === providerId))
    .map(({ name }) => name);
  let reaching = 0;
  for (const { models: patterns, passThrough } of workspaces.values()) {
    if (passThrough.includes(providerId) || names.some((name) => matches(patterns, name))) reaching++;
    if (reaching > 1) return true;
  }
  return false;
}

export interface CallParts
  extends Omit<ConstructorParameters<typeof Relay>[0], "router" | "recorder" | "providerClient" | "bodies"> {
  readonly chance: Chance;
  /** By what the times of ledger entries go. */
  readonly steady: Clock;
  /** Threads for large bodies; null: there are none. */
  readonly offload: Offload | null;
  /** Whether an account that was down is asked for its models before a call probes it. */
  readonly probes: boolean;
}

/** Connects what takes a call from its admission to its ledger entry. */
export function wireCalls(parts: CallParts) {
  const { admission, journal, transport, ids, clock, chance, observer, offload } = parts;
  const providerClient = new ProviderClient(transport, clock);
  const probe = new ProviderProbe(providerClient, clock);
  const router = new Router({
    ...{ board: createMemoryHealthBoard(clock), clock, chance, observer },
    ...(parts.probes && {
      check({ provider }, signal) {
        const kind = providerKind(provider.kind);
        return kind === null ? null : probe.isReached(provider, kind, signal);
      },
    }),
  });
  const settled = settledFirst(admission, observer);
  const recorder = createRecorder({ journal, clock: parts.steady, ids, observer: settled });
  const bodies = new BodyWork({ offload, newId: (prefix) => ids.next(prefix) });
  const relay = new Relay({ ...parts, router, recorder, providerClient, bodies });
  return { providerClient, probe, router, recorder, bodies, relay, settled };
}

/** An observer that tells the budgets what each settled entry cost, before anybody else hears of it. */
function settledFirst(admission: Pick<Admission, "settled">, observer: Observer): Observer {
  return {
    ...observer,
    attemptEnd: (entry, fault) => {
      admission.settled(entry);
      observer.attemptEnd(entry, fault);
    },
  };
}

type MediaParts = Pick<ReturnType<typeof wireCalls>, "router" | "recorder" | "providerClient" | "bodies"> &
  Pick<CallParts, "admission" | "journal" | "memory" | "explainer">;

/** Opens everything that lasts longer than a call: video tasks, assets, and the bytes of both. */
function openMedia(base: Base, observer: Observer, spool: Spool, parts: MediaParts) {
  const { environment, control, configSnapshot, transport } = base;
  const { clock, ids, vault } = control;
  const { publicUrl } = environment;
  const blobs = openBlobs(environment, { clock, transport, spool });
  const shared = {
    blobs,
    transport,
    providerClient: parts.providerClient,
    configSnapshot: () => configSnapshot.current,
    clock,
    ids,
    chance: systemChance,
    observer,
  };
  const assets = new Assets({
    ...shared,
    store: createAssetStore({ database: control.database }),
    signer: {
      sign: (text) => vault.derive("blob link", text),
      signatures: (text) => vault.deriveValid("blob link", text, clock.now()),
    },
    publicUrl: () => publicUrl,
  });
  const videos = new VideoTasks({
    ...shared,
    store: createTaskStore({ database: control.database, vault }),
    ...parts,
    ledger: control.ledgerStore,
    principalOf: (holder) => holderOf(base, holder),
    assets,
    unusedBlobs: assets,
    secrets: {
      webhookSecrets: (workspaceId) => webhookSecretsOf(vault, workspaceId, clock.now()),
      callbackToken: (taskId) => vault.derive("video callback", taskId),
      callbackTokens: (taskId) => vault.deriveValid("video callback", taskId, clock.now()),
    },
    publicUrl,
    webhookExemptions: environment.webhookPlaces,
    copyResults: () => configSnapshot.current.settings["video.copy_results"],
  });
  return {
    videos,
    assets,
    /** What was under way goes on; before the port opens, so that nothing is reserved twice. */
    async start(): Promise<void> {
      await videos.restoreHolds();
      videos.start();
      assets.start();
    },
    /** Waits for what is being done now; the rest is picked up by whoever starts next. */
    async stop(): Promise<void> {
      await Promise.all([videos.stop(), assets.stop()]);
    },
  };
}

/** Where calls tell why they went as they did, and what of them is to be kept. */
function openExplainer({ control, configSnapshot, observer, metrics, options, contentSink: content }: Base) {
  const { explainWriter: writer } = options;
  const explainer = new ExplainQueue({
    database: control.database,
    place: control.place,
    clock: control.clock,
    observer,
    hidesHeader: isSecretHeader,
    showsHeader: isShownHeader,
    content,
    ...(writer === undefined ? {} : { writer }),
    captureRetentionMs: () => configSnapshot.current.settings["captures.retention_days"] * dayMs,
  });
  metrics.numbers({
    sluice_explanations_dropped_total: () => explainer.dropped.explanations,
    sluice_captures_dropped_total: () => explainer.dropped.captures,
  });
  return explainer;
}

const dayMs = 86_400_000;
