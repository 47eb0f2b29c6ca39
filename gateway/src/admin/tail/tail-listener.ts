import type { RequestRow } from "@sluice/contract";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";

export interface TailOptions {
  /** null: every one. */
  readonly workspaceId: string | null;
  readonly userId: string;
  /** Whose requests alone are shown of all people's; null: everybody's. */
  readonly seenPerson: string | null;
  readonly signal: AbortSignal;
  /** Asked now and then; a no, or a rejection, ends the view. */
  readonly stillAllowed: () => Promise<boolean>;
}

export interface TailListenerOptions extends TailOptions {
  readonly clock: Clock;
  readonly named: (row: RequestRow) => Promise<RequestRow>;
  readonly ended: (listener: TailListener) => void;
}

/** Why a view ended, as its watcher is told. */
export type TailEnd = "session" | "time" | "closing";

/**
 * One view of requests. Rows wait here until its watcher reads; the events are `message` (a RequestRow), `dropped`
 * (`{"rows": 3}`: so many were lost) and `end` (`{"why": "time"}`).
 */
export class TailListener {
  readonly #options: TailListenerOptions;
  readonly #endMs: number;
  #rows: RequestRow[] = [];
  #dropped = 0;
  /** What is to be sent beside rows: the opening, keep-alive comments, the end. */
  #words = "retry: 3000\n: open\n\n";
  #over = false;
  #wake = (): void => undefined;
  #forgetTimer = (): void => undefined;

  constructor(options: TailListenerOptions) {
    this.#options = options;
    this.#endMs = options.clock.monotonic() + bounds.tailMs;
  }

  stream(): ReadableStream<Uint8Array> {
    const { signal } = this.#options;
    const gone = () => this.#leave();
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
    this.#beatLater();
    return new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: gone },
      { highWaterMark: 0 },
    );
  }

  get userId(): string {
    return this.#options.userId;
  }

  /** null: every one. */
  get workspaceId(): string | null {
    return this.#options.workspaceId;
  }

  watches(workspaceId: string): boolean {
    const own = this.#options.workspaceId;
    return own === null || own === workspaceId;
  }

  take(row: RequestRow): void {
    if (this.#over || !this.#sees(row)) return;
    if (this.#rows.push(row) > bounds.tailRowsMax) {
      this.#rows.shift();
      this.#dropped++;
    }
    this.#wake();
  }

  #sees({ person }: RequestRow): boolean {
    const { seenPerson } = this.#options;
    return seenPerson === null || person === null || person.id === seenPerson;
  }

  /** So many were lost before they came here. */
  drop(rows: number): void {
    if (this.#over) return;
    this.#dropped += rows;
    this.#wake();
  }

  /** Rows that wait are sent before it. */
  end(why: TailEnd): void {
    if (this.#over) return;
    this.#words += `event: end\ndata: ${JSON.stringify({ why })}\n\n`;
    this.#leave();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    await this.#something();
    const rows = this.#rows;
    const dropped = this.#dropped;
    const words = this.#words;
    this.#rows = [];
    this.#dropped = 0;
    this.#words = "";
    let text = dropped === 0 ? "" : `event: dropped\ndata: ${JSON.stringify({ rows: dropped })}\n\n`;
    for (const row of rows) {
      text += `id: ${row.attempt_id}\ndata: ${JSON.stringify(await this.#options.named(row))}\n\n`;
    }
    text += words;
    if (text !== "") controller.enqueue(encoder.encode(text));
    if (this.#over && this.#rows.length === 0 && this.#words === "") controller.close();
  }

  #something(): Promise<void> | void {
    if (this.#over || this.#rows.length > 0 || this.#dropped > 0 || this.#words !== "") return;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #beatLater(): void {
    if (this.#over) return;
    this.#forgetTimer = this.#options.clock.after(bounds.keepAliveMs, () => void this.#beat());
  }

  /** Keeps the connection, and looks whether its watcher still may. */
  async #beat(): Promise<void> {
    if (this.#options.clock.monotonic() >= this.#endMs) return this.end("time");
    if (!(await this.#options.stillAllowed().catch(() => false))) return this.end("session");
    if (this.#words === "") this.#words = ": alive\n\n";
    this.#wake();
    this.#beatLater();
  }

  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#forgetTimer();
    this.#options.ended(this);
    this.#wake();
  }
}

const encoder = new TextEncoder();
