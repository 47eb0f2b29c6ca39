import type { RequestRow } from "@sluice/contract";
import { BoundedMap, bounds } from "#core/index.ts";
import type { Broadcast, Clock } from "#ports/index.ts";

export interface SharedTailOptions {
  readonly broadcast: Pick<Broadcast, "send" | "subscribe">;
  /** The id of this process. */
  readonly instanceId: string;
  readonly clock: Clock;
  /** A request of another process has ended. */
  readonly onRow: (row: RequestRow) => void;
  /** Rows of another process that were dropped; `null`: of any workspace. */
  readonly onDropped: (workspaceId: string | null, rows: number) => void;
}

/** The workspaces that are viewed in a process; null among them: all. */
type Watched = ReadonlySet<string | null>;

/**
 * Live views across processes. A process with views announces them regularly, and the others send it batches of their ended requests. It
 * also announces that its last view has closed. A process that died is forgotten after a while.
 */
export class SharedTail {
  readonly #options: SharedTailOptions;
  readonly #batches: RowBatches;
  /** Processes with views, and until when their announcement counts (monotonic milliseconds). */
  readonly #watchers = new Map<string, { readonly watched: Watched; readonly untilMs: number }>();
  /** Rows that each process had sent with its last message. */
  readonly #received = new BoundedMap<string, number>(bounds.instancesMax);
  #watchedHere: Watched = new Set();
  #forgetRenewal = (): void => undefined;

  constructor(options: SharedTailOptions) {
    const { broadcast } = options;
    this.#options = options;
    this.#batches = new RowBatches(options);
    broadcast.subscribe("watch", (text) => this.#onWatch(text));
    broadcast.subscribe("row", (text) => this.#onRows(text));
  }

  /** Whether another process may be watching. */
  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** The views of this process have changed. */
  watch(watched: Watched): void {
    if (this.#watchedHere.size === 0 && watched.size === 0) return;
    if (this.#watchedHere.size === 0) this.#received.clear();
    this.#watchedHere = watched;
    this.#announce();
  }

  /** Whether another process views this workspace. */
  watches(workspaceId: string): boolean {
    const nowMs = this.#options.clock.monotonic();
    let watches = false;
    for (const [id, { watched, untilMs }] of this.#watchers) {
      if (untilMs <= nowMs) this.#watchers.delete(id);
      else watches ||= watched.has(null) || watched.has(workspaceId);
    }
    return watches;
  }

  publish(row: RequestRow): void {
    this.#batches.add(row);
  }

  #announce(): void {
    const { broadcast, clock, instanceId } = this.#options;
    this.#forgetRenewal();
    broadcast.send("watch", JSON.stringify({ from: instanceId, workspaces: [...this.#watchedHere] }));
    if (this.#watchedHere.size > 0) this.#forgetRenewal = clock.after(bounds.tailWatchMs, () => this.#announce());
  }

  #onWatch(text: string): void {
    const message = readJson(text);
    const { from, workspaces } = message;
    if (typeof from !== "string" || !Array.isArray(workspaces)) return;
    const watched: Watched = new Set(workspaces.filter((one) => one === null || typeof one === "string"));
    if (watched.size === 0) {
      this.#watchers.delete(from);
      if (this.#watchers.size === 0) this.#batches.forget();
    } else if (this.#watchers.has(from) || this.#watchers.size < bounds.instancesMax) {
      this.#watchers.set(from, { watched, untilMs: this.#options.clock.monotonic() + bounds.tailWatchedMs });
    }
  }

  #onRows(text: string): void {
    if (this.#watchedHere.size === 0) return;
    const message = parseBatch(readJson(text));
    if (message === null) return;
    const { onRow, onDropped } = this.#options;
    const before = this.#received.get(message.from);
    this.#received.set(message.from, message.before + message.rows.length);
    const lost = before === undefined ? 0 : message.before - before;
    if (lost > 0) onDropped(null, lost);
    for (const [workspaceId, rows] of message.dropped) onDropped(workspaceId, rows);
    for (const row of message.rows) onRow(row);
  }
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Batches rows for other processes into messages, within a size limit. */
class RowBatches {
  readonly #options: SharedTailOptions;
  #rows: string[] = [];
  #dropped = new Map<string, number>();
  #sent = 0;
  #forgetTimer: (() => void) | null = null;

  constructor(options: SharedTailOptions) {
    this.#options = options;
  }

  add(row: RequestRow): void {
    const text = this.#rows.length < bounds.tailBatchRowsMax ? JSON.stringify(row) : null;
    if (text !== null && Buffer.byteLength(text) <= rowBytesMax) this.#rows.push(text);
    else this.#drop(row.workspace.id);
    this.#forgetTimer ??= this.#options.clock.after(bounds.tailBatchMs, () => this.#send());
  }

  /** Discards the queue. */
  forget(): void {
    this.#forgetTimer?.();
    this.#forgetTimer = null;
    this.#rows = [];
    this.#dropped.clear();
  }

  #drop(workspaceId: string): void {
    const count = this.#dropped.get(workspaceId);
    if (count === undefined && this.#dropped.size >= bounds.tailsMax) return;
    this.#dropped.set(workspaceId, (count ?? 0) + 1);
  }

  #send(): void {
    const rows = this.#rows;
    const dropped = JSON.stringify([...this.#dropped]);
    this.forget();
    let together: string[] = [];
    let bytes = 0;
    for (const row of rows) {
      const size = Buffer.byteLength(row) + 1;
      if (bytes + size > rowBytesMax) {
        this.#sendBatch(together, "[]");
        together = [];
        bytes = 0;
      }
      together.push(row);
      bytes += size;
    }
    this.#sendBatch(together, dropped);
  }

  #sendBatch(rows: readonly string[], dropped: string): void {
    const { broadcast, instanceId } = this.#options;
    // The dropped counts may be long, so they are sent separately if both do not fit.
    if (dropped.length > droppedBytesMax && rows.length > 0) {
      this.#sendBatch(rows, "[]");
      this.#sendBatch([], dropped);
      return;
    }
    const message = `{"from":"${instanceId}","before":${this.#sent},"dropped":${dropped},"rows":[${rows.join(",")}]}`;
    broadcast.send("row", message);
    this.#sent += rows.length;
  }
}

/**
 * One message about requests that ended in another process; null: unknown version. `before`: rows that process had sent before, to detect
 * lost messages. `dropped`: rows not sent, by workspace.
 */
function parseBatch(message: Readonly<Record<string, unknown>>) {
  const { from, before, rows, dropped } = message;
  if (typeof from !== "string" || typeof before !== "number") return null;
  if (!Array.isArray(rows) || !Array.isArray(dropped)) return null;
  const valid: readonly RequestRow[] = rows.filter(isRow);
  return { from, before, rows: valid, dropped: dropped.filter(isDropped) };
}

function isRow(row: RequestRow | null): boolean {
  return (
    typeof row?.attempt_id === "string" &&
    /^[\w-]{1,100}$/.test(row.attempt_id) &&
    typeof row.workspace?.id === "string" &&
    typeof row.key?.id === "string"
  );
}

function isDropped(one: unknown): one is readonly [workspaceId: string, rows: number] {
  return Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "number";
}

/** Maximum size of the rest of a message. */
const droppedBytesMax = 512;
const rowBytesMax = bounds.broadcastTextBytesMax - droppedBytesMax - 256;
