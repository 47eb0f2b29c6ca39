import type { RequestRow } from "@sluice/contract";
import {
  bounds,
  type ConfigSnapshot,
  columnsOf,
  Failure,
  FairShare,
  inputTokensOf,
  type LedgerEntry,
  nanoToUsd,
  noUsage,
  outputTokensOf,
} from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { type KeyNamesOptions, keyNames } from "../handlers/key-names.ts";
import { SharedTail, type SharedTailOptions } from "./shared-tail.ts";

interface RequestTailOptions extends KeyNamesOptions {
  readonly people: Pick<PeopleStore, "user">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
}

/**
 * Live views of requests as they end in this process and, once shared, in others. Without a view a call pays two comparisons; a slow
 * reader loses the oldest rows and gets their number.
 */
export class RequestTail {
  readonly #options: RequestTailOptions;
  readonly #keyNames: ReturnType<typeof keyNames>;
  readonly #listeners = new Set<TailListener>();
  /** Shares the views fairly between users and workspaces. */
  readonly #places = new FairShare(bounds.tailsMax);
  #shared: SharedTail | null = null;
  #closed = false;

  constructor(options: RequestTailOptions) {
    this.#options = options;
    this.#keyNames = keyNames(options);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  get isWatched(): boolean {
    return this.#shared?.isWatched === true;
  }

  /** Connects the views of this process with the other processes. */
  share(options: Pick<SharedTailOptions, "broadcast" | "instanceId">): void {
    const { clock } = this.#options;
    this.#shared = new SharedTail({
      ...options,
      clock,
      onRow: (row) => this.#show(row),
      onDropped: (workspaceId, rows) => {
        for (const listener of this.#listeners) {
          if (workspaceId === null || listener.watches(workspaceId)) listener.drop(rows);
        }
      },
    });
  }

  /** An observer that also feeds the views. */
  observe(observer: Observer): Observer {
    const publish = (entry: LedgerEntry): void => {
      if (this.#listeners.size > 0 || this.isWatched) this.#publish(entry);
    };
    return {
      ...observer,
      attemptEnd: (entry, fault) => {
        observer.attemptEnd(entry, fault);
        publish(entry);
      },
      attemptPending: publish,
    };
  }

  /** Throws rate_limit_exceeded if there are too many views, draining if the gateway is closing. */
  open(requested: TailOptions): ReadableStream<Uint8Array> {
    if (this.#closed)
      throw new Failure("draining", "The gateway is shutting down; try again.", { retryAfterMs: 1_000 });
    const own = [...this.#listeners].filter(({ options }) => options.userId === requested.userId).length;
    if (own >= bounds.tailsPerUserMax) throw tooMany(`You have ${own} live views open. Close one.`);
    const owner = { key: { id: requested.userId }, workspace: { id: requested.workspaceId ?? "" } };
    const problem = this.#places.take(owner, 1);
    if (problem !== null) throw tooMany(shareTexts[problem]);
    const listener = new TailListener({
      ...requested,
      clock: this.#options.clock,
      withNames: (row) => this.#withNames(row),
      ended: (one) => {
        if (!this.#listeners.delete(one)) return;
        this.#places.add(owner, -1);
        this.#announce();
      },
    });
    this.#listeners.add(listener);
    const stream = listener.stream();
    // It may have ended at once.
    if (this.#listeners.has(listener)) this.#announce();
    return stream;
  }

  /**
   * Ends every view, so that none delays shutdown; clients reconnect to another process. Requests that still end here are sent to views
   * elsewhere.
   */
  close(): void {
    this.#closed = true;
    for (const listener of [...this.#listeners]) listener.end("closing");
  }

  #publish(entry: LedgerEntry): void {
    const { workspaceId } = entry;
    const isShown = this.#listeners.values().some((listener) => listener.watches(workspaceId));
    const isShared = this.#shared?.watches(workspaceId) === true;
    if (!isShown && !isShared) return;
    const row = rowOf(entry, this.#options.configSnapshot());
    if (isShown) this.#show(row);
    if (isShared) this.#shared?.publish(row);
  }

  #show(row: RequestRow): void {
    for (const listener of this.#listeners) {
      if (listener.watches(row.workspace.id)) listener.take(row);
    }
  }

  #announce(): void {
    this.#shared?.watch(new Set([...this.#listeners].map(({ options }) => options.workspaceId)));
  }

  async #withNames(row: RequestRow): Promise<RequestRow> {
    const name = await this.#keyNames.nameOf(row.key.id).catch(() => "");
    return { ...row, key: { id: row.key.id, name }, actor: await this.#named(row.actor) };
  }

  async #named(actor: RequestRow["actor"]): Promise<RequestRow["actor"]> {
    if (actor === null) return null;
    const user = await this.#options.people.user(actor.id).catch(() => null);
    return user === null ? actor : { id: actor.id, email: user.email, name: user.name };
  }
}

const shareTexts = {
  key: "You have too many live views open. Close one.",
  workspace: "The workspace has too many live views open. Close one.",
  all: "Too many live views are open. Try again later.",
} as const;

function tooMany(message: string): Failure {
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: bounds.keepAliveMs });
}

/** An entry as a list row, without the names of its key and users. */
function rowOf(entry: LedgerEntry, configSnapshot: ConfigSnapshot): RequestRow {
  const isPending = entry.outcome === "pending";
  // A pending entry holds an estimate, not usage.
  const usage = isPending ? noUsage : entry.usage;
  const { attemptId, requestId, at, model, requestedModel, provider, endpoint } = entry;
  const { stream, retryIndex, outcome, httpStatus, errorCode, totalMs, firstTokenMs } = entry;
  return {
    ...columnsOf({ attemptId, requestId, at, model, requestedModel, provider, endpoint }),
    ...columnsOf({ stream, retryIndex, outcome, httpStatus, errorCode, totalMs, firstTokenMs }),
    workspace: { id: entry.workspaceId, slug: configSnapshot.workspaces.get(entry.workspaceId)?.slug ?? "" },
    key: { id: entry.keyId, name: "" },
    group: { id: entry.groupId, name: configSnapshot.groups.get(entry.groupId)?.name ?? "" },
    person: entry.personId === undefined ? null : { id: entry.personId, email: "", name: "" },
    actor: entry.actorId === undefined ? null : { id: entry.actorId, email: "", name: "" },
    operation: entry.operation ?? null,
    session: entry.session ?? null,
    batch_id: entry.batchId ?? null,
    custom_id: entry.customId ?? null,
    adjustment: entry.adjustment ?? null,
    adjusts: entry.adjusts ?? null,
    calls: entry.calls ?? 1,
    started_after_ms: entry.startedAfterMs,
    tags: { ...entry.tags },
    user_agent: entry.userAgent,
    input_tokens: inputTokensOf(usage),
    output_tokens: outputTokensOf(usage),
    cost_usd: nanoToUsd(entry.costNanoUsd),
    held_usd: isPending ? nanoToUsd(entry.reservedNanoUsd) : null,
  };
}

export interface TailOptions {
  /** null: all. */
  readonly workspaceId: string | null;
  readonly userId: string;
  /** If set, requests of other users are left out. */
  readonly visiblePerson: string | null;
  readonly signal: AbortSignal;
  /** Checked at intervals; false or a rejection ends the view. */
  readonly stillAllowed: () => Promise<boolean>;
}

export interface TailListenerOptions extends TailOptions {
  readonly clock: Clock;
  readonly withNames: (row: RequestRow) => Promise<RequestRow>;
  readonly ended: (listener: TailListener) => void;
}

/** Why a view ended. */
export type TailEnd = "session" | "time" | "closing";

/**
 * One view. Rows are queued until the client reads; the events are `message` (a RequestRow), `dropped` (`{"rows": 3}`: rows lost) and
 * `end` (`{"why": "time"}`).
 */
export class TailListener {
  readonly options: TailListenerOptions;
  readonly #endMs: number;
  #rows: RequestRow[] = [];
  #dropped = 0;
  /** Pending output other than rows: the opening, keep-alive comments, the end. */
  #pending = "retry: 3000\n: open\n\n";
  #isClosed = false;
  #wake = (): void => undefined;
  #forgetTimer = (): void => undefined;

  constructor(options: TailListenerOptions) {
    this.options = options;
    this.#endMs = options.clock.monotonic() + bounds.tailMs;
  }

  stream(): ReadableStream<Uint8Array> {
    const { signal } = this.options;
    const gone = () => this.#close();
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
    this.#scheduleKeepAlive();
    return new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: gone },
      { highWaterMark: 0 },
    );
  }

  watches(workspaceId: string): boolean {
    const own = this.options.workspaceId;
    return own === null || own === workspaceId;
  }

  take(row: RequestRow): void {
    if (this.#isClosed || !this.#sees(row)) return;
    if (this.#rows.push(row) > bounds.tailRowsMax) {
      this.#rows.shift();
      this.#dropped++;
    }
    this.#wake();
  }

  #sees({ person }: RequestRow): boolean {
    const { visiblePerson } = this.options;
    return visiblePerson === null || person === null || person.id === visiblePerson;
  }

  /** Rows lost before they arrived here. */
  drop(rows: number): void {
    if (this.#isClosed) return;
    this.#dropped += rows;
    this.#wake();
  }

  /** Sent after the queued rows. */
  end(why: TailEnd): void {
    if (this.#isClosed) return;
    this.#pending += `event: end\ndata: ${JSON.stringify({ why })}\n\n`;
    this.#close();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    await this.#waitForData();
    const rows = this.#rows;
    const dropped = this.#dropped;
    const pending = this.#pending;
    this.#rows = [];
    this.#dropped = 0;
    this.#pending = "";
    let text = dropped === 0 ? "" : `event: dropped\ndata: ${JSON.stringify({ rows: dropped })}\n\n`;
    for (const row of rows) {
      text += `id: ${row.attempt_id}\ndata: ${JSON.stringify(await this.options.withNames(row))}\n\n`;
    }
    text += pending;
    if (text !== "") controller.enqueue(encoder.encode(text));
    if (this.#isClosed && this.#rows.length === 0 && this.#pending === "") controller.close();
  }

  #waitForData(): Promise<void> | void {
    if (this.#isClosed || this.#rows.length > 0 || this.#dropped > 0 || this.#pending !== "") return;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #scheduleKeepAlive(): void {
    if (this.#isClosed) return;
    this.#forgetTimer = this.options.clock.after(bounds.keepAliveMs, () => void this.#keepAlive());
  }

  /** Keeps the connection alive and checks that the caller may still see it. */
  async #keepAlive(): Promise<void> {
    if (this.options.clock.monotonic() >= this.#endMs) return this.end("time");
    if (!(await this.options.stillAllowed().catch(() => false))) return this.end("session");
    if (this.#pending === "") this.#pending = ": alive\n\n";
    this.#wake();
    this.#scheduleKeepAlive();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#forgetTimer();
    this.options.ended(this);
    this.#wake();
  }
}

const encoder = new TextEncoder();
