import {
  bounds,
  type CallerMemory,
  type Guardrail,
  type GuardrailVerdict,
  type LedgerEntry,
  within,
} from "#core/index.ts";
import type { AttemptFault, Clock, RequestEnd, RequestOutcome } from "#ports/index.ts";
import {
  type BudgetShare,
  registerAttemptMetrics,
  registerWorkspaceMetrics,
  type WorkspaceLabels,
} from "./attempt-metrics.ts";
import { LoopDelay } from "./loop-delay.ts";
import { reportText, reportType } from "./metric-reports.ts";
import type { MetricName } from "./metric-table.ts";
import { Registry, readOr, Series, type Tally } from "./tally.ts";

export interface BreakerNumber {
  readonly deployment: string;
  readonly provider: string;
  readonly model: string;
  readonly breaker: "open" | "half-open" | "closed";
}

/** `workspace`: its slug; `-`: the installation. */
export interface PolicyNumber {
  readonly workspace: string;
  readonly policy: string;
  readonly share: number;
  readonly isExhausted: boolean;
}

/** Open alerts by kind; messages by type of channel. */
interface AlertCounts {
  readonly open: ReadonlyMap<string, number>;
  readonly sent: ReadonlyMap<string, number>;
  readonly failed: ReadonlyMap<string, number>;
}

interface ConnectionNumbers {
  readonly open: number;
  readonly max: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly closings: Readonly<Record<string, number>>;
}

const durationBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const shortBuckets = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 1];
/** Detectors take less than a millisecond, models and services up to some seconds. */
const checkBuckets = [0.000_1, 0.000_5, 0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const breakerValues: Readonly<Record<BreakerNumber["breaker"], number>> = { closed: 0, "half-open": 1, open: 2 };

type Readers = { readonly [Name in MetricName]?: () => number };

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of this process. Nothing here throws. Without `labels` nothing is counted by workspace. */
export function createMetrics(build?: Build, labels?: WorkspaceLabels) {
  const registry = new Registry();
  registerProcess(registry);
  if (build !== undefined) registerBuild(registry, build);
  const reloads = registerReloads(registry);
  const requests = registerRequests(registry);
  const attempts = registerAttemptMetrics(registry);
  const byWorkspace = labels === undefined ? null : registerWorkspaceMetrics(registry, labels);
  const guardrailCheck = registerGuardrails(registry);
  const handshakes = registry.tallies("sluice_tls_handshakes_failed_total");
  const shadowRefusals = registry.tallies("sluice_shadow_refusals_total");
  const problems = new Series(bounds.metricValuesMax, (problem: string) => handshakes({ problem }));
  let ended = 0;
  return {
    /** Content type of `text`. */
    contentType: reportType,
    /** Prometheus' text format. */
    text: async () => reportText(await registry.report()),
    /** For merging with the reports of other processes. */
    report: () => registry.report(),
    /** Adds metrics by name whose values are read at each scrape. A name may be added once. */
    numbers(readers: Readers): void {
      for (const name of Object.keys(readers) as MetricName[]) registry.number(name, readers[name] ?? (() => 0));
    },
    /** The breakers of existing deployments, open ones first. */
    breakers(read: () => readonly BreakerNumber[]): void {
      registry.read("sluice_breaker_state", () =>
        readOr(read, [])
          .toSorted((one, other) => breakerValues[other.breaker] - breakerValues[one.breaker])
          .slice(0, bounds.metricDeploymentsMax)
          .map(({ breaker, ...labels }) => ({ labels, value: breakerValues[breaker] })),
      );
    },
    callerMemory(memory: Pick<CallerMemory, "bytesByKind" | "refusals">): void {
      registry.read("sluice_caller_memory_bytes", () => byLabel("kind", memory.bytesByKind));
      registry.read("sluice_caller_memory_refusals_total", () =>
        memory.refusals.map(({ kind, cause, count }) => ({ labels: { kind, cause }, value: count })),
      );
    },
    alerts(counts: AlertCounts): void {
      registry.read("sluice_alerts_open", () => byLabel("kind", Object.fromEntries(counts.open)));
      registry.read("sluice_alert_messages_total", () => [
        ...[...counts.sent].map(([channel, value]) => ({ labels: { channel, result: "sent" }, value })),
        ...[...counts.failed].map(([channel, value]) => ({ labels: { channel, result: "failed" }, value })),
      ]);
    },
    connections(numbers: ConnectionNumbers): void {
      registry.number("sluice_connections_open", () => numbers.open);
      registry.number("sluice_connections_max", () => numbers.max);
      registry.read("sluice_connections_refused_total", () => byLabel("cause", numbers.refusals));
      registry.read("sluice_connections_closed_total", () => byLabel("cause", numbers.closings));
    },
    /** Adds a histogram of short durations. The returned function observes milliseconds. */
    duration(name: MetricName): (ms: number) => void {
      const histogram = registry.histogram(name, shortBuckets)({});
      return (ms) => histogram.observe(ms / 1000);
    },
    /** Measures the delay of the event loop until the returned function is called. */
    watchLoop(clock: Clock, pending: () => number): () => void {
      let endedBefore = ended;
      const isBusy = (): boolean => {
        const busy = ended !== endedBefore || pending() > 0;
        endedBefore = ended;
        return busy;
      };
      const delay = new LoopDelay(clock, isBusy);
      registry.number("sluice_event_loop_delay_seconds", () => delay.worst());
      return () => delay.close();
    },
    attemptEnd(entry: LedgerEntry, fault?: AttemptFault | null): void {
      attempts(entry, fault);
      byWorkspace?.attemptEnd(entry);
    },
    requestEnd(end: CountedRequest): void {
      ended++;
      requests(end);
      byWorkspace?.requestEnd(end);
    },
    /** The used share of each workspace's budget. */
    budgetShares(clock: Clock, read: () => Promise<readonly BudgetShare[]>): void {
      const lastRead = orLast(clock, read);
      registry.read("sluice_workspace_budget_used_ratio", async () =>
        (await lastRead()).map(({ workspace, share }) => ({ labels: { workspace }, value: share })),
      );
    },
    budgetPolicies(clock: Clock, read: () => Promise<readonly PolicyNumber[]>): void {
      const lastRead = orLast(clock, read);
      registry.read("sluice_budget_policy_used_ratio", async () =>
        (await lastRead()).map(({ workspace, policy, share }) => ({ labels: { workspace, policy }, value: share })),
      );
      registry.read("sluice_budget_policy_exhausted", async () =>
        (await lastRead()).map(({ workspace, policy, isExhausted }) => ({
          labels: { workspace, policy },
          value: isExhausted ? 1 : 0,
        })),
      );
    },
    /** The unexplained share of each provider's bill. */
    billDifferences(
      clock: Clock,
      read: () => Promise<readonly { readonly provider: string; readonly ratio: number }[]>,
    ): void {
      const lastRead = orLast(clock, read);
      registry.read("sluice_bill_difference_ratio", async () =>
        (await lastRead()).map(({ provider, ratio }) => ({ labels: { provider }, value: ratio })),
      );
    },
    guardrailCheck,
    shadowRefusal(kind: string, scope: string): void {
      shadowRefusals({ kind, scope }).count++;
    },
    configReload(result: string): void {
      reloads({ result }).count++;
    },
    handshakeProblem: (problem: string): void => {
      problems.of(problem).count++;
    },
  };
}

/** How long a scrape waits for the database. */
const readMs = 1_000;

/** The last values while `read` fails or takes too long, for example because the database is down. Concurrent calls share one reading. */
function orLast<Value>(clock: Clock, read: () => Promise<readonly Value[]>): () => Promise<readonly Value[]> {
  let last: readonly Value[] = [];
  let reading: Promise<readonly Value[]> | null = null;
  const readOnce = async (): Promise<readonly Value[]> => {
    try {
      last = await read();
    } catch {
      // `sluice_database_healthy` shows an unavailable database.
    }
    reading = null;
    return last;
  };
  return () => {
    reading ??= readOnce();
    return within(clock, readMs, reading, () => last);
  };
}

function byLabel(label: string, numbers: Readonly<Record<string, number>>) {
  return Object.entries(numbers).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

const outcomes: readonly RequestOutcome[] = ["succeeded", "refused", "failed", "cancelled"];

type CountedRequest = Pick<RequestEnd, "route" | "status" | "outcome" | "totalMs" | "principal">;

function registerRequests(registry: Registry): (end: CountedRequest) => void {
  const count = registry.tallies("sluice_requests_total");
  const duration = registry.histogram("sluice_request_duration_seconds", durationBuckets);
  const routes = new Series(bounds.metricRoutesMax, (route: string) => ({
    ends: new Series(bounds.metricValuesMax, (end: number | "other") =>
      end === "other"
        ? count({ route, status: end, outcome: end })
        : count({ route, status: String(Math.floor(end / 10)), outcome: outcomes[end % 10] ?? "other" }),
    ),
    duration: duration({ route }),
  }));
  return ({ route, status, outcome, totalMs }) => {
    const children = routes.of(route);
    children.ends.of(status * 10 + outcomes.indexOf(outcome)).count++;
    children.duration.observe(totalMs / 1000);
  };
}

const checkVerdicts: readonly GuardrailVerdict[] = ["passed", "flagged", "masked", "blocked", "failed"];

interface CountedCheck {
  readonly guardrail: Pick<Guardrail, "name" | "enforce">;
  readonly side: string;
  readonly verdict: GuardrailVerdict;
  readonly durationMs: number;
}

function registerGuardrails(registry: Registry): (check: CountedCheck) => void {
  const count = registry.tallies("sluice_guardrail_checks_total");
  const duration = registry.histogram("sluice_guardrail_check_seconds", checkBuckets);
  const guardrails = new Series(bounds.metricValuesMax, (guardrail: string) => ({
    guardrail,
    results: [] as (Tally | undefined)[],
    duration: duration({ guardrail }),
  }));
  return ({ guardrail: { name, enforce }, side, verdict, durationMs }) => {
    const { guardrail, results, duration: seconds } = guardrails.of(name);
    const place = checkVerdicts.indexOf(verdict) * 4 + (side === "input" ? 2 : 0) + (enforce ? 1 : 0);
    const result = results[place] ?? count({ guardrail, side, verdict, enforced: String(enforce) });
    results[place] = result;
    result.count++;
    seconds.observe(durationMs / 1000);
  };
}

/** Every result has a series from the start: Prometheus sees no increase in a series that appears with its first count. */
function registerReloads(registry: Registry) {
  const reloads = registry.tallies("sluice_config_reloads_total");
  for (const result of ["applied", "unchanged", "refused"]) reloads({ result });
  return reloads;
}

interface Build {
  readonly version: string;
  readonly revision?: string;
}

function registerBuild(registry: Registry, { version, revision = "unknown" }: Build): void {
  const labels = { version, revision, runtime: `bun ${Bun.version}` };
  registry.read("sluice_build_info", () => [{ labels, value: 1 }]);
}

/** Memory and CPU of this process, named as in Prometheus clients. */
function registerProcess(registry: Registry): void {
  registry.number("process_resident_memory_bytes", () => process.memoryUsage.rss());
  registry.number("process_cpu_seconds_total", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.number("process_start_time_seconds", () => Math.round(performance.timeOrigin / 1000));
}
