import { type Logger, pino } from "pino";
import { bounds, type LedgerEntry, WindowCounts } from "#core/index.ts";
import type { AttemptFault, Clock, LogLevel, Observer, RequestEnd, Tracing } from "#ports/index.ts";
import { type AccessLine, AccessLog, type AccessLogMode, shownSentence, tenths } from "./access-log.ts";
import { causeOf } from "./attempt-metrics.ts";
import type { Metrics } from "./metrics.ts";
import { maskText, redacted } from "./redacted.ts";

/** An observer that never throws, so that a broken log or metric does not interrupt a call. Logs what was thrown. */
export function guardedObserver(observer: Observer): Observer {
  // Three fixed parameters: a rest parameter would allocate an array for each call.
  const guarded = <Act extends (one: never, two: never, three: never) => void>(act: Act): Act =>
    ((one: never, two: never, three: never): void => {
      try {
        act(one, two, three);
      } catch (error) {
        logFailure(observer, error);
      }
    }) as Act;
  return {
    log: guarded((level, message, fields) => observer.log(level, message, fields)),
    attemptEnd: guarded((entry, fault) => observer.attemptEnd(entry, fault)),
    attemptPending: guarded((entry) => observer.attemptPending?.(entry)),
    requestEnd: guarded((end) => observer.requestEnd(end)),
    breakerChange: guarded((deploymentId, state, reason) => observer.breakerChange(deploymentId, state, reason)),
    configReload: guarded((result, detail) => observer.configReload(result, detail)),
  };
}

function logFailure(observer: Observer, error: unknown): void {
  try {
    observer.log("error", "telemetry failed", { error });
  } catch {
    // The log itself is broken.
  }
}

export interface ObserverOptions {
  readonly level: LogLevel;
  /** null: pretty on a terminal, otherwise JSON. */
  readonly format: "pretty" | "json" | null;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The id of this process, written in every line; absent if there is only one process. */
  readonly instance?: string;
  /** Which requests are logged at level info; all by default. */
  readonly accessLog?: AccessLogMode;
  /** Receives whole lines; standard error by default, because standard output is for the answers of commands. */
  readonly write?: (line: string) => void;
  /** Absent if nothing is exported. */
  readonly exported?: TelemetryExport;
}

/** Also receives everything that is observed. Calls never throw and never wait. */
interface TelemetryExport extends Pick<Observer, "attemptEnd" | "requestEnd"> {
  requestLine(line: AccessLine): void;
  /** All other lines, as JSON. */
  lines(text: string): void;
  /** null if traces are not exported. */
  readonly traces: Pick<Tracing, "traceIdOf"> | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Call `flush` before the process ends: it writes buffered lines. */
export function createObserver(options: ObserverOptions): Observer & { flush(): void } {
  return new LogObserver(options);
}

class LogObserver implements Observer {
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  /** Lines about failures in the current second. */
  readonly #failureLines: WindowCounts;
  /** Failures that were not logged since the last one that was. */
  #suppressed = 0;
  readonly #debug: boolean;
  readonly #exported: TelemetryExport | null;
  readonly #traces: TelemetryExport["traces"];
  /** null if requests are not logged. */
  readonly #accessLog: AccessLog | null;

  constructor(options: ObserverOptions) {
    const mode = options.accessLog ?? "all";
    const exported = options.exported ?? null;
    const write = lineWriter(options);
    const out =
      exported === null
        ? write
        : (lines: string) => {
            write(lines);
            exported.lines(lines);
          };
    this.#exported = exported;
    const traces = exported?.traces ?? null;
    this.#traces = traces;
    const onLine = exported === null ? {} : { onLine: (line: AccessLine) => exported.requestLine(line) };
    const isVerbose = options.level === "info" || options.level === "debug";
    const accessLog =
      isVerbose && mode !== "off" ? new AccessLog({ ...options, ...onLine, traces, mode, write }) : null;
    this.#accessLog = accessLog;
    // Keeps lines in order: buffered access lines go first.
    this.#logger = createLogger(options, (line) => {
      accessLog?.flush();
      out(line);
    });
    this.#metrics = options.metrics;
    const { clock } = options;
    this.#failureLines = new WindowCounts({ max: bounds.failureLinesPerSecond, windowMs: 1_000, keysMax: 1, clock });
    this.#debug = options.level === "debug";
  }

  log(level: LogLevel, message: string, fields: Fields = {}): void {
    try {
      if (this.#logger.isLevelEnabled(level)) this.#logger[level](redacted(this.#withTrace(fields)), maskText(message));
    } catch {
      // A field with a throwing getter costs its line, not the call.
    }
  }

  attemptEnd(entry: LedgerEntry, fault: AttemptFault | null = null): void {
    this.#metrics.attemptEnd(entry, fault);
    this.#exported?.attemptEnd(entry, fault);
    const failed = entry.outcome === "failed" || entry.outcome === "interrupted";
    if (failed) this.#logFailure("attempt failed", () => attemptFields(entry, fault));
    else if (this.#debug) this.log("debug", "attempt ended", attemptFields(entry, fault));
  }

  requestEnd(end: RequestEnd): void {
    this.#metrics.requestEnd(end);
    this.#exported?.requestEnd(end);
    if (this.#accessLog !== null) this.#accessLog.add(end);
    else if (end.outcome === "failed") this.#logFailure("request failed", () => requestFields(end));
  }

  flush(): void {
    this.#accessLog?.flush();
  }

  breakerChange(deployment: string, state: "open" | "half-open" | "closed", reason: string): void {
    this.log(state === "open" ? "warn" : "info", "breaker changed", { deployment, state, reason });
  }

  configReload(result: "applied" | "unchanged" | "refused", detail: string): void {
    this.#metrics.configReload(result);
    if (result === "refused") this.log("error", "config file refused; keeping the current configuration", { detail });
    else this.log("info", "configuration reloaded", { result, detail });
  }

  #withTrace(fields: Fields): Fields {
    const { requestId } = fields;
    if (this.#traces === null || typeof requestId !== "string") return fields;
    return { ...fields, trace_id: this.#traces.traceIdOf(requestId) };
  }

  /** Logs a few failures in each second and counts the others. */
  #logFailure(message: string, fields: () => Fields): void {
    if (!this.#logger.isLevelEnabled("warn")) return;
    if (this.#failureLines.take("") > 0) {
      this.#suppressed++;
      return;
    }
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    this.log("warn", message, suppressed > 0 ? { ...fields(), suppressed } : fields());
  }
}

function lineWriter({ format, write }: ObserverOptions): (lines: string) => void {
  const out = write ?? createLogWriter(process.stderr);
  const pretty = format === "pretty" || (format === null && write === undefined && process.stderr.isTTY);
  if (!pretty) return out;
  return (lines) => {
    for (const line of lines.split("\n")) {
      const shown = line === "" ? "" : prettyLine(line);
      if (shown !== "") out(shown);
    }
  };
}

function createLogger({ level, clock, instance }: ObserverOptions, write: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: instance === undefined ? null : { instance },
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
}

function requestFields({ message, principal, ...end }: RequestEnd): Fields {
  const { requestId, method, route, status, totalMs, model, error } = end;
  return {
    ...{ requestId, method, route, status, totalMs: tenths(totalMs), model, error },
    ...(message == null ? {} : { message: shownSentence(message) }),
    ...(principal == null ? {} : { workspace: principal.workspace.slug, keyId: principal.key.id }),
  };
}

function attemptFields(entry: LedgerEntry, fault: AttemptFault | null): Fields {
  const cause = causeOf(entry, fault);
  return {
    requestId: entry.requestId,
    attemptId: entry.attemptId,
    model: entry.model,
    provider: entry.provider,
    deployment: entry.deployment,
    retry: entry.retryIndex,
    outcome: entry.outcome,
    status: entry.httpStatus,
    upstreamStatus: entry.upstreamStatus,
    error: entry.errorCode,
    ...(cause === "" ? {} : { cause }),
    ...(fault === null ? {} : { message: shownSentence(fault.message) }),
    workspaceId: entry.workspaceId,
    keyId: entry.keyId,
    totalMs: tenths(entry.totalMs),
  };
}

const levels: Readonly<Record<string, string>> = {
  debug: "\u001b[90mdebug\u001b[39m",
  info: "\u001b[36minfo \u001b[39m",
  warn: "\u001b[33mwarn \u001b[39m",
  error: "\u001b[31merror\u001b[39m",
};
const dimmed = (text: string): string => `\u001b[2m${text}\u001b[22m`;

/** A line for people: time of day, level, message, fields. "" for audit entries, which people read in the console. */
function prettyLine(line: string): string {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== "object" || parsed === null) return line;
  if ("event" in parsed && parsed.event === "audit") return "";
  const { level, time, msg, ...fields } = { level: "info", time: "", msg: "", ...parsed };
  const shown = Object.entries(fields).map(([name, value]) => `${dimmed(`${name}=`)}${shownValue(value)}`);
  return `${[dimmed(time.slice(11, 23)), levels[level] ?? level, escaped(msg), ...shown].join("  ")}\n`;
}

function shownValue(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@-]+$/.test(value)) return value;
  // JSON does not escape them, and terminals treat U+009B as the start of a control sequence.
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f]/g, (found) => `\\u00${found.charCodeAt(0).toString(16)}`);
}

/** Control characters of a caller must not reach the terminal. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/** process.stderr, or a stream like it. */
export interface LogStream {
  readonly writableLength: number;
  write(text: string): unknown;
  on(event: "error", listener: () => void): unknown;
  listenerCount?(event: "error"): number;
}

/** Writes lines without waiting. While the reader of the log stalls, lines are dropped and counted. */
export function createLogWriter(stream: LogStream): (line: string) => void {
  let dropped = 0;
  // The gateway keeps serving when the pipe of the log is closed.
  if (!stream.listenerCount?.("error")) stream.on("error", () => {});
  return (line) => {
    if (stream.writableLength > bounds.logBacklogBytesMax) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      stream.write(`${JSON.stringify({ level: "warn", msg: "log lines dropped", dropped })}\n`);
      dropped = 0;
    }
    stream.write(line);
  };
}
