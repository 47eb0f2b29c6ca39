import { BoundedMap, bounds, nanoToUsdText, oncePerObject, type Principal } from "#core/index.ts";
import type { AttemptSums, Clock, RequestEnd, Tracing } from "#ports/index.ts";
import { causeOf } from "./attempt-metrics.ts";
import { maskText } from "./redacted.ts";

export type AccessLogMode = "all" | "errors" | "off";

export interface AccessLine {
  readonly end: RequestEnd;
  readonly level: "info" | "warn";
  /** Unix milliseconds. */
  readonly atMs: number;
}

export interface AccessLogOptions {
  readonly mode: AccessLogMode;
  readonly clock: Clock;
  /** The id of this process; absent if there is only one. */
  readonly instance?: string;
  /** null or absent if traces are not exported. */
  readonly traces?: Pick<Tracing, "traceIdOf"> | null;
  /** Receives each line before it is formatted. */
  readonly onLine?: (line: AccessLine) => void;
  /** Receives several lines at once. */
  readonly write: (lines: string) => void;
}

/**
 * One line for each request. The fields are few and fixed, so lines are formatted by hand, and buffered to be written together. Text
 * from callers or upstreams (model, unknown path, error message) is masked and shortened.
 */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #texts = new BoundedMap<string, string>(bounds.accessLogTextsMax);
  readonly #callerOf = oncePerObject((principal: Principal) => {
    return `,${JSON.stringify(callerFields({ key: null, principal })).slice(1, -1)}`;
  });
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
    const isSuccess = end.status < 400 && end.outcome !== "failed";
    if (mode === "off" || (mode === "errors" && isSuccess) || (isSuccess && isProbe(end))) return;
    const atMs = this.#options.clock.now();
    const level = end.outcome === "failed" ? "warn" : "info";
    this.#lines += this.#line(end, level, atMs);
    this.#options.onLine?.({ end, level, atMs });
    if (this.#lines.length >= bounds.accessLogBytesMax) this.flush();
    else this.#cancelFlush ??= this.#options.clock.after(bounds.accessLogMs, () => this.flush());
  }

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

  #caller({ key, principal }: RequestEnd): string {
    if (principal != null) return this.#callerOf(principal);
    return key === null ? "" : `,"key":${JSON.stringify(key)}`;
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

  /** As JSON, with credentials masked. Cached, because the same few texts repeat. */
  #text(text: string): string {
    const cached = this.#texts.get(text);
    if (cached !== undefined) return cached;
    const shown = JSON.stringify(maskText(text.slice(0, bounds.accessLogTextMax)));
    if (text.length > bounds.accessLogTextMax) return shown;
    this.#texts.set(text, shown);
    return shown;
  }
}

export function callerFields({
  key,
  principal,
}: Pick<RequestEnd, "key" | "principal">): Readonly<Record<string, string>> {
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

/** The message of an error, masked and shortened. */
export function shownSentence(message: string): string {
  return maskText(message.slice(0, bounds.accessLogSentenceMax));
}

/** A path, masked and shortened: a long segment may be a token. */
export function shownPath(path: string): string {
  return maskText(path.slice(0, bounds.accessLogPathMax).replaceAll(/[^/]{33,}/g, (part) => `${part.slice(0, 8)}…`));
}

/** Milliseconds rounded to one decimal place. */
export function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Requests of load balancers and Prometheus, which are logged only when they fail. */
function isProbe({ route }: RequestEnd): boolean {
  return route === "healthz" || route === "readyz" || route === "metrics";
}
