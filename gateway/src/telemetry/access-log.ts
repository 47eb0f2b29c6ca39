import { BoundedMap, bounds } from "#core/index.ts";
import type { Clock, RequestEnd, Tracing } from "#ports/index.ts";
import { maskText } from "./redacted.ts";

export type AccessLogMode = "all" | "errors" | "off";

/** What the line of a request is made of. */
export interface AccessLine {
  readonly end: RequestEnd;
  readonly level: "info" | "warn";
  /** Unix milliseconds. */
  readonly atMs: number;
}

export interface AccessLogOptions {
  readonly mode: AccessLogMode;
  readonly clock: Clock;
  /** The id of this process; left out where there is one process only. */
  readonly instance?: string;
  /** null: no traces are kept. */
  readonly traces?: Pick<Tracing, "traceIdOf"> | null;
  /** Is told of each line beside its text; absent: nobody is. */
  readonly onLine?: (line: AccessLine) => void;
  /** Takes several lines at once. */
  readonly write: (lines: string) => void;
}

/**
 * One line for each request. Its members are known and few, so the line is put together by hand, and lines wait a moment to
 * be written together: a line costs a request about two microseconds. Nothing in it is what a caller wrote but the model's
 * name, which is masked and bounded.
 */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #texts = new BoundedMap<string, string>(bounds.accessLogTextsMax);
  readonly #instance: string;
  readonly #traces: Pick<Tracing, "traceIdOf"> | null;
  #lines = "";
  #timeMs = 0;
  #time = "";
  #cancelFlush: (() => void) | null = null;

  constructor(options: AccessLogOptions) {
    this.#options = options;
    this.#traces = options.traces ?? null;
    this.#instance = options.instance === undefined ? "" : `,"instance":${JSON.stringify(options.instance)}`;
  }

  add(end: RequestEnd): void {
    const { mode } = this.#options;
    if (mode === "off" || (mode === "errors" && end.status < 400) || isProbe(end)) return;
    const atMs = this.#options.clock.now();
    const level = end.status >= 500 ? "warn" : "info";
    this.#lines += this.#line(end, level, atMs);
    this.#options.onLine?.({ end, level, atMs });
    if (this.#lines.length >= bounds.accessLogBytesMax) this.flush();
    else this.#cancelFlush ??= this.#options.clock.after(bounds.accessLogMs, () => this.flush());
  }

  /** Writes what waits. */
  flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = null;
    if (this.#lines === "") return;
    const lines = this.#lines;
    this.#lines = "";
    this.#options.write(lines);
  }

  #line(end: RequestEnd, level: AccessLine["level"], atMs: number): string {
    const { requestId, method, route, status, totalMs, address, key, model, error } = end;
    return (
      `{"level":"${level}","time":"${this.#timeText(atMs)}"${this.#instance},"msg":"request","requestId":"${requestId}"` +
      (this.#traces === null ? "" : `,"trace_id":"${this.#traces.traceIdOf(requestId)}"`) +
      `,"method":${this.#text(method)},"route":"${route}","status":${status},"totalMs":${totalMs.toFixed(1)}` +
      `,"address":${this.#text(address)}` +
      (key === null ? "" : `,"key":${JSON.stringify(key)}`) +
      (model === null ? "" : `,"model":${this.#text(model)}`) +
      (error === null ? "}\n" : `,"error":"${error}"}\n`)
    );
  }

  /** Many requests end within one millisecond. */
  #timeText(nowMs: number): string {
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#time = new Date(nowMs).toISOString();
    }
    return this.#time;
  }

  /** As JSON, without what looks like a credential. The same few come again and again. */
  #text(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const shown = JSON.stringify(maskText(text.slice(0, bounds.accessLogTextMax)));
    if (text.length > bounds.accessLogTextMax) return shown;
    this.#texts.set(text, shown);
    return shown;
  }
}

/** What load balancers and Prometheus ask every few seconds is news only when it goes wrong. */
function isProbe({ route, status }: RequestEnd): boolean {
  return status < 400 && (route === "healthz" || route === "readyz" || route === "metrics");
}
