import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Assets, createAssetStore } from "#assets/index.ts";
import { Batches, batchBounds, createBatchStore } from "#batches/index.ts";
import { BodyWork } from "#bodies/index.ts";
import { bounds, type ConfigSnapshot, oncePerObject, type Provider } from "#core/index.ts";
import { createFileStore, Files } from "#files/index.ts";
import { matches } from "#identity/index.ts";
import { createRecorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { BlobStore, Chance, Clock, Observer, Offload, Spool, Workload } from "#ports/index.ts";
import { ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import { providerKind } from "#providers/index.ts";
import { Relay } from "#relay/index.ts";
import { Router } from "#routing/index.ts";
import { createExplainStore, createSpool, ExplainQueue } from "#storage/index.ts";
import { systemChance, WorkerPool } from "#system/index.ts";
import { createTaskStore, VideoTasks } from "#tasks/index.ts";
import { isSecretHeader, isShownHeader } from "#telemetry/index.ts";
import { holderOf, openBlobs, webhookSecretsOf } from "./control.ts";
import { guardrailServices } from "./guardrail-services.ts";
import { openCallerMemory } from "./machine-memory.ts";
import type { Base } from "./open-base.ts";
import type { Data } from "./open-data.ts";
import type { Governance } from "./open-governance.ts";

/** Jobs on bodies in threads: time limit including the wait, queue length, and idle time until a thread ends. */
const bodyWorkMs = 30_000;
const bodyWorkWaitingMax = 256;
const bodyWorkIdleMs = 60_000;

/** One thread never works on bodies larger than this, which may take long. A job that waited longer than bodyWorkPatienceMs goes first. */
const bodyWorkLongBytes = 4 * 1024 * 1024;
const bodyWorkPatienceMs = 2_000;
const bodyWorkThreadsMax = 4;

export type Calls = Awaited<ReturnType<typeof openCalls>>;

/** Opens the relay, and what outlives a call: video tasks, background responses and assets. */
export async function openCalls(base: Base, data: Data, governance: Governance) {
  const { environment, control, configSnapshot, ending, clock, ids } = base;
  const { journal, idleMemory } = data;
  const { admission, steady } = governance;
  const explainer = openExplainer(base);
  ending.defer("explanations", () => explainer.close(bounds.lastBytesMs));
  const { memory, spoolBytes, connections } = openCallerMemory(environment, clock);
  const offload = openBodyThreads(base);
  ending.defer("threads for bodies", () => offload.close());
  const givesWay = noteRefusals(base.observer);
  const { relay, observer, ...wired } = wireCalls({
    ...{
      transport: base.transport,
      observer: givesWay.observer,
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
    files: () => media.files,
    guardrails: guardrailServices(base, data, governance),
    onShadowDenial: onShadowDenialOf(base),
    probes: true,
    workload: environment.workload,
    onRefused: (provider) => base.references.refused(provider),
  });
  ending.defer("refused calls", () => wired.recorder.flush());
  idleMemory.busyWhile(() => relay.liveStreams > 0);
  const spooling = { directory: join(environment.dataDir, "spool"), memoryBytesMax: spoolBytes };
  const spool = createSpool({ ...spooling, nextName: () => ids.next("spool_") });
  const media = openMedia(base, observer, spool, { ...wired, relay, admission, journal, explainer, memory });
  ending.defer("videos and assets", () => media.stop(), bounds.endStepMsMax);
  await media.start();
  const batches = openBatches(base, {
    ...wired,
    observer,
    admission,
    memory,
    relay,
    blobs: media.blobs,
    files: media.files,
  });
  givesWay.to = batches;
  ending.defer("batches", () => batches.stop(), bounds.endStepMsMax);
  idleMemory.busyWhile(() => batches.isBusy);
  await startBatches(base, batches);
  const explain = createExplainStore(control.database, clock);
  return { ...wired, relay, explainer, explain, memory, connections, spool, media, batches };
}

/** Other calls that a limit refuses make the rows of batches wait. `to`: set once batches are open. */
function noteRefusals(observer: Observer): { readonly observer: Observer; to: Batches | null } {
  const givesWay: { readonly observer: Observer; to: Batches | null } = {
    to: null,
    observer: {
      ...observer,
      attemptEnd: (entry, fault) => {
        const { outcome, errorCode, batchId, workspaceId } = entry;
        if (outcome === "rejected" && batchId === undefined && limitCodes.has(errorCode ?? "")) {
          givesWay.to?.limitRefused(workspaceId);
        }
        observer.attemptEnd(entry, fault);
      },
    },
  };
  return givesWay;
}

const limitCodes: ReadonlySet<string> = new Set(["rate_limit_exceeded", "budget_held"]);

function openBatches(
  base: Base,
  parts: Pick<ReturnType<typeof wireCalls>, "relay" | "bodies" | "providerClient" | "observer"> &
    Pick<CallParts, "admission" | "memory"> & { readonly blobs: BlobStore; readonly files: Files },
): Batches {
  const { control, configSnapshot } = base;
  const { clock, ids, instances, instanceId, database } = control;
  return new Batches({
    ...parts,
    store: createBatchStore({ database }),
    principalOf: (holder) => holderOf(base, holder),
    configSnapshot: () => configSnapshot.current,
    processes: async () => new Map((await instances.list()).map((instance) => [instance.id, instance])),
    ledger: control.ledgerStore,
    flavour: database.flavour.name,
    ...{ clock, ids, instanceId },
  });
}

const earlierProcess = "proc_earlier";

/** Call it before the port opens, so that nothing is reserved twice. */
async function startBatches({ control }: Base, batches: Batches): Promise<void> {
  const { database, instanceId, clock } = control;
  if (database.flavour.name === "sqlite") {
    // The journal of the last process is in the ledger.
    const store = createBatchStore({ database });
    await store.markNextRows(earlierProcess, 2 * batchBounds.claimRowsMax);
    for (const owner of await store.owners())
      if (owner !== instanceId) await store.resolveRows(owner, true, clock.now());
  }
  await batches.restoreHolds();
  batches.start();
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

/** Whether more than one workspace may currently use an account. */
function sharedAccounts(configSnapshot: () => ConfigSnapshot): (providerId: string) => boolean {
  const cacheOf = oncePerObject((_snapshot: ConfigSnapshot) => new Map<string, boolean>());
  return (providerId) => {
    const snapshot = configSnapshot();
    const cache = cacheOf(snapshot);
    const shared = cache.get(providerId) ?? isShared(snapshot, providerId);
    cache.set(providerId, shared);
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
  /** Clock for the times of ledger entries. */
  readonly steady: Clock;
  /** Threads for large bodies; null to use none. */
  readonly offload: Offload | null;
  /** Whether an account that was down is probed with its list of models before a call is sent to it. */
  readonly probes: boolean;
  readonly workload: Workload;
  /** An upstream refused the credential of an account. */
  readonly onRefused?: (provider: Provider) => void;
}

/** Connects what a call passes from its admission to its ledger entry. */
export function wireCalls(parts: CallParts) {
  const { admission, journal, transport, ids, clock, chance, offload } = parts;
  const providerClient = new ProviderClient(transport, clock, parts.workload, parts.onRefused);
  const probe = new ProviderProbe(providerClient, clock);
  const router = new Router({
    ...{ clock, chance, observer: parts.observer },
    ...(parts.probes && {
      check({ provider }, signal) {
        const kind = providerKind(provider.kind);
        return kind === null ? null : probe.isReached(provider, kind, signal);
      },
    }),
  });
  const observer = updatingBudgets(admission, parts.observer);
  const recorder = createRecorder({
    ...{ journal, clock: parts.steady, ids, observer },
    onFolded: (folded) => parts.explainer.fold(folded),
  });
  const bodies = new BodyWork({ offload, newId: (prefix) => ids.next(prefix) });
  const relay = new Relay({ ...parts, router, recorder, providerClient, bodies });
  return { providerClient, probe, router, recorder, bodies, relay, observer };
}

function onShadowDenialOf({ metrics }: Base): CallParts["onShadowDenial"] {
  return ({ grant, scope }) => metrics.shadowRefusal(grant, scope);
}

/** An observer that first charges each settled entry to the budgets. */
function updatingBudgets(admission: Pick<Admission, "settled">, observer: Observer): Observer {
  return {
    ...observer,
    attemptEnd: (entry, fault) => {
      admission.settled(entry);
      observer.attemptEnd(entry, fault);
    },
  };
}

type MediaParts = Pick<ReturnType<typeof wireCalls>, "relay" | "router" | "recorder" | "providerClient" | "bodies"> &
  Pick<CallParts, "admission" | "journal" | "memory" | "explainer">;

/** Opens video tasks, assets, and the blobs of both. */
function openMedia(base: Base, observer: Observer, spool: Spool, parts: MediaParts) {
  const { environment, control, configSnapshot, transport, metrics } = base;
  const { clock, ids, vault } = control;
  const { publicUrl } = environment;
  const blobs = openBlobs(environment, { clock, transport, spool });
  // In a folder that has only files, so that unused bytes can be removed.
  const fileBlobs = openBlobs(environment, { clock, transport, spool }, "files");
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
  const files = new Files({
    ...shared,
    blobs: fileBlobs,
    store: createFileStore({ database: control.database }),
  });
  metrics.numbers({
    sluice_files_stored_total: () => files.counts.stored,
    sluice_files_stored_bytes_total: () => files.counts.storedBytes,
    sluice_file_copies_total: () => files.counts.copied,
    sluice_file_copy_failures_total: () => files.counts.copyFailures,
  });
  const videos = new VideoTasks({
    ...shared,
    store: createTaskStore({ database: control.database, vault }),
    ...parts,
    onShadowDenial: onShadowDenialOf(base),
    ledger: control.ledgerStore,
    principalOf: (holder) => holderOf(base, holder),
    assets,
    files,
    filesNamed: (...named) => parts.relay.filesNamed(...named),
    unusedBlobs: assets,
    secrets: {
      webhookSecrets: (workspaceId) => webhookSecretsOf(vault, workspaceId, clock.now()),
      callbackToken: (taskId) => vault.derive("video callback", taskId),
      callbackTokens: (taskId) => vault.deriveValid("video callback", taskId, clock.now()),
    },
    publicUrl,
    webhookExemptions: environment.webhookExemptions,
    copyResults: () => configSnapshot.current.settings["video.copy_results"],
  });
  return {
    blobs,
    videos,
    assets,
    files,
    /** Resumes unfinished tasks. Call it before the port opens, so that nothing is reserved twice. */
    async start(): Promise<void> {
      await videos.restoreHolds();
      videos.start();
      assets.start();
      files.start();
    },
    /** Waits for the current steps; another process resumes the tasks. */
    async stop(): Promise<void> {
      await Promise.all([videos.stop(), assets.stop(), files.stop()]);
    },
  };
}

/** Opens the queue for explanations and captures of requests. */
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
    sluice_folded_requests_dropped_total: () => explainer.dropped.folded,
  });
  return explainer;
}

const dayMs = 86_400_000;
