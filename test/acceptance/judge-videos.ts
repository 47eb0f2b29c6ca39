import type { TaskTruthRecord, TruthRecord } from "@sluice/simulator";
import type { Placed } from "./video-load.ts";
import { type VideoModel, videoPrices } from "./video-orders.ts";

/** The columns of `sluice ledger export` that are judged here. */
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

/** A task as its caller is shown it. */
export interface ShownTask {
  readonly id: string;
  readonly status: string;
  readonly cost: { readonly amount_usd: number } | null;
}

export type CreateRequest = Pick<TruthRecord, "attempt_id" | "status">;

export interface VideoEvidence {
  /** With the ids that callers were told, each order having been placed once more at the end. */
  readonly placed: readonly Placed[];
  readonly shown: readonly ShownTask[];
  readonly rows: readonly VideoRow[];
  /** What vendors made. */
  readonly made: readonly TaskTruthRecord[];
  /** Every request to make a task that reached a vendor, in order; status 0: it was not answered. */
  readonly requests: readonly CreateRequest[];
}

export interface VideoVerdict {
  readonly orders: number;
  readonly made: number;
  readonly entries: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Nobody said how it ended (it never arrived, or its vendor cannot be asked for it), and so held until the deadline. */
  readonly heldToDeadline: number;
  readonly faults: readonly string[];
}

const faultsMax = 100;
const findable: ReadonlySet<VideoModel> = new Set(["clip-marked", "clip-either", "clip-sora"]);
/** After these nobody knows what the vendor has done. */
const saysNothing: ReadonlySet<number> = new Set([0, 200, 408, 500, 502, 504]);

/** Compares what vendors made and were asked, what the ledger holds and what callers were told. Pure. */
export function judgeVideos(evidence: VideoEvidence): VideoVerdict {
  const { placed, shown, made, requests } = evidence;
  // An order that was refused before it was accepted, and placed again, has an entry of each refusal.
  const rows = evidence.rows.filter(({ endpoint, outcome }) => endpoint === "video" && outcome !== "rejected");
  const byOrder = Map.groupBy(rows, ({ tags }) => tags["order"] ?? "");
  const madeFor = Map.groupBy(made, (one) => one.attempt_id ?? "");
  const known = new Set(rows.map((row) => row.attempt_id));
  const faults: string[] = [];
  if (shown.length !== placed.length) faults.push(`${placed.length} orders became ${shown.length} tasks`);
  for (const one of made) {
    if (!known.has(one.attempt_id ?? "")) faults.push(`the vendor's ${one.id} is not in the ledger`);
    if (one.creates_of_attempt !== 1) faults.push(`${one.attempt_id} was made ${one.creates_of_attempt} times`);
  }
  const byId = new Map(shown.map((task) => [task.id, task]));
  let heldToDeadline = 0;
  for (const { order, ids } of placed) {
    const say = (what: string): void => void faults.push(`order ${order.number} (${order.model}) ${what}`);
    const own = byOrder.get(String(order.number)) ?? [];
    const [row] = own;
    const [id] = ids;
    if (ids.size !== 1) say(`has ${ids.size} ids`);
    if (own.length !== 1) say(`has ${own.length} entries in the ledger`);
    const task = byId.get(id ?? "");
    if (row === undefined || task === undefined) {
      if (task === undefined) say("is not listed");
      continue;
    }
    const [vendors] = madeFor.get(row.attempt_id) ?? [];
    const held = isUnheard(row) && (vendors === undefined || !findable.has(order.model));
    if (held) heldToDeadline += 1;
    else entryFaults(row, vendors).forEach(say);
    shownFaults(task, row).forEach(say);
  }
  faults.push(...repetitions(requests));
  return {
    orders: placed.length,
    made: made.length,
    entries: rows.length,
    outcomes: countBy(rows.map(({ outcome, error_code }) => (error_code === null ? outcome : error_code))),
    heldToDeadline,
    faults: faults.slice(0, faultsMax),
  };
}

/** The cost of what was used, worked out apart from the gateway: whole pico-USD, rounded half up to nano-USD. */
export function expectedVideoNanoUsd({ tokens, seconds, dialect }: TaskTruthRecord): number {
  if (dialect === "openai-videos") return seconds * Math.round(videoPrices.seconds * 1e9);
  return Number((BigInt(tokens) * BigInt(Math.round(videoPrices.tokens * 1e6)) + 500n) / 1_000n);
}

/** Nobody said how it ended, so it is booked as a guess. */
function isUnheard(row: VideoRow): boolean {
  return row.outcome === "failed" && row.error_code === "upstream_timeout" && isGuess(row);
}

function isGuess({ usage_source: source, cost_nano_usd: cost }: VideoRow): boolean {
  return source === "estimated" && cost > 0;
}

function succeeded({ state, vanished }: TaskTruthRecord): boolean {
  return state === "succeeded" && !vanished;
}

function entryFaults(row: VideoRow, vendors: TaskTruthRecord | undefined): string[] {
  if (vendors === undefined || !succeeded(vendors)) {
    const faults = row.outcome === "failed" ? [] : [`is ${row.outcome} without a video`];
    // What a vendor forgot may have been made and billed; what it calls failed was not.
    const free = vendors?.vanished !== true;
    if (!free) return isGuess(row) ? faults : [...faults, "is free, although its vendor never said so"];
    return row.cost_nano_usd === 0 ? faults : [...faults, `costs ${row.cost_nano_usd} for nothing`];
  }
  const told = [row.outcome, row.usage_source, row.cost_nano_usd].join(" ");
  const served = ["succeeded", "upstream", expectedVideoNanoUsd(vendors)].join(" ");
  const faults = told === served ? [] : [`has ${told} (${row.error_code}), but its vendor has ${served}`];
  const usage = vendors.dialect === "openai-videos" ? row.video_seconds - vendors.seconds : row.output - vendors.tokens;
  return usage === 0 ? faults : [...faults, `has ${row.output} tokens and ${row.video_seconds} seconds`];
}

function shownFaults(task: ShownTask, row: VideoRow): string[] {
  const faults: string[] = [];
  if (!["succeeded", "failed", "cancelled", "expired"].includes(task.status)) faults.push(`is still ${task.status}`);
  if ((task.status === "succeeded") !== (row.outcome === "succeeded")) {
    faults.push(`is shown as ${task.status} and entered as ${row.outcome}`);
  }
  const shown = Math.round((task.cost?.amount_usd ?? 0) * 1e9);
  return shown === row.cost_nano_usd ? faults : [...faults, `is shown to cost ${shown} nano-USD`];
}

/** Sent again is only what was refused for certain. */
function repetitions(requests: readonly CreateRequest[]): string[] {
  return [...Map.groupBy(requests, ({ attempt_id }) => attempt_id)].flatMap(([attempt, sent]) => {
    const doubtful = sent.slice(0, -1).filter(({ status }) => saysNothing.has(status));
    return doubtful.length === 0 ? [] : [`${attempt} was sent again after a request with an unknown outcome`];
  });
}

function countBy(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]));
}
