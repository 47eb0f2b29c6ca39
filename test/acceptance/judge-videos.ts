import type { TaskTruthRecord, TruthRecord } from "@sluice/simulator";
import type { PlacedOrder } from "./video-load.ts";
import { type VideoModel, videoPrices } from "./video-orders.ts";

/** The columns of `sluice ledger export` that are checked here. */
export interface VideoRow {
  readonly attempt_id: string;
  readonly outcome: string;
  readonly http_status: number;
  readonly error_code: string | null;
  readonly endpoint: string;
  readonly output: number;
  readonly video_seconds: number;
  readonly usage_source: string;
  readonly cost_nano_usd: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** A task as the API shows it. */
export interface ShownTask {
  readonly id: string;
  readonly status: string;
  readonly cost: { readonly amount_usd: number } | null;
}

export type CreateRequest = Pick<TruthRecord, "attempt_id" | "status">;

export interface VideoEvidence {
  /** With the ids that callers received; each order was placed again at the end. */
  readonly placed: readonly PlacedOrder[];
  readonly shown: readonly ShownTask[];
  readonly rows: readonly VideoRow[];
  /** The tasks of the vendors. */
  readonly vendorTasks: readonly TaskTruthRecord[];
  /** Every create request that reached a vendor, in order; status 0 if it was not answered. */
  readonly requests: readonly CreateRequest[];
}

export interface VideoVerdict {
  readonly orders: number;
  readonly vendorTasks: number;
  readonly entries: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Tasks with an unknown outcome (never created, or not possible to look up), which stayed reserved until the deadline. */
  readonly unknownOutcomes: number;
  readonly faults: readonly string[];
}

const faultsMax = 100;
const canBeFound: ReadonlySet<VideoModel> = new Set(["clip-marked", "clip-either", "clip-sora"]);
/** Statuses that leave it open whether the vendor created the task. */
const ambiguousStatuses: ReadonlySet<number> = new Set([0, 200, 408, 500, 502, 504]);

/** Compares the tasks and requests at the vendors, the ledger and what callers received. Pure. */
export function judgeVideos(evidence: VideoEvidence): VideoVerdict {
  const { placed, shown, vendorTasks, requests } = evidence;
  // An order that was refused and placed again has a "rejected" entry for each refusal.
  const rows = evidence.rows.filter(({ endpoint, outcome }) => endpoint === "video" && outcome !== "rejected");
  const byOrder = Map.groupBy(rows, ({ tags }) => tags["order"] ?? "");
  const tasksByAttempt = Map.groupBy(vendorTasks, (task) => task.attempt_id ?? "");
  const recorded = new Set(rows.map((row) => row.attempt_id));
  const faults: string[] = [];
  if (shown.length !== placed.length) faults.push(`${placed.length} orders became ${shown.length} tasks`);
  for (const task of vendorTasks) {
    if (!recorded.has(task.attempt_id ?? "")) faults.push(`the vendor's ${task.id} is not in the ledger`);
    if (task.creates_of_attempt !== 1) faults.push(`${task.attempt_id} was created ${task.creates_of_attempt} times`);
  }
  const byId = new Map(shown.map((task) => [task.id, task]));
  let unknownOutcomes = 0;
  for (const { order, ids } of placed) {
    const report = (what: string): void => void faults.push(`order ${order.number} (${order.model}) ${what}`);
    const entries = byOrder.get(String(order.number)) ?? [];
    const [row] = entries;
    const [id] = ids;
    if (ids.size !== 1) report(`has ${ids.size} ids`);
    if (entries.length !== 1) report(`has ${entries.length} entries in the ledger`);
    const task = byId.get(id ?? "");
    if (row === undefined || task === undefined) {
      if (task === undefined) report("is not listed");
      continue;
    }
    const [vendorTask] = tasksByAttempt.get(row.attempt_id) ?? [];
    const isUnresolved = hasUnknownOutcome(row) && (vendorTask === undefined || !canBeFound.has(order.model));
    if (isUnresolved) unknownOutcomes += 1;
    else entryFaults(row, vendorTask).forEach(report);
    shownFaults(task, row).forEach(report);
  }
  faults.push(...unsafeRepeats(requests));
  return {
    orders: placed.length,
    vendorTasks: vendorTasks.length,
    entries: rows.length,
    outcomes: countBy(rows.map(({ outcome, error_code }) => (error_code === null ? outcome : error_code))),
    unknownOutcomes,
    faults: faults.slice(0, faultsMax),
  };
}

/** The expected cost, computed independently of the gateway: pico-USD, rounded half up to nano-USD. */
export function expectedVideoNanoUsd({ tokens, seconds, dialect }: TaskTruthRecord): number {
  if (dialect === "openai-videos") return seconds * Math.round(videoPrices.seconds * 1e9);
  return Number((BigInt(tokens) * BigInt(Math.round(videoPrices.tokens * 1e6)) + 500n) / 1_000n);
}

/** The outcome was never reported, so an estimate was charged. */
function hasUnknownOutcome(row: VideoRow): boolean {
  return row.outcome === "failed" && row.error_code === "upstream_timeout" && isEstimate(row);
}

function isEstimate({ usage_source: source, cost_nano_usd: cost }: VideoRow): boolean {
  return source === "estimated" && cost > 0;
}

function succeeded({ state, vanished }: TaskTruthRecord): boolean {
  return state === "succeeded" && !vanished;
}

function entryFaults(row: VideoRow, vendorTask: TaskTruthRecord | undefined): string[] {
  if (vendorTask === undefined || !succeeded(vendorTask)) {
    const faults = row.outcome === "failed" ? [] : [`is ${row.outcome} without a video`];
    // A task that a vendor lost may have been completed and billed; one that it reports as failed was not.
    const free = vendorTask?.vanished !== true;
    if (!free) return isEstimate(row) ? faults : [...faults, "is free, although its vendor did not report a failure"];
    return row.cost_nano_usd === 0 ? faults : [...faults, `costs ${row.cost_nano_usd} nano-USD without a video`];
  }
  const recorded = [row.outcome, row.usage_source, row.cost_nano_usd].join(" ");
  const served = ["succeeded", "upstream", expectedVideoNanoUsd(vendorTask)].join(" ");
  const faults = recorded === served ? [] : [`has ${recorded} (${row.error_code}), but its vendor has ${served}`];
  const usage =
    vendorTask.dialect === "openai-videos" ? row.video_seconds - vendorTask.seconds : row.output - vendorTask.tokens;
  return usage === 0 ? faults : [...faults, `has ${row.output} tokens and ${row.video_seconds} seconds`];
}

function shownFaults(task: ShownTask, row: VideoRow): string[] {
  const faults: string[] = [];
  if (!["succeeded", "failed", "cancelled", "expired"].includes(task.status)) faults.push(`is still ${task.status}`);
  if ((task.status === "succeeded") !== (row.outcome === "succeeded")) {
    faults.push(`is shown as ${task.status} but recorded as ${row.outcome}`);
  }
  const shown = Math.round((task.cost?.amount_usd ?? 0) * 1e9);
  return shown === row.cost_nano_usd ? faults : [...faults, `is shown to cost ${shown} nano-USD`];
}

/** A request may only be repeated after a definite refusal. */
function unsafeRepeats(requests: readonly CreateRequest[]): string[] {
  return [...Map.groupBy(requests, ({ attempt_id }) => attempt_id)].flatMap(([attempt, sent]) => {
    const ambiguous = sent.slice(0, -1).filter(({ status }) => ambiguousStatuses.has(status));
    return ambiguous.length === 0 ? [] : [`${attempt} was repeated after a request with an unknown outcome`];
  });
}

function countBy(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]));
}
