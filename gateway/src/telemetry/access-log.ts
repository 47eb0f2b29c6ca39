import { BoundedMap, bounds, nanoToUsdText, type Principal } from "#core/index.ts";
import type { AttemptSums, Clock, RequestEnd, Tracing } from "#ports/index.ts";
import { causeOf } from "./attempt-metrics.ts";
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
 * be written together. What a caller or an upstream wrote (the model's name, a path where nothing is, the sentence of an error) is
 * masked and bounded.
 */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #texts = new BoundedMap<string, string>(bounds.accessLogTextsMax);
  readonly #callers = new WeakMap<Principal, string>();
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
    const isGood = end.status < 400 && end.outcome !== "failed";
    if (mode === "off" || (mode === "errors" && isGood) || (isGood && isProbe(end))) return;
    const atMs = this.#options.clock.now();
    const level = end.outcome === "failed" ? "warn" : "info";
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
    const { requestId, method, route, path = null, status, outcome, totalMs, address, model, error, attempts } = end;
    return (
      `{"level":"${level}","time":"${this.#timeText(atMs)}"${this.#instance},"msg":"request","requestId":"${requestId}"` +
      (this.#traces === null ? "" : `,"trace_id":"${this.#traces.traceIdOf(requestId)}"`) +
      `,"method":${this.#text(method)},"route":"${route}"` +
      (path === null ? "" : `,"path":${JSON.stringify(shownPath(path))}`) +
      `,"status":${status},"outcome":"${outcome}","totalMs":${tenths(totalMs)},"address":${this.#text(address)}` +
      this.#caller(end) +
      (model === null ? "" : `,"model":${this.#text(model)}`) +
      (attempts === undefined || attempts.last === null ? "" : this.#attempts(attempts)) +
      (error === null ? "}\n" : `,"error":"${error}"${messageOf(end)}}\n`)
    );
  }

  /** Whose key it was. All of a key's calls say the same of it. */
  #caller(end: RequestEnd): string {
    const { key, principal } = end;
    if (principal == null) return key === null ? "" : `,"key":${JSON.stringify(key)}`;
    let text = this.#callers.get(principal);
    if (text === undefined) {
      text = `,${JSON.stringify(callerFields(end)).slice(1, -1)}`;
      this.#callers.set(principal, text);
    }
    return text;
  }

  #attempts({ count, inputTokens, outputTokens, costNanoUsd, last, fault }: AttemptSums): string {
    if (last === null) return "";
    const { provider, deployment, upstreamStatus, stream, startedAfterMs, firstByteMs } = last;
    const cause = causeOf(last, fault);
    return (
      `,"provider":${this.#text(provider)},"deployment":${this.#text(deployment)},"attempts":${count}` +
      (upstreamStatus === null ? "" : `,"upstreamStatus":${upstreamStatus}`) +
      `,"stream":${stream}` +
      (firstByteMs === null ? "" : `,"firstByteMs":${tenths(startedAfterMs + firstByteMs)}`) +
      `,"inputTokens":${inputTokens},"outputTokens":${outputTokens},"costUsd":${nanoToUsdText(costNanoUsd)}` +
      (cause === "" ? "" : `,"cause":"${cause}"`)
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

/** Whose request it was, as far as that is known. */
export function callerFields({ key, principal }: RequestEnd): Readonly<Record<string, string>> {
  if (principal == null) return key === null ? {} : { key };
  const { workspace, group, key: own, person } = principal;
  return {
    ...{ workspace: workspace.slug, group: group.name, keyId: own.id, keyName: own.name, key: own.prefix },
    ...(person === null ? {} : { person }),
  };
}

function messageOf({ message }: RequestEnd): string {
  return message == null ? "" : `,"message":${JSON.stringify(shownSentence(message))}`;
}

/** Of an error, as long as logs have it. */
export function shownSentence(message: string): string {
  return maskText(message.slice(0, bounds.accessLogSentenceMax));
}

/** A long part may be anything, also somebody's token. */
export function shownPath(path: string): string {
  return maskText(path.slice(0, bounds.accessLogPathMax).replaceAll(/[^/]{33,}/g, (part) => `${part.slice(0, 8)}…`));
}

/** Milliseconds with one decimal place: finer than anybody reads. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** What load balancers and Prometheus ask every few seconds is news only when it goes wrong. */
function isProbe({ route }: RequestEnd): boolean {
  return route === "healthz" || route === "readyz" || route === "metrics";
}
