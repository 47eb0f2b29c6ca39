import { type RequestRow, tailPath } from "@sluice/contract";

/** `open`: rows arrive as they end. `waiting`: reconnects automatically. `ended`: stopped until the user reconnects. */
export type TailState = "opening" | "open" | "waiting" | "ended";

export interface TailWatcher {
  readonly onState: (state: TailState) => void;
  readonly onRows: (rows: readonly RequestRow[]) => void;
  /** How many rows were dropped because they came too fast. */
  readonly onDropped: (rows: number) => void;
}

const firstRetryMs = 2_000;
const lastRetryMs = 60_000;
/** Rows are batched, because a busy gateway ends hundreds per second. */
const gatherMs = 250;

/**
 * Receives requests as they end. Browsers allow few connections per host, so a hidden page closes its connection and reopens it when
 * it becomes visible.
 */
export class TailSource {
  readonly #path: string;
  readonly #watcher: TailWatcher;
  #events: EventSource | null = null;
  #gathered: RequestRow[] = [];
  #gathering: ReturnType<typeof setTimeout> | null = null;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #retryMs = firstRetryMs;
  #ended = false;

  constructor(workspace: string, watcher: TailWatcher) {
    this.#path = tailPath(workspace);
    this.#watcher = watcher;
  }

  /** Returns a function that stops it. */
  start(): () => void {
    const update = () => (document.hidden ? this.#release() : this.#open());
    document.addEventListener("visibilitychange", update);
    update();
    return () => {
      document.removeEventListener("visibilitychange", update);
      this.#release();
      if (this.#gathering !== null) clearTimeout(this.#gathering);
      this.#gathering = null;
    };
  }

  #open(): void {
    if (this.#events !== null || this.#ended) return;
    this.#watcher.onState("opening");
    const events = new EventSource(this.#path);
    this.#events = events;
    events.addEventListener("open", () => {
      this.#retryMs = firstRetryMs;
      this.#watcher.onState("open");
    });
    events.addEventListener("message", ({ data }) => this.#gather(data));
    events.addEventListener("dropped", ({ data }) => {
      const rows = member(parsed(data), "rows");
      if (typeof rows === "number") this.#watcher.onDropped(rows);
    });
    events.addEventListener("end", ({ data }) => {
      // A stream that reached its maximum duration, or lost its process, is reopened. Without a session, that would be refused.
      if (member(parsed(data), "why") !== "session") return this.#again();
      this.#ended = true;
      this.#release();
      this.#watcher.onState("ended");
    });
    events.addEventListener("error", () => {
      // The browser retries failed connections, but not after a response that is no event stream.
      if (events.readyState === EventSource.CLOSED) this.#again();
      else this.#watcher.onState("waiting");
    });
  }

  #again(): void {
    this.#release();
    this.#watcher.onState("waiting");
    this.#retry = setTimeout(() => this.#open(), this.#retryMs);
    this.#retryMs = Math.min(lastRetryMs, this.#retryMs * 2);
  }

  #release(): void {
    this.#events?.close();
    this.#events = null;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }

  #gather(data: unknown): void {
    const row = parsed(data);
    if (typeof member(row, "attempt_id") !== "string") return;
    this.#gathered.push(row as RequestRow);
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null;
      const rows = this.#gathered;
      this.#gathered = [];
      this.#watcher.onRows(rows);
    }, gatherMs);
  }
}

function parsed(data: unknown): unknown {
  try {
    return typeof data === "string" ? JSON.parse(data) : null;
  } catch {
    return null;
  }
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}
