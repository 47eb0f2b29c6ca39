import { bounds, LastingFault, type LedgerEntry, within } from "#core/index.ts";
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
import { ContentHold } from "../content/content-hold.ts";
import type { MetricReport } from "../metric-reports.ts";
import { type Export, openExport } from "./collector-client.ts";
import { ExportQueue, type ExportStore } from "./export-queue.ts";
import { GenAiMetrics } from "./gen-ai-metrics.ts";
import { type LogEvent, LogMaker, LogStore } from "./log-maker.ts";
import { MetricData } from "./metric-data.ts";
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
  /** The commit; left out: it is not known. */
  readonly revision?: string;
  /** Of this process, for `service.instance.id`. */
  readonly instanceId: string;
  readonly upstreamOf: (provider: string) => UpstreamFacts | null;
  /** What /metrics has, of this process. */
  readonly report: () => Promise<MetricReport>;
}

/** What was sent and what was lost, for the metrics. */
export interface OtlpCounts {
  spansSent: number;
  spansLost: number;
  logsSent: number;
  logsLost: number;
  metricExportsFailed: number;
  contentsLost: number;
}

/**
 * Telemetry on its way to a collector. Spans are made of the ledger's entries and written as soon as those are settled, and wait as
 * bytes within a bound. A collector that does not answer costs records, which are counted, and never a call.
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
  /** null: no traces are sent, and none are continued. */
  readonly traces: Traces | null;
  readonly #contentLost = (): void => void this.counts.contentsLost++;
  readonly #options: OtlpExportOptions;
  readonly #origin: Origin;
  readonly #spans: ExportQueue<TracedEvent, Uint8Array> | null;
  readonly #logs: ExportQueue<LogEvent, Uint8Array> | null;
  readonly #genAi: GenAiMetrics | null;
  readonly #hold: ContentHold | null;
  #observer: Pick<Observer, "log"> = { log: () => {} };
  #exportMetrics: (() => Promise<void>) | null = null;
  #stopMetrics: (() => void) | null = null;
  #closed = false;

  private constructor(options: OtlpExportOptions, exporters: Exporters) {
    const { settings, clock } = options;
    this.#options = options;
    this.#origin = originOf(options);
    this.traces = settings.traces === null ? null : new Traces({ ...settings, sampler: settings.traces.sampler });
    this.#spans = this.#openSpans(exporters.traces);
    this.#logs = this.#openLogs(exporters.logs);
    this.#hold = this.#openHold();
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

  /** Where what was said goes on to the spans; null: nobody asked for it. */
  get content(): ContentSink | null {
    return this.#hold;
  }

  /** Who is told when a collector does not answer. */
  tellTo(observer: Pick<Observer, "log">): void {
    this.#observer = observer;
  }

  attemptEnd(entry: LedgerEntry, fault: AttemptFault | null = null): void {
    const event = fault === null ? entry : { entry, content: null, message: shownSentence(fault.message) };
    if (this.#hold?.took(entry.requestId, event) !== true) this.#spans?.add(event);
    this.#genAi?.attemptEnd(entry);
  }

  requestEnd(end: RequestEnd): void {
    const spans = this.#spans;
    if (spans === null && this.#hold === null) return;
    const endMs = this.#options.clock.now();
    // A stream tells of its end a moment before it is settled, and what it came to belongs to the span of its call.
    queueMicrotask(() => {
      const event = { end, endMs };
      if (this.#hold?.took(end.requestId, event) !== true) spans?.add(event);
    });
  }

  /** The line of a request, which is written as one of many. */
  requestLine(line: AccessLine): void {
    this.#logs?.add(line);
  }

  /** All other lines: whole ones of JSON, as they are written. */
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

  /** Sends what waits, within a bound; what is late is lost. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopMetrics?.();
    const ownSent = async (): Promise<void> => {
      await this.#hold?.close();
      await Promise.all([this.#spans?.flush(), this.#logs?.flush()]);
    };
    const sent = Promise.all([ownSent(), this.#exportMetrics?.()]);
    await within(this.#options.clock, bounds.otlpFlushMs, sent, () => undefined);
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
    const faults = this.#faults(what);
    return new ExportQueue({
      clock: this.#options.clock,
      batch,
      store,
      send: async (request, size) => {
        const { problem, rejected } = await send(request);
        faults.export(problem, rejected);
        if (problem === null) counts[sent] += size - rejected;
        counts[lost] += rejected;
        return problem === null;
      },
      onLost: (events, why) => {
        counts[lost] += events;
        if (why === "full") faults.full(events);
      },
    });
  }

  #openHold(): ContentHold | null {
    const { settings, clock } = this.#options;
    const { traces } = this;
    const inSpan = settings.traces?.content === true;
    const inEvent = settings.logs?.content === true;
    if (!inSpan && !inEvent) return null;
    return new ContentHold({
      clock,
      isWanted: (requestId) => inEvent || traces?.isSampled(traces.of(requestId)) === true,
      tell: inEvent ? (told) => this.#logs?.add(told) : null,
      inSpan,
      pass: (event) => this.#spans?.add(event),
      onLost: this.#contentLost,
    });
  }

  #openMetrics(send: Export, startMs: number): void {
    const { settings, clock, report } = this.#options;
    const metrics = settings.metrics;
    const genAi = this.#genAi;
    if (metrics === null || genAi === null) return;
    const data = new MetricData(metrics.temporality, startMs);
    const lost = this.#faults("metrics");
    const exportOnce = async (): Promise<void> => {
      const measured = [...genAi.measured(), ...(await report())];
      const request = metricsRequest(this.#origin, data.of(measured, clock.now()));
      const { problem, mayBeTaken, rejected } = await send(request);
      lost.export(problem, rejected);
      // Of differences, what may have been taken is not told again: sums would have it twice.
      if (problem === null || mayBeTaken) data.sent();
      if (problem !== null) this.counts.metricExportsFailed++;
    };
    let running: Promise<void> | null = null;
    const once = (): Promise<void> => {
      running ??= exportOnce()
        .catch((error: unknown) => lost.export(String(error), 0))
        .finally(() => {
          running = null;
        });
      return running;
    };
    const again = (): void => {
      this.#stopMetrics = clock.after(metrics.intervalMs, () => void once().finally(() => this.#closed || again()));
    };
    again();
    // The last one says more than one that is under way.
    this.#exportMetrics = async () => {
      await running;
      await once();
    };
  }

  /** One line when it begins, one when it is over, and one every few minutes between. */
  #faults(what: string) {
    const observer = { log: (...line: Parameters<Observer["log"]>) => this.#observer.log(...line) };
    const { clock } = this.#options;
    const fault = new LastingFault({
      ...{ clock, observer, level: "warn" },
      fault: `The telemetry collector does not take ${what}; what it misses is not kept. Calls are not affected.`,
      over: `The telemetry collector takes ${what} again.`,
    });
    const full = new LastingFault({
      ...{ clock, observer, level: "warn" },
      fault: `More ${what} came than the telemetry collector takes; the rest was dropped.`,
      over: null,
    });
    return {
      export(problem: string | null, rejected: number): void {
        if (problem !== null) fault.failed({ problem });
        else if (rejected > 0) fault.failed({ problem: "it rejected some", rejected });
        else fault.passed();
      },
      full: (dropped: number): void => full.failed({ dropped }),
    };
  }
}

type Exporters = Readonly<Record<OtlpKind, Export | null>>;

/** What an operator says of the resource goes before what is known here. */
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
