import { bounds, LastingFault, type LedgerEntry, repeat, within } from "#core/index.ts";
import type {
  AttemptFault,
  Clock,
  ContentSink,
  Observer,
  OtlpBatch,
  OtlpSettings,
  RequestEnd,
  Transport,
} from "#ports/index.ts";
import { type AccessLine, shownSentence } from "../access-log.ts";
import { ContentBuffer } from "../content/content-buffer.ts";
import type { MetricReport } from "../metric-reports.ts";
import { type Export, openExport } from "./collector-client.ts";
import { ExportQueue, type ExportStore } from "./export-queue.ts";
import { GenAiMetrics } from "./gen-ai-metrics.ts";
import { type LogEvent, LogMaker, LogStore } from "./log-maker.ts";
import { MetricExports } from "./metric-exports.ts";
import type { OtlpKind } from "./otlp-json.ts";
import type { Origin } from "./request-bytes.ts";
import { LogBytes, metricsRequest, SpanBytes } from "./request-bytes.ts";
import type { UpstreamFacts } from "./span-attributes.ts";
import { SpanMaker, SpanStore, type TracedEvent } from "./span-maker.ts";
import { Traces } from "./traces.ts";

export interface OtlpExportOptions {
  readonly settings: OtlpSettings;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly version: string;
  /** The commit, if available. */
  readonly revision?: string;
  /** `service.instance.id` */
  readonly instanceId: string;
  readonly upstreamOf: (provider: string) => UpstreamFacts | null;
  /** The metrics of this process. */
  readonly report: () => Promise<MetricReport>;
}

export interface OtlpCounts {
  spansSent: number;
  spansLost: number;
  logsSent: number;
  logsLost: number;
  metricExportsFailed: number;
  contentsLost: number;
}

/**
 * Exports traces, logs and metrics to a collector. Spans are made from ledger entries when those are settled, and wait as bytes
 * within a bound. A collector that is down costs records, which are counted, and never affects calls.
 */
export class OtlpExport {
  readonly counts: OtlpCounts = {
    spansSent: 0,
    spansLost: 0,
    logsSent: 0,
    logsLost: 0,
    metricExportsFailed: 0,
    contentsLost: 0,
  };
  /** null if traces are not exported. */
  readonly traces: Traces | null;
  readonly #contentLost = (): void => void this.counts.contentsLost++;
  readonly #options: OtlpExportOptions;
  readonly #origin: Origin;
  readonly #spans: ExportQueue<TracedEvent, Uint8Array> | null;
  readonly #logs: ExportQueue<LogEvent, Uint8Array> | null;
  readonly #genAi: GenAiMetrics | null;
  readonly #content: ContentBuffer | null;
  #observer: Pick<Observer, "log"> = { log: () => {} };
  #exportLastMetrics: (() => Promise<void>) | null = null;
  #closed = false;

  private constructor(options: OtlpExportOptions, exporters: Exporters) {
    const { settings, clock } = options;
    this.#options = options;
    this.#origin = originOf(options);
    this.traces = settings.traces === null ? null : new Traces({ ...settings, sampler: settings.traces.sampler });
    this.#spans = this.#openSpans(exporters.traces);
    this.#logs = this.#openLogs(exporters.logs);
    this.#content = this.#openContent();
    this.#genAi = settings.metrics === null ? null : new GenAiMetrics(options.upstreamOf, settings.oldNames);
    if (exporters.metrics !== null) this.#openMetrics(exporters.metrics, clock.now());
  }

  /** Throws when a certificate cannot be read. */
  static async open(options: OtlpExportOptions): Promise<OtlpExport> {
    const { traces, logs, metrics } = options.settings;
    return new OtlpExport(options, {
      traces: traces && (await openExport(traces, "traces", options)),
      logs: logs && (await openExport(logs, "logs", options)),
      metrics: metrics && (await openExport(metrics, "metrics", options)),
    });
  }

  /** Receives captured messages; null if neither spans nor events include them. */
  get content(): ContentSink | null {
    return this.#content;
  }

  /** Sets the log for problems of the collector. */
  setObserver(observer: Pick<Observer, "log">): void {
    this.#observer = observer;
  }

  attemptEnd(entry: LedgerEntry, fault: AttemptFault | null = null): void {
    const event = fault === null ? entry : { entry, content: null, message: shownSentence(fault.message) };
    if (this.#content?.hold(entry.requestId, event) !== true) this.#spans?.add(event);
    this.#genAi?.attemptEnd(entry);
  }

  requestEnd(end: RequestEnd): void {
    const spans = this.#spans;
    if (spans === null && this.#content === null) return;
    const endMs = this.#options.clock.now();
    // A stream ends a moment before it is settled, and the span of its call needs the totals.
    queueMicrotask(() => {
      const event = { end, endMs };
      if (this.#content?.hold(end.requestId, event) !== true) spans?.add(event);
    });
  }

  /** The access line of a request. */
  requestLine(line: AccessLine): void {
    this.#logs?.add(line);
  }

  /** All other lines of the log, as JSON. */
  lines(text: string): void {
    const logs = this.#logs;
    if (logs === null) return;
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf("\n", start);
      const line = end === -1 ? text.slice(start) : text.slice(start, end);
      if (line !== "") logs.add(line);
      start = end === -1 ? text.length : end + 1;
    }
  }

  /** Exports what waits, within a time limit. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const flush = async (): Promise<void> => {
      await this.#content?.close();
      await Promise.all([this.#spans?.flush(), this.#logs?.flush()]);
    };
    const flushed = Promise.all([flush(), this.#exportLastMetrics?.()]);
    await within(this.#options.clock, bounds.otlpFlushMs, flushed, () => undefined);
  }

  #openSpans(send: Export | null) {
    const { settings, upstreamOf } = this.#options;
    if (send === null || settings.traces === null || this.traces === null) return null;
    const maker = new SpanMaker({ ...settings, traces: this.traces, upstreamOf });
    const store = new SpanStore(maker, new SpanBytes(this.#origin), this.#contentLost);
    return this.#queue("spans", store, { ...settings.traces, send, sent: "spansSent", lost: "spansLost" });
  }

  #openLogs(send: Export | null) {
    const { settings, clock } = this.#options;
    if (send === null || settings.logs === null) return null;
    const maker = new LogMaker(this.traces, clock);
    const store = new LogStore(maker, new LogBytes(this.#origin), this.#contentLost);
    return this.#queue("log records", store, { ...settings.logs, send, sent: "logsSent", lost: "logsLost" });
  }

  #queue<Event>(
    what: string,
    store: ExportStore<Event, Uint8Array>,
    { batch, send, sent, lost }: { batch: OtlpBatch; send: Export; sent: keyof OtlpCounts; lost: keyof OtlpCounts },
  ): ExportQueue<Event, Uint8Array> {
    const { counts } = this;
    const log = this.#problemLog(what);
    return new ExportQueue({
      clock: this.#options.clock,
      batch,
      store,
      send: async (request, size) => {
        const { problem, rejected } = await send(request);
        log.exported(problem, rejected);
        if (problem === null) counts[sent] += size - rejected;
        counts[lost] += rejected;
        return problem === null;
      },
      onLost: (count, why) => {
        counts[lost] += count;
        if (why === "full") log.full(count);
      },
    });
  }

  #openContent(): ContentBuffer | null {
    const { settings, clock } = this.#options;
    const { traces } = this;
    const inSpan = settings.traces?.content === true;
    const inEvent = settings.logs?.content === true;
    if (!inSpan && !inEvent) return null;
    return new ContentBuffer({
      clock,
      isExported: (requestId) => inEvent || traces?.isSampled(traces.of(requestId)) === true,
      onContent: inEvent ? (attempt) => this.#logs?.add(attempt) : null,
      inSpan,
      onEvent: (event) => this.#spans?.add(event),
      onLost: this.#contentLost,
    });
  }

  #openMetrics(send: Export, startMs: number): void {
    const { settings, clock, report } = this.#options;
    const metrics = settings.metrics;
    const genAi = this.#genAi;
    if (metrics === null || genAi === null) return;
    const exports = new MetricExports(metrics.temporality, startMs);
    const log = this.#problemLog("metrics");
    const exportOnce = async (): Promise<void> => {
      const measured = [...genAi.measured(), ...(await report())];
      const request = metricsRequest(this.#origin, exports.of(measured, clock.now()));
      const { problem, mayBeAccepted, rejected } = await send(request);
      log.exported(problem, rejected);
      // Differences that may have been accepted are not sent again, because sums would count them twice.
      if (problem === null || mayBeAccepted) exports.sent();
      if (problem !== null) this.counts.metricExportsFailed++;
    };
    const exportLogged = () => exportOnce().catch((error: unknown) => log.exported(String(error), 0));
    const stop = repeat(clock, metrics.intervalMs, exportLogged);
    this.#exportLastMetrics = async () => {
      await stop();
      await exportLogged();
    };
  }

  /** Logs when a problem begins and ends, and every few minutes in between. */
  #problemLog(what: string) {
    const observer = { log: (...line: Parameters<Observer["log"]>) => this.#observer.log(...line) };
    const { clock } = this.#options;
    const failing = new LastingFault({
      ...{ clock, observer, level: "warn" },
      fault: `failed to export ${what} to the telemetry collector; they are dropped`,
      over: `exports of ${what} to the telemetry collector succeed again`,
    });
    const overflowing = new LastingFault({
      ...{ clock, observer, level: "warn" },
      fault: `export queue for ${what} is full; dropping records`,
      over: null,
    });
    return {
      exported(problem: string | null, rejected: number): void {
        if (problem !== null) failing.failed({ problem });
        else if (rejected > 0) failing.failed({ problem: "the collector rejected some records", rejected });
        else failing.succeeded();
      },
      full: (dropped: number): void => overflowing.failed({ dropped }),
    };
  }
}

type Exporters = Readonly<Record<OtlpKind, Export | null>>;

/** Attributes configured by the operator win. */
function originOf({ settings, version, revision = "unknown", instanceId }: OtlpExportOptions): Origin {
  const attributes = {
    "service.version": version,
    ...(revision === "unknown" ? {} : { "vcs.ref.head.revision": revision }),
    "service.instance.id": instanceId,
    "telemetry.sdk.name": "opentelemetry",
    "telemetry.sdk.language": "nodejs",
    ...settings.resource,
  };
  return { attributes, scope: { name: "sluice", version, schemaUrl: "https://opentelemetry.io/schemas/1.41.0" } };
}
