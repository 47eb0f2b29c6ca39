import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BodyWork } from "#bodies/index.ts";
import { createMemoryCounter } from "#coordination/index.ts";
import {
  type ConfigSnapshot,
  type Deployment,
  defaultTimeouts,
  Failure,
  type LedgerEntry,
  type Model,
  type Principal,
  type Provider,
  Secret,
  usdToPico,
} from "#core/index.ts";
import { createRecorder } from "#ledger/index.ts";
import { Admission } from "#limits/index.ts";
import type { BlobStore, Chance, Clock, Ids, LedgerStore, Observer, Transport } from "#ports/index.ts";
import { ProviderClient } from "#provider-client/index.ts";
import { Router } from "#routing/index.ts";
import { createDiskBlobStore, createLedgerStore, type Database, openVault } from "#storage/index.ts";
import {
  type CreateCall,
  createTaskStore,
  type TaskBody,
  type TaskStore,
  VideoTasks,
  type VideoTasksOptions,
} from "#tasks/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { openMigrated } from "../migrated.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { silentExplainer } from "../silent-explainer.ts";
import { noWorkload } from "../workload-fixture.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { JournalInMemory } from "./journal-in-memory.ts";
import { seededChance } from "./seeded-chance.ts";
import { type ArkBehavior, SimulatedArk } from "./simulated-ark.ts";

/** A database, a simulated Ark and a clock that only the test moves. Any number of processes can share them. */
export interface TaskWorld extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly chance: Chance;
  readonly ids: Ids;
  readonly ark: SimulatedArk;
  readonly database: Database;
  readonly taskStore: TaskStore;
  readonly ledgerStore: LedgerStore;
  readonly blobs: BlobStore;
  /** The folder of the blobs. */
  readonly blobDirectory: string;
}

export async function openTaskWorld(seed = 1, behavior: ArkBehavior = {}): Promise<TaskWorld> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-video-"));
  const clock = new WholeClock();
  const database = await openMigrated(":memory:");
  let count = 0;
  return {
    clock,
    chance: seededChance(seed),
    ids: { next: (prefix) => `${prefix}${String(++count).padStart(8, "0")}` },
    ark: new SimulatedArk(clock, behavior),
    database,
    taskStore: createTaskStore({ database, vault: openVault({ masterKey: null, dataDir: directory }) }),
    ledgerStore: createLedgerStore(database),
    blobs: createDiskBlobStore({ directory: join(directory, "blobs"), clock }),
    blobDirectory: join(directory, "blobs"),
    async [Symbol.asyncDispose]() {
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A fake clock with whole milliseconds, like a real one. */
class WholeClock extends FakeClock {
  override now(): number {
    return Math.floor(super.now());
  }
}

/** One process on the shared database. */
export interface TaskSetup {
  readonly videos: VideoTasks;
  readonly admission: Admission;
  readonly journal: JournalInMemory;
  /** Errors and warnings in the operator's log. */
  readonly noise: { readonly level: string; readonly message: string; readonly fields: unknown }[];
}

export interface TaskSetupChanges extends Partial<Omit<VideoTasksOptions, "router" | "recorder">> {
  readonly models?: readonly Model[];
}

/** The dependencies of one process. */
export interface TaskSetupOptions extends Pick<TaskWorld, "chance" | "ids" | "taskStore"> {
  readonly ledgerStore: Pick<LedgerStore, "price">;
  readonly clock: Clock;
  readonly ark: Transport;
}

export function openTaskSetup(world: TaskSetupOptions, changes: TaskSetupChanges = {}): TaskSetup {
  const { models = [seedance], ...options } = changes;
  const clock: Clock = options.clock ?? world.clock;
  const noise: { level: string; message: string; fields: unknown }[] = [];
  const observer: Observer = {
    log: (level, message, fields) => {
      if (level === "error" || level === "warn") noise.push({ level, message, fields });
    },
    attemptEnd: (entry) => admission.settled(entry),
    requestEnd: () => undefined,
    breakerChange: () => undefined,
    configReload: () => undefined,
  };
  const journal = new JournalInMemory();
  const admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
  const transport: Transport = options.transport ?? world.ark;
  const configSnapshot: ConfigSnapshot = configSnapshotOf(models);
  const videos = new VideoTasks({
    unusedBlobs: null,
    onShadowDenial: () => undefined,
    ledger: world.ledgerStore,
    journal,
    principalOf: () => alice,
    store: world.taskStore,
    admission,
    router: new Router({ clock, chance: world.chance, observer }),
    recorder: createRecorder({ journal, clock, ids: world.ids, observer, onFolded: () => undefined }),
    explainer: silentExplainer,
    configSnapshot: () => configSnapshot,
    ids: world.ids,
    chance: world.chance,
    observer,
    blobs: null,
    bodies: new BodyWork({ offload: null, newId: world.ids.next }),
    memory: { open: freeRoom },
    assets: null,
    files: noFiles,
    filesNamed: () => Promise.reject(new Error("these tests name no files")),
    secrets: {
      webhookSecrets: () => [webhookSecret],
      callbackToken: (taskId) => `token of ${taskId}`,
      callbackTokens: (taskId) => [`token of ${taskId}`],
    },
    publicUrl: "https://sluice.example",
    webhookExemptions: [],
    copyResults: () => false,
    ...options,
    clock,
    transport,
    providerClient: new ProviderClient(transport, clock, noWorkload),
  });
  return { videos, admission, journal, noise };
}

const noFiles: VideoTasksOptions["files"] = {
  find: () => Promise.resolve([]),
  open: () => Promise.reject(new Error("these tests have no files")),
  copies: { at: () => Promise.reject(new Error("these tests have no files")) },
};

export const webhookSecret = `whsec_${Buffer.from("the key of the workspace").toString("base64")}`;

export function arkProvider(id: string, changes: Partial<Provider> = {}): Provider {
  return {
    id,
    kind: "ark",
    baseUrl: "https://ark.example/api/v3",
    secret: new Secret(`key of ${id}`),
    allowPrivateNetwork: false,
    timeouts: defaultTimeouts,
    disconnect: "cancel",
    settings: {},
    enabled: true,
    ...changes,
  };
}

export function arkDeployment(id: string, priority = 1, changes: Partial<Deployment> = {}): Deployment {
  return {
    id: `dep_${id}`,
    provider: arkProvider(id),
    upstreamModel: "doubao-seedance-1-0-pro-250528",
    priority,
    weight: 100,
    enabled: true,
    contextWindow: null,
    ...changes,
  };
}

/** 10 USD per million tokens, so that a video of the simulated Ark costs exactly one dollar. */
export const seedance: Model = {
  name: "seedance",
  type: "video",
  ownedBy: "us",
  createdAt: 0,
  deployments: [arkDeployment("first", 1), arkDeployment("second", 2)],
  fallbacks: [],
  contextWindow: null,
  price: { id: "prc_1", model: "seedance", table: { output: usdToPico(10, "million") }, effectiveFrom: 0 },
};

export const alice: Principal = governedPrincipal({
  key: { limits: { rpm: 100_000 }, budget: { nanoUsd: 1e12, period: "total" } },
});

export function createCall(world: Pick<TaskWorld, "ids">, body: object, changes: Partial<CreateCall> = {}): CreateCall {
  const whole = { model: "seedance", ...body };
  return {
    requestId: world.ids.next("req_"),
    principal: alice,
    model: "seedance",
    models: [seedance],
    body: taskBody(world.ids.next("vt_"), whole),
    held: freeRoom(),
    idempotencyKey: null,
    userAgent: "curl/8",
    tags: {},
    shadowDenials: [],
    signal: new AbortController().signal,
    ...changes,
  };
}

/** A small body after it was read. */
function taskBody(taskId: string, value: Record<string, unknown>): TaskBody {
  const text = JSON.stringify(value);
  return { taskId, text, value, digest: createHash("sha256").update(text).digest("hex"), renamed: {}, material: null };
}

/** These tests do not limit memory. */
function freeRoom(): CreateCall["held"] {
  return { hold: () => undefined, release: () => undefined };
}

/** Lets all running work continue to where it waits for the clock. */
export async function settleDown(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Advances the clock in steps, so that what one step starts can continue in the next. */
export async function passTime(clock: FakeClock, ms: number, stepMs = 500): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(stepMs, left));
    await settleDown();
  }
}

/** Resolves to the result of `pending`, advancing the clock until then. */
export async function resolved<T>(clock: FakeClock, pending: Promise<T>, stepMs = 200): Promise<T> {
  let isDone = false;
  const done = pending.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  await settleDown();
  for (let turn = 0; !isDone; turn++) {
    if (turn > 5_000) throw new Error("the promise never resolves");
    clock.advance(stepMs);
    await settleDown();
  }
  return done;
}

function configSnapshotOf(models: readonly Model[]): ConfigSnapshot {
  return quietConfigSnapshot({ models });
}

export const oneUsd = 1_000_000_000;

/** The body of most tests. */
export const catOnRoof = { prompt: "a cat on a roof", duration: 5, resolution: "720p", ratio: "16:9" };

export async function failureOf(pending: Promise<unknown>): Promise<Failure> {
  const thrown = await pending.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (thrown instanceof Failure) return thrown;
  throw new Error(`no Failure but ${String(thrown)}`);
}

export async function entriesOf(world: TaskWorld): Promise<readonly LedgerEntry[]> {
  return (await world.ledgerStore.page({}, null, 1_000)).entries;
}

/** The used amount of the caller's budget in USD, including reservations. */
export async function budgetUsed({ admission }: TaskSetup, principal = alice): Promise<number> {
  return (await admission.limitUsages(principal.scopes)).find(({ name }) => name === "budget")?.used ?? 0;
}
