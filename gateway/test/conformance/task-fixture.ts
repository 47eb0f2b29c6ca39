import { join } from "node:path";
import type { AssetStore } from "#assets/index.ts";
import {
  type Asset,
  type AssetGroup,
  type LedgerEntry,
  noUsage,
  type Task,
  type WebhookDelivery,
} from "#core/index.ts";
import type { LedgerStore, Vault } from "#ports/index.ts";
import type { Database } from "#storage/index.ts";
import type { TaskPage, TaskStore } from "#tasks/index.ts";
import { ledgerEntry, newYear } from "./store-fixture.ts";

/** A new, migrated database with the stores of tasks and assets. Tests use `database` to inspect it. */
export interface TaskFixture extends AsyncDisposable {
  readonly database: Database;
  readonly vault: Vault;
  readonly taskStore: TaskStore;
  readonly assetStore: AssetStore;
  readonly ledgerStore: LedgerStore;
  /** Runs another process on the same database and resolves to its output, line by line. */
  otherProcess(work: OtherWork): Promise<readonly string[]>;
}

/**
 * `lease` leases tasks until none is left and prints their ids. `insert` inserts many batches of ledger entries and
 * prints their number.
 */
type OtherWork = "lease" | "insert";

export type TaskFixtureFactory = () => Promise<TaskFixture>;

/** `place` is the data directory, and the address of the database unless it is in that directory. */
export async function otherProcess(work: OtherWork, ...place: readonly string[]): Promise<readonly string[]> {
  const program = [process.execPath, join(import.meta.dir, "other-process.ts"), work, ...place];
  const child = Bun.spawn(program, { stdout: "pipe", stderr: "pipe" });
  const [printed, errors, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0) throw new Error(`the other process failed: ${errors}`);
  return printed.split("\n").filter((line) => line !== "");
}

export const accountSecret = "account-canary-secret";
export const settingsSecret = "settings-canary-secret";

export const account: NonNullable<Task["account"]> = {
  providerId: "ark-main",
  kind: "ark",
  baseUrl: "https://ark.example/api/v3",
  secret: accountSecret,
  settings: { secret_access_key: settingsSecret, region: "cn-beijing" },
  allowPrivateNetwork: false,
};

/** An accepted task that is due at once. */
export function task(name: string, changes: Partial<Task> = {}): Task {
  const createdAt = changes.createdAt ?? newYear;
  return {
    id: `vt_${name}`,
    workspaceId: "ws_1",
    groupId: "grp_1",
    keyId: "key_1",
    requestId: `req_${name}`,
    model: "seedance",
    deployment: "dep_1",
    upstreamModel: "doubao-seedance-1-0-pro",
    account: null,
    upstreamId: null,
    attemptId: `att_${name}`,
    state: "accepted",
    progress: null,
    request: '{"model":"seedance","prompt":"a cat"}',
    params: {
      prompt: "a cat",
      ratio: "16:9",
      durationSeconds: 5,
      resolution: "720p",
      audio: false,
      watermark: null,
      seed: -1,
    },
    output: null,
    error: null,
    usage: null,
    rawUsage: null,
    costNanoUsd: null,
    reservedNanoUsd: 250_000_000,
    priceVersion: "prc_1",
    priceTable: { videoSeconds: 50_000_000_000 },
    idempotencyKey: null,
    requestDigest: `digest of ${name}`,
    callbackUrl: null,
    metadata: {},
    userAgent: "curl/8",
    tags: {},
    createdAt,
    updatedAt: createdAt,
    submittedAt: null,
    startedAt: null,
    finishedAt: null,
    deadlineAt: createdAt + 86_400_000,
    dueAt: createdAt,
    polls: 0,
    ...changes,
  };
}

/** A task in which every field has a value that a careless column would lose. */
export const fullTask = task("full", {
  account,
  upstreamId: "cgt-2026-x",
  state: "running",
  progress: 12.5,
  request: '{"prompt":"ä \\u0000 \' \\" 🎬"}',
  output: { videoUrl: "https://v", lastFrameUrl: "https://l", expiresAt: 7, blobHash: "ab", contentType: "video/mp4" },
  error: { code: "x", message: "'; drop table tasks; --" },
  usage: { ...noUsage, videoSeconds: 5 },
  rawUsage: '{"completion_tokens":1}',
  costNanoUsd: Number.MAX_SAFE_INTEGER,
  idempotencyKey: "once",
  callbackUrl: "https://caller.example/hook",
  metadata: { deep: { list: [1, null, "ü"] } },
  tags: { team: "film" },
  submittedAt: newYear + 1,
  startedAt: newYear + 2,
  finishedAt: newYear + 3,
  polls: 9,
  placeAt: newYear + 4,
  goneSince: newYear + 5,
  unansweredSince: newYear + 6,
});

/** The entry of a task that created five seconds of video. */
export function taskEntry(name: string, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return ledgerEntry(name, {
    model: "seedance",
    requestedModel: "seedance",
    provider: "ark-main",
    endpoint: "video",
    callerDialect: "video-tasks",
    upstreamDialect: "video-tasks",
    stream: false,
    usage: { ...noUsage, videoSeconds: 5 },
    costNanoUsd: 250_000_000,
    priceVersion: "prc_1",
    ...changes,
  });
}

export function delivery(name: string, changes: Partial<WebhookDelivery> = {}): WebhookDelivery {
  return {
    id: `msg_${name}`,
    taskId: `vt_${name}`,
    workspaceId: "ws_1",
    url: "https://caller.example/hook",
    body: '{"type":"video.task.succeeded"}',
    tries: 0,
    dueAt: newYear,
    createdAt: newYear,
    lastStatus: null,
    lastError: null,
    deliveredAt: null,
    ...changes,
  };
}

export function assetGroup(name: string, changes: Partial<AssetGroup> = {}): AssetGroup {
  return {
    id: `ag_${name}`,
    workspaceId: "ws_1",
    platform: "local",
    name: `the ${name}`,
    description: "",
    projectName: "default",
    providerId: null,
    upstreamId: null,
    createdAt: newYear,
    updatedAt: newYear,
    ...changes,
  };
}

export function asset(name: string, changes: Partial<Asset> = {}): Asset {
  return {
    id: `as_${name}`,
    workspaceId: "ws_1",
    groupId: "ag_cast",
    platform: "local",
    name: `the ${name}`,
    type: "Image",
    sourceUrl: "https://pictures.example/a.png",
    status: "Processing",
    error: null,
    providerId: null,
    upstreamId: null,
    blobHash: null,
    sizeBytes: null,
    contentType: null,
    createdAt: newYear,
    updatedAt: newYear,
    dueAt: newYear,
    ...changes,
  };
}

/** The tasks on every page of a list, in order. */
export async function everyTask(
  read: (cursor: string | null) => Promise<TaskPage>,
  between: () => Promise<void> = async () => undefined,
): Promise<Task[]> {
  const tasks: Task[] = [];
  let cursor: string | null = null;
  do {
    const page: TaskPage = await read(cursor);
    tasks.push(...page.tasks);
    cursor = page.next;
    await between();
  } while (cursor !== null);
  return tasks;
}

/** Returns the only item of a list. Throws if there is not exactly one. */
export function only<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined || list.length !== 1) throw new Error(`expected one, there are ${list.length}`);
  return first;
}
