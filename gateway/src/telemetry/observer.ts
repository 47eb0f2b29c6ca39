import { type Logger, pino } from "pino";
import { bounds, type LedgerEntry, WindowCounts } from "#core/index.ts";
import type { AttemptFault, Clock, LogLevel, Observer, RequestEnd, Tracing } from "#ports/index.ts";
import { type AccessLine, AccessLog, type AccessLogMode, shownSentence, tenths } from "./access-log.ts";
import { causeOf } from "./attempt-metrics.ts";
import type { Metrics } from "./metrics.ts";
import { maskText, redacted } from "./redacted.ts";

/**
 * An observer that never throws, whatever is wrong inside: whoever settles, answers or routes tells it in the middle of that, and
 * must not be kept from the rest. What was thrown is logged, if even that is possible.
 */
export function guardedObserver(observer: Observer): Observer {
  const guarded =
    <Told extends readonly unknown[]>(tell: (...told: Told) => void) =>
    (...told: Told): void => {
      try {
        tell(...told);
      } catch (error) {
        complain(observer, error);
      }
    };
  return {
    log: guarded((level, message, fields) => observer.log(level, message, fields)),
    // Told of every call: an array of what is told would be made for each.
    attemptEnd(entry, fault) {
      try {
        observer.attemptEnd(entry, fault);
      } catch (error) {
        complain(observer, error);
      }
    },
    attemptPending: guarded((entry) => observer.attemptPending?.(entry)),
    requestEnd(end) {
      try {
        observer.requestEnd(end);
      } catch (error) {
        complain(observer, error);
      }
    },
    breakerChange: guarded((deploymentId, state, reason) => observer.breakerChange(deploymentId, state, reason)),
    configReload: guarded((result, detail) => observer.configReload(result, detail)),
  };
}

function complain(observer: Observer, error: unknown): void {
  try {
    observer.log("error", "Something that was told of the gateway's work failed.", { error });
  } catch {
    // Then nobody can be told.
  }
}

export interface ObserverOptions {
  readonly level: LogLevel;
  /** null: pretty on a terminal, else JSON. */
  readonly format: "pretty" | "json" | null;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The id of this process, in every line; left out where there is one process only. */
  readonly instance?: string;
  /** Which requests have a line of their own at level info; all of them by default. */
  readonly accessLog?: AccessLogMode;
  /** Takes whole lines; standard error by default, because standard output belongs to what the program answers. */
  readonly write?: (line: string) => void;
  /** Absent: nothing is exported. */
  readonly exported?: TelemetryExport;
}

/** What else is told of all that is observed. Its calls never throw and never wait. */
interface TelemetryExport extends Pick<Observer, "attemptEnd" | "requestEnd"> {
  requestLine(line: AccessLine): void;
  /** All other lines: whole ones, as JSON. */
  lines(text: string): void;
  /** null: no traces are kept. */
  readonly traces: Pick<Tracing, "traceIdOf"> | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** `flush` writes the lines that still wait; before the process ends. */
export function createObserver(options: ObserverOptions): Observer & { flush(): void } {
  return new LogObserver(options);
}

class LogObserver implements Observer {
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  /** Lines about failures in this second, and how many were not written since the last that was. */
  readonly #failureLines: WindowCounts;
  #suppressed = 0;
  readonly #debug: boolean;
  readonly #exported: TelemetryExport | null;
  readonly #traces: TelemetryExport["traces"];
  /** null: no line of level info is written, or none for requests. */
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
    const told = exported === null ? {} : { onLine: (line: AccessLine) => exported.requestLine(line) };
    const informs = options.level === "info" || options.level === "debug";
    const accessLog = informs && mode !== "off" ? new AccessLog({ ...options, ...told, traces, mode, write }) : null;
    this.#accessLog = accessLog;
    // Lines keep their order: what waits goes first.
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
      if (this.#logger.isLevelEnabled(level)) this.#logger[level](redacted(this.#traced(fields)), maskText(message));
    } catch {
      // A value that cannot even be looked at (a throwing getter) costs its line, not the call.
    }
  }

  attemptEnd(entry: LedgerEntry, fault: AttemptFault | null = null): void {
    this.#metrics.attemptEnd(entry, fault);
    this.#exported?.attemptEnd(entry, fault);
    const failed = entry.outcome === "failed" || entry.outcome === "interrupted";
    if (failed) this.#failure("An attempt failed.", () => attemptFields(entry, fault));
    else if (this.#debug) this.log("debug", "An attempt ended.", attemptFields(entry, fault));
  }

  requestEnd(end: RequestEnd): void {
    this.#metrics.requestEnd(end);
    this.#exported?.requestEnd(end);
    if (this.#accessLog !== null) this.#accessLog.add(end);
    else if (end.outcome === "failed") this.#failure("A request failed.", () => requestFields(end));
  }

  flush(): void {
    this.#accessLog?.flush();
  }

  breakerChange(deployment: string, state: "open" | "half-open" | "closed", reason: string): void {
    this.log(state === "open" ? "warn" : "info", "A breaker changed.", { deployment, state, reason });
  }

  configReload(result: "applied" | "unchanged" | "refused", detail: string): void {
    this.#metrics.configReload(result);
    const level = result === "refused" ? "error" : "info";
    this.log(level, "The configuration was read again.", { result, detail });
  }

  /** What is said of a request can be found in its trace. */
  #traced(fields: Fields): Fields {
    const { requestId } = fields;
    if (this.#traces === null || typeof requestId !== "string") return fields;
    return { ...fields, trace_id: this.#traces.traceIdOf(requestId) };
  }

  #failure(message: string, fields: () => Fields): void {
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

/** Whole lines, in the form that was asked for. */
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
const dim = (text: string): string => `\u001b[2m${text}\u001b[22m`;

/**
 * One JSON line of the log as a person reads it: time of day, level, message, then the fields. Empty of audit entries, which are for
 * other programs: a person has the console.
 */
function prettyLine(line: string): string {
  const parsed: unknown = JSON.parse(line);
  if (typeof parsed !== "object" || parsed === null) return line;
  if ("event" in parsed && parsed.event === "audit") return "";
  const { level, time, msg, ...fields } = { level: "info", time: "", msg: "", ...parsed };
  const shown = Object.entries(fields).map(([name, value]) => `${dim(`${name}=`)}${shownValue(value)}`);
  return `${[dim(time.slice(11, 23)), levels[level] ?? level, escaped(msg), ...shown].join("  ")}\n`;
}

function shownValue(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@-]+$/.test(value)) return value;
  // JSON leaves those behind ASCII as they are, and a terminal takes U+009B for the beginning of an order.
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f]/g, (found) => `\\u00${found.charCodeAt(0).toString(16)}`);
}

/** What came from outside must not move the cursor of whoever watches. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/** What a log goes to: process.stderr, or anything like it. */
export interface LogStream {
  readonly writableLength: number;
  write(text: string): unknown;
  on(event: "error", listener: () => void): unknown;
  listenerCount?(event: "error"): number;
}

/** Writes lines without ever waiting: when the reader of the log stalls, lines are dropped and counted. */
export function createLogWriter(stream: LogStream): (line: string) => void {
  let dropped = 0;
  // A closed pipe is no reason to die: the gateway serves on, unheard.
  if (!stream.listenerCount?.("error")) stream.on("error", () => {});
  return (line) => {
    if (stream.writableLength > bounds.logBacklogBytesMax) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      stream.write(`${JSON.stringify({ level: "warn", msg: "Log lines were dropped.", dropped })}\n`);
      dropped = 0;
    }
    stream.write(line);
  };
}
