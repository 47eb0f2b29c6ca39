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
  /** So many of another process will not come; of this workspace, or null: of any. */
  readonly onDropped: (workspaceId: string | null, rows: number) => void;
}

/** The workspaces whose requests are looked at in a process; null among them: all. */
type Watched = ReadonlySet<string | null>;

/**
 * Live views over processes. Whoever watches says so, and again while it lasts; the others then tell what ends with them, gathered
 * and bounded. When the last one leaves that is said too, and a watcher that died is forgotten soon.
 */
export class SharedTail {
  readonly #options: SharedTailOptions;
  readonly #batches: RowBatches;
  /** Processes that watch, with until when they are believed to, in monotonic milliseconds. */
  readonly #watchers = new Map<string, { readonly watched: Watched; readonly untilMs: number }>();
  /** How many rows each process had told with its last word. */
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

  /** What is looked at in this process has changed. */
  watch(watched: Watched): void {
    if (this.#watchedHere.size === 0 && watched.size === 0) return;
    if (this.#watchedHere.size === 0) this.#received.clear();
    this.#watchedHere = watched;
    this.#announce();
  }

  /** Whether a request of this workspace is looked at elsewhere. */
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
    const word = readJson(text);
    const { from, workspaces } = word;
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
    const word = parseBatch(readJson(text));
    if (word === null) return;
    const { onRow, onDropped } = this.#options;
    const before = this.#received.get(word.from);
    this.#received.set(word.from, word.before + word.rows.length);
    const lost = before === undefined ? 0 : word.before - before;
    if (lost > 0) onDropped(null, lost);
    for (const [workspaceId, rows] of word.dropped) onDropped(workspaceId, rows);
    for (const row of word.rows) onRow(row);
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

/** Rows on their way to other processes: gathered for a moment, packed into words, and no more than there is room for. */
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
    const text = this.#rows.length < bounds.tailTellRowsMax ? JSON.stringify(row) : null;
    if (text !== null && Buffer.byteLength(text) <= rowBytesMax) this.#rows.push(text);
    else this.#drop(row.workspace.id);
    this.#forgetTimer ??= this.#options.clock.after(bounds.tailTellMs, () => this.#send());
  }

  /** Nobody is told any more of what waits. */
  forget(): void {
    this.#forgetTimer?.();
    this.#forgetTimer = null;
    this.#rows = [];
    this.#dropped.clear();
  }

  #drop(workspaceId: string): void {
    const known = this.#dropped.get(workspaceId);
    if (known === undefined && this.#dropped.size >= bounds.tailsMax) return;
    this.#dropped.set(workspaceId, (known ?? 0) + 1);
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
    // What is dropped may be long; it is told apart from rows where both do not fit.
    if (dropped.length > droppedBytesMax && rows.length > 0) {
      this.#sendBatch(rows, "[]");
      this.#sendBatch([], dropped);
      return;
    }
    const word = `{"from":"${instanceId}","before":${this.#sent},"dropped":${dropped},"rows":[${rows.join(",")}]}`;
    broadcast.send("row", word);
    this.#sent += rows.length;
  }
}

/**
 * What one word tells of requests that ended in another process; null: it is none that this version knows. `before`: how many rows that
 * process had told before; a gap is what was lost on the way. `dropped`: by workspace, how many it did not tell, too many at once.
 */
function parseBatch(word: Readonly<Record<string, unknown>>) {
  const { from, before, rows, dropped } = word;
  if (typeof from !== "string" || typeof before !== "number") return null;
  if (!Array.isArray(rows) || !Array.isArray(dropped)) return null;
  const known: readonly RequestRow[] = rows.filter(isRow);
  return { from, before, rows: known, dropped: dropped.filter(isDropped) };
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

/** Beside the rest of a word, which takes at most so much. */
const droppedBytesMax = 512;
const rowBytesMax = bounds.broadcastTextBytesMax - droppedBytesMax - 256;
