import type { RequestRow } from "@sluice/contract";
import { BoundedMap, bounds } from "#core/index.ts";
import type { Broadcast, Clock } from "#ports/index.ts";
import { RowWords, readRowWord } from "./row-words.ts";

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
export type Watched = ReadonlySet<string | null>;

/**
 * Live views over processes. Whoever watches says so, and again while it lasts; the others then tell what ends with them, gathered
 * and bounded. When the last one leaves that is said too, and a watcher that died is forgotten soon.
 */
export class SharedTail {
  readonly #options: SharedTailOptions;
  readonly #words: RowWords;
  /** Processes that watch, with until when they are believed to, in monotonic milliseconds. */
  readonly #watchers = new Map<string, { readonly watched: Watched; readonly untilMs: number }>();
  /** How many rows each process had told with its last word. */
  readonly #heard = new BoundedMap<string, number>(bounds.instancesMax);
  #watchedHere: Watched = new Set();
  #forgetRenewal = (): void => undefined;

  constructor(options: SharedTailOptions) {
    const { broadcast, instanceId, clock } = options;
    this.#options = options;
    this.#words = new RowWords({ instanceId, clock, send: (word) => broadcast.send("row", word) });
    broadcast.subscribe("watch", (text) => this.#watch(text));
    broadcast.subscribe("row", (text) => this.#hear(text));
  }

  /** Whether another process may be watching. */
  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** What is looked at in this process has changed. */
  watch(watched: Watched): void {
    if (this.#watchedHere.size === 0 && watched.size === 0) return;
    if (this.#watchedHere.size === 0) this.#heard.clear();
    this.#watchedHere = watched;
    this.#tellWatched();
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

  tell(row: RequestRow): void {
    this.#words.add(row);
  }

  #tellWatched(): void {
    const { broadcast, clock, instanceId } = this.#options;
    this.#forgetRenewal();
    broadcast.send("watch", JSON.stringify({ from: instanceId, workspaces: [...this.#watchedHere] }));
    if (this.#watchedHere.size > 0) this.#forgetRenewal = clock.after(bounds.tailWatchMs, () => this.#tellWatched());
  }

  #watch(text: string): void {
    const word = readJson(text);
    const { from, workspaces } = word;
    if (typeof from !== "string" || !Array.isArray(workspaces)) return;
    const watched: Watched = new Set(workspaces.filter((one) => one === null || typeof one === "string"));
    if (watched.size === 0) {
      this.#watchers.delete(from);
      if (this.#watchers.size === 0) this.#words.forget();
    } else if (this.#watchers.has(from) || this.#watchers.size < bounds.instancesMax) {
      this.#watchers.set(from, { watched, untilMs: this.#options.clock.monotonic() + bounds.tailWatchedMs });
    }
  }

  #hear(text: string): void {
    if (this.#watchedHere.size === 0) return;
    const word = readRowWord(readJson(text));
    if (word === null) return;
    const { onRow, onDropped } = this.#options;
    const before = this.#heard.get(word.from);
    this.#heard.set(word.from, word.before + word.rows.length);
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
