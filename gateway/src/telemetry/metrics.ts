import { bounds, type CallerMemory } from "#core/index.ts";
import type { Clock, RequestEnd, RequestOutcome } from "#ports/index.ts";
import { type RecordAttempt, registerAttemptMetrics } from "./attempt-metrics.ts";
import { registerHistogram } from "./histogram-tally.ts";
import { LoopDelay } from "./loop-delay.ts";
import type { GaugeRule, MetricReport } from "./metric-reports.ts";
import { Counter, Gauge, Registry } from "./prometheus.ts";
import { Series } from "./series.ts";
import { registerTallies } from "./tally.ts";
import {
  type BudgetShare,
  registerBudgetShares,
  registerWorkspaceMetrics,
  type WorkspaceLabels,
} from "./workspace-metrics.ts";

/** What keeps a deployment out of use, or does not. */
export interface BreakerNumber {
  readonly deployment: string;
  readonly provider: string;
  readonly model: string;
  readonly breaker: "open" | "half-open" | "closed";
}

/** Connections of callers. */
interface ConnectionNumbers {
  readonly open: number;
  readonly max: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly closings: Readonly<Record<string, number>>;
}

/** The numbers of this process. Nothing here throws for what it is given, and a scrape changes nothing but its own marks. */
export interface Metrics {
  /** Of `text`, for the answer's header. */
  readonly contentType: string;
  /** Prometheus' text format. */
  text(): Promise<string>;
  /** The same numbers in the form in which those of several processes are made one. */
  report(): Promise<MetricReport>;
  /** Numbers that others know, by metric name, asked for at each scrape. A name may be given once. */
  gauges(readers: Readonly<Record<string, () => number>>): void;
  /** The same of numbers that only grow. */
  counts(readers: Readonly<Record<string, () => number>>): void;
  /** The breakers of the deployments there are, asked for at each scrape. May be given once. */
  breakers(read: () => readonly BreakerNumber[]): void;
  /** What is held for callers and was refused, asked for at each scrape. May be given once. */
  callerMemory(memory: Pick<CallerMemory, "bytesByKind" | "refusals">): void;
  connections(room: ConnectionNumbers): void;
  /** Short times of one thing, as a histogram by metric name; the returned function is told each, in milliseconds. */
  duration(name: string): (ms: number) => void;
  /** Begins to watch how late the event loop is, and tells it as a number. Ends with the returned function. */
  watchLoop(clock: Clock, pending: () => number): () => void;
  attemptEnd: RecordAttempt;
  requestEnd(end: Pick<RequestEnd, "route" | "status" | "outcome" | "totalMs" | "principal">): void;
  /** The used shares of workspaces' budgets, asked for at each scrape. May be given once. */
  budgetShares(read: () => Promise<readonly BudgetShare[]>): void;
  configReload(result: string): void;
  /** TLS was not agreed upon with a caller. */
  handshakeProblem(problem: string): void;
}

const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const shortBuckets = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 1];
const breakerValues: Readonly<Record<BreakerNumber["breaker"], number>> = { closed: 0, "half-open": 1, open: 2 };

const helpOf: Readonly<Record<string, string>> = {
  sluice_event_loop_delay_seconds: "Longest delay of the event loop in the last minute.",
  sluice_ledger_lag_entries: "Settled entries that are in the journal and not yet in the database.",
  sluice_database_healthy: "1 while nothing is known to be wrong with the database's file, else 0.",
  sluice_ledger_healthy: "1 while the journal can be written, else 0.",
  sluice_data_free_bytes: "Free bytes on the disk of the data directory.",
  sluice_data_size_bytes: "Bytes of that disk, free or not.",
  sluice_streams_open: "Streams under way.",
  sluice_connections_open: "Connections of callers.",
  sluice_connections_max: "Connections of callers that there may be.",
  sluice_connections_refused_total:
    "New connections that were closed: an address had its share, or there were as many as there may be in all.",
  sluice_connections_closed_total:
    "Connections that the gateway closed: idle ones to make room, and those of callers that sent or read too slowly.",
  sluice_reservations_open: "Reservations of limits that are not yet settled.",
  sluice_limits_counted: "Limits in use that are counted now.",
  sluice_limits_turned_away_total: "Claims on limits that found no room to be counted.",
  sluice_redis_up: "1 while the shared counter of limits answers, else 0.",
  sluice_redis_untold: "Endings and costs that the shared counter of limits has not been told yet.",
  sluice_redis_places_beyond_lease:
    "Places of concurrency that running calls keep after the lease of their process in the shared counter has ended.",
  sluice_redis_epochs_total: "Times the shared counter of limits was emptied, restarted or replaced.",
  sluice_redis_round_trip_seconds: "Time until the shared counter of limits answered.",
  sluice_models_blocked: "Models that have no price and are refused for it, to all or where a budget applies.",
  sluice_models_served_unpriced: "Models that have no price and are served at zero; the demo is not counted.",
  sluice_issuer_rechecks_total: "Times an issuer was asked again about somebody whose agents are signed in.",
  sluice_issuer_rechecks_silent_total: "Of these, how often it said nothing of the person.",
  sluice_config_version: "Version of the configuration in force.",
  sluice_config_file_valid: "1: the config file is in force; 0: it was refused and the former configuration stays.",
  sluice_config_file_last_good_timestamp_seconds: "When the config file was last read and not refused.",
  sluice_explanations_dropped_total: "Explanations of requests that could not be kept in time.",
  sluice_captures_dropped_total: "Captures of requests that could not be kept in time.",
  sluice_websockets_open: "WebSockets of /v1/responses that are open.",
  sluice_ledger_export_lag_seconds:
    "Since the beginning of the first hour of the ledger that was not copied to its bucket; 0 where none is named.",
  sluice_ledger_export_copies_total:
    "Hours of the ledger that were copied to a bucket, those that were copied again among them.",
  sluice_ledger_export_entries_total: "Entries in these copies.",
  sluice_ledger_export_failures_total: "Looks at which a copy of the ledger failed.",
  sluice_tasks_late_seconds: "Delay between the time at which a video task or background response is due and its poll.",
  sluice_background_responses_open: "Background responses that have not ended, of all processes.",
  sluice_background_responses_oldest_seconds: "Age of the oldest of them; 0 where there is none.",
  sluice_tls_certificate_expires_timestamp_seconds:
    "When the certificate ends that the ports show, in Unix seconds; only where they speak TLS.",
  sluice_otlp_spans_sent_total: "Spans that the telemetry collector took.",
  sluice_otlp_spans_lost_total:
    "Spans that the telemetry collector did not take, or that came faster than it takes them.",
  sluice_otlp_logs_sent_total: "Log records that the telemetry collector took.",
  sluice_otlp_logs_lost_total: "Log records that it did not take, or that came faster than it takes them.",
  sluice_otlp_contents_lost_total:
    "Calls whose messages were to be in their span or event and are not: too many at once, or nobody can read them.",
  sluice_otlp_metric_exports_failed_total: "Exports of metrics that the telemetry collector did not take.",
  sluice_agent_telemetry_relayed_total: "Messages of agents' telemetry that the telemetry collector took.",
  sluice_agent_telemetry_lost_total: "Such messages that it did not take, that were too many, or that nobody can read.",
  sluice_catalogue_age_seconds: "Age of the price catalogue's data; 0 while no model of this process needs it.",
  sluice_catalogue_prices_waiting: "Prices of the catalogue that wait for somebody to take them.",
  sluice_catalogue_refresh_failures_total: "Times newer prices could not be had.",
  sluice_task_webhooks_delivered_total: "Messages about tasks that their caller's host took.",
  sluice_task_webhook_failures_total: "Tries of such messages that failed; most are tried again.",
};

/** How gauges of several workers become one, where that is not their sum: what holds for all, or the worst of them. */
const ruleOf: Readonly<Record<string, GaugeRule>> = {
  sluice_database_healthy: "min",
  sluice_ledger_healthy: "min",
  sluice_data_free_bytes: "min",
  sluice_data_size_bytes: "min",
  sluice_redis_up: "min",
  sluice_models_blocked: "max",
  sluice_models_served_unpriced: "max",
  sluice_config_version: "min",
  sluice_config_file_valid: "min",
  sluice_config_file_last_good_timestamp_seconds: "min",
  sluice_tls_certificate_expires_timestamp_seconds: "min",
  sluice_ledger_export_lag_seconds: "max",
  sluice_tasks_late_seconds: "max",
  sluice_background_responses_open: "max",
  sluice_background_responses_oldest_seconds: "max",
  sluice_catalogue_age_seconds: "max",
  sluice_catalogue_prices_waiting: "max",
  sluice_event_loop_delay_seconds: "max",
};

/** `build`: what runs, where it is to be among the numbers. `labels`: absent, nothing is counted by workspace. */
export function createMetrics(build?: Build, labels?: WorkspaceLabels): Metrics {
  const registry = new Registry();
  registerProcessMetrics(registry);
  if (build !== undefined) registerBuild(registry, build);
  const reloads = registerReloads(registry);
  const requests = registerRequests(registry);
  const attemptEnd = registerAttemptMetrics(registry);
  const byWorkspace = labels === undefined ? null : registerWorkspaceMetrics(registry, labels);
  let ended = 0;
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    report: async () => (await registry.getMetricsAsJSON()) as unknown as MetricReport,
    gauges: (readers) => {
      for (const [name, read] of Object.entries(readers)) registerGauge(registry, name, read);
    },
    counts: (readers) => {
      for (const [name, read] of Object.entries(readers)) registerCount(registry, name, read);
    },
    breakers: (read) => registerBreakers(registry, read),
    callerMemory: (memory) => registerCallerMemory(registry, memory),
    connections: (room) => registerConnections(registry, room),
    duration: (name) => {
      const help = helpOf[name] ?? name;
      const histogram = registerHistogram(registry, { name, help, buckets: shortBuckets })();
      return (ms) => histogram.observe(ms / 1000);
    },
    watchLoop: (clock, pending) => {
      let seen = ended;
      const isBusy = (): boolean => {
        const some = ended !== seen || pending() > 0;
        seen = ended;
        return some;
      };
      const delay = new LoopDelay(clock, isBusy);
      registerGauge(registry, "sluice_event_loop_delay_seconds", () => delay.worst());
      return () => delay.close();
    },
    attemptEnd:
      byWorkspace === null
        ? attemptEnd
        : (entry, fault) => {
            attemptEnd(entry, fault);
            byWorkspace.attemptEnd(entry);
          },
    requestEnd: (end) => {
      ended++;
      requests(end);
      byWorkspace?.requestEnd(end);
    },
    budgetShares: (read) => registerBudgetShares(registry, read),
    configReload: (result) => reloads.inc({ result }),
    handshakeProblem: registerHandshakes(registry),
  };
}

const outcomes: readonly RequestOutcome[] = ["succeeded", "refused", "failed", "cancelled"];

function registerRequests(registry: Registry): Metrics["requestEnd"] {
  const count = registerTallies(registry, {
    name: "sluice_requests_total",
    help: "Answered requests by route, status and outcome; a stream that broke after its start has status 200 and outcome failed.",
    labelNames: ["route", "status", "outcome"],
  });
  const duration = registerHistogram(registry, {
    name: "sluice_request_duration_seconds",
    help: "Time from the request's arrival to the last byte of its answer.",
    labelNames: ["route"],
    buckets: durationBuckets,
  });
  const routes = new Series(bounds.metricRoutesMax, (route: string) => ({
    ends: new Series(bounds.metricValuesMax, (end: number | "other") =>
      end === "other"
        ? count({ route, status: end, outcome: end })
        : count({ route, status: String(Math.floor(end / 10)), outcome: outcomes[end % 10] ?? "other" }),
    ),
    duration: duration(route),
  }));
  return ({ route, status, outcome, totalMs }) => {
    const children = routes.of(route);
    children.ends.of(status * 10 + outcomes.indexOf(outcome)).count++;
    children.duration.observe(totalMs / 1000);
  };
}

function registerHandshakes(registry: Registry): Metrics["handshakeProblem"] {
  const count = registerTallies(registry, {
    name: "sluice_tls_handshakes_failed_total",
    help: "Callers with whom TLS was not agreed upon, by what the TLS library calls the reason.",
    labelNames: ["problem"],
  });
  const problems = new Series(bounds.metricValuesMax, (problem: string) => count({ problem }));
  return (problem) => {
    problems.of(problem).count++;
  };
}

/** Each result is there from the beginning: a series that appears with its first refusal has not grown, to Prometheus. */
function registerReloads(registry: Registry): Counter {
  const reloads = new Counter({
    name: "sluice_config_reloads_total",
    help: "Readings of the configuration by result.",
    labelNames: ["result"],
    registers: [registry],
  });
  for (const result of ["applied", "unchanged", "refused"]) reloads.inc({ result }, 0);
  return reloads;
}

interface Build {
  readonly version: string;
  /** The commit. */
  readonly revision?: string;
}

function registerBuild(registry: Registry, { version, revision = "unknown" }: Build): void {
  new Gauge({
    name: "sluice_build_info",
    help: "1; the labels say what runs.",
    labelNames: ["version", "revision", "runtime"],
    registers: [registry],
    // The same of all workers.
    aggregator: "max",
  })
    .labels(version, revision, `bun ${Bun.version}`)
    .set(1);
}

/** A deployment that is gone takes its number with it: nobody could close its breaker any more. */
function registerBreakers(registry: Registry, read: () => readonly BreakerNumber[]): void {
  new Gauge({
    name: "sluice_breaker_state",
    help: "Breaker by deployment: 0 closed, 1 half-open (or its time is over and no call came), 2 open.",
    labelNames: ["deployment", "provider", "model"],
    registers: [registry],
    // The worst of the workers.
    aggregator: "max",
    collect() {
      this.reset();
      const worstFirst = readOr(read, []).toSorted(
        (one, other) => breakerValues[other.breaker] - breakerValues[one.breaker],
      );
      for (const { deployment, provider, model, breaker } of worstFirst.slice(0, bounds.metricDeploymentsMax)) {
        this.labels(deployment, provider, model).set(breakerValues[breaker]);
      }
    },
  });
}

function registerCallerMemory(registry: Registry, memory: Pick<CallerMemory, "bytesByKind" | "refusals">): void {
  new Gauge({
    name: "sluice_caller_memory_bytes",
    help: "Memory held for callers, by what for.",
    labelNames: ["kind"],
    registers: [registry],
    aggregator: "sum",
    collect() {
      for (const [kind, bytes] of Object.entries(memory.bytesByKind)) this.labels(kind).set(bytes);
    },
  });
  new Counter({
    name: "sluice_caller_memory_refusals_total",
    help: "Refusals for want of memory: a key or a workspace held its share, or nothing was left for anybody.",
    labelNames: ["kind", "cause"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { kind, cause, count } of memory.refusals) this.inc({ kind, cause }, count);
    },
  });
}

function registerConnections(registry: Registry, room: ConnectionNumbers): void {
  registerGauge(registry, "sluice_connections_open", () => room.open);
  registerGauge(registry, "sluice_connections_max", () => room.max);
  const counts = { sluice_connections_refused_total: room.refusals, sluice_connections_closed_total: room.closings };
  for (const [name, byCause] of Object.entries(counts)) {
    new Counter({
      name,
      help: helpOf[name] ?? name,
      labelNames: ["cause"],
      registers: [registry],
      collect() {
        this.reset();
        for (const [cause, count] of Object.entries(byCause)) this.inc({ cause }, count);
      },
    });
  }
}

/** One reader that fails must not take the other numbers with it. */
function readOr<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

function registerGauge(registry: Registry, name: string, read: () => number): void {
  new Gauge({
    name,
    help: helpOf[name] ?? name,
    registers: [registry],
    aggregator: ruleOf[name] ?? "sum",
    collect() {
      this.set(readOr(read, Number.NaN));
    },
  });
}

function registerCount(registry: Registry, name: string, read: () => number): void {
  new Counter({
    name,
    help: helpOf[name] ?? name,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

/** Memory and CPU of this process, read at scrape; names as Prometheus clients have them. */
function registerProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since the Unix epoch in seconds.",
    registers,
    aggregator: "min",
  }).set(Math.round(performance.timeOrigin / 1000));
}
