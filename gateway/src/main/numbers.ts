import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { type ConfigSnapshot, isDemo, type Model, policyScope } from "#core/index.ts";
import { type Admission, isExhausted } from "#limits/index.ts";
import type { Router } from "#routing/index.ts";
import type { BreakerNumber, BudgetShare, PolicyNumber } from "#telemetry/index.ts";
import type { Listeners } from "./listeners.ts";
import type { Base } from "./open-base.ts";
import type { Calls } from "./open-calls.ts";
import type { Data } from "./open-data.ts";
import type { Governance } from "./open-governance.ts";

/** Registers metrics that are read from the parts of the gateway at each scrape. Returns a function that stops measuring the event loop. */
export function registerNumbers(
  base: Base,
  { journal, databaseWatch }: Data,
  { admission }: Governance,
  calls: Calls,
  listeners: Listeners,
): () => void {
  const { metrics, configSnapshot, configFile, clock, environment, references } = base;
  const { relay, router, memory, connections, media, batches } = calls;
  const { videos } = media;
  const { dataDir, metricsWorkspaces } = environment;
  const space = watchSpace(dataDir);
  metrics.numbers({
    sluice_ledger_lag_entries: () => journal.lag,
    sluice_ledger_healthy: () => (journal.healthy ? 1 : 0),
    sluice_database_healthy: () => ((databaseWatch.problem ?? databaseWatch.remark) === null ? 1 : 0),
    sluice_streams_open: () => relay.liveStreams,
    sluice_websockets_open: () => listeners.sockets(),
    sluice_reservations_open: () => admission.outstanding,
    sluice_config_version: () => configSnapshot.current.version,
    sluice_models_blocked: () => countOf(configSnapshot.current, (model) => model.blocked !== undefined),
    sluice_models_served_unpriced: () =>
      countOf(configSnapshot.current, (model) => model.price === null && model.blocked === undefined && !isDemo(model)),
    sluice_secret_references_failing: () => references.numbers.failing,
    sluice_secret_age_seconds: () => references.numbers.oldestMs / 1_000,
    sluice_data_free_bytes: () => space.free(),
    sluice_data_size_bytes: () => space.size(),
    sluice_tasks_late_seconds: () => videos.lateMs / 1_000,
    sluice_background_responses_open: () => videos.openResponses.count,
    sluice_background_responses_oldest_seconds: () => videos.openResponses.oldestMs / 1_000,
    sluice_batches_open: () => batches.open.batches,
    sluice_batches_oldest_seconds: () => batches.open.oldestMs / 1_000,
    sluice_batches_stalled_seconds: () => batches.open.stalledMs / 1_000,
    sluice_batch_rows_open: () => batches.open.rows,
    sluice_batch_rows_in_flight: () => batches.rowsInFlight,
    sluice_batch_rows_ended_total: () => batches.ended.rows,
    sluice_batch_rows_failed_total: () => batches.ended.failed,
  });
  if (listeners.certificateEndsAt !== null) {
    metrics.numbers({
      sluice_tls_certificate_expires_timestamp_seconds: () => (listeners.certificateEndsAt ?? 0) / 1_000,
    });
  }
  metrics.callerMemory(memory);
  if (metricsWorkspaces > 0)
    metrics.budgetShares(clock, () => budgetShares(configSnapshot.current, admission, metricsWorkspaces));
  metrics.budgetPolicies(clock, () => policyNumbers(configSnapshot.current, admission));
  metrics.connections(connections);
  if (configFile.path !== null) {
    metrics.numbers({
      sluice_config_file_valid: () => (configFile.isValid ? 1 : 0),
      sluice_config_file_last_good_timestamp_seconds: () => configFile.lastGoodAt / 1_000,
    });
  }
  metrics.breakers(() => breakersOf(configSnapshot.current, router));
  metrics.numbers({
    sluice_task_webhooks_delivered_total: () => videos.deliveryTries.delivered,
    sluice_task_webhook_failures_total: () => videos.deliveryTries.failed,
  });
  return metrics.watchLoop(clock, () => listeners.pending());
}

/** Breakers of enabled deployments. One that is due to be probed counts as half-open, because a call may not come for days. */
export function breakersOf({ models }: ConfigSnapshot, router: Pick<Router, "states">): readonly BreakerNumber[] {
  const states = new Map(
    router
      .states()
      .map(({ deploymentId, breaker, coolingMs }) => [
        deploymentId,
        breaker === "open" && coolingMs === 0 ? "half-open" : breaker,
      ]),
  );
  return [...models.values()].flatMap((model) =>
    model.deployments.flatMap(({ id, enabled, provider }) => {
      const breaker = states.get(id);
      return breaker === undefined || !enabled
        ? []
        : [{ deployment: id, provider: provider.id, model: model.name, breaker }];
    }),
  );
}

function countOf({ models }: ConfigSnapshot, counts: (model: Model) => boolean): number {
  let count = 0;
  for (const model of models.values()) if (counts(model)) count++;
  return count;
}

/** Free space and size of the disk of a directory, as of the last scrape, so that a hanging disk does not block a scrape. */
function watchSpace(directory: string): { free(): number; size(): number } {
  let last = spaceOf(null);
  try {
    last = spaceOf(statfsSync(directory));
  } catch {
    // Unknown until the first scrape.
  }
  let isReading = false;
  const refresh = async (): Promise<void> => {
    isReading = true;
    last = spaceOf(await statfs(directory).catch(() => null));
    isReading = false;
  };
  return {
    free() {
      if (!isReading) void refresh();
      return last.free;
    },
    size: () => last.size,
  };
}

/** In bytes, for an unprivileged process; NaN if unknown. */
function spaceOf(stats: { bavail: number; blocks: number; bsize: number } | null) {
  if (stats === null) return { free: Number.NaN, size: Number.NaN };
  return { free: stats.bavail * stats.bsize, size: stats.blocks * stats.bsize };
}

/** The used share of the budgets of at most `max` workspaces. Omits those that cannot be read. */
async function budgetShares(
  { workspaces }: Pick<ConfigSnapshot, "workspaces">,
  admission: Pick<Admission, "limitUsages">,
  max: number,
): Promise<readonly BudgetShare[]> {
  const budgeted = [...workspaces.values()].filter(({ scope }) => scope.budget !== null).slice(0, max);
  const usages = await admission.limitUsages(budgeted.map(({ scope }) => ({ ...scope, limits: {} })));
  const slugs = new Map(budgeted.map(({ scope, slug }) => [scope.id, slug]));
  return usages.flatMap(({ scopeId, used, limit }) => {
    const workspace = slugs.get(scopeId);
    return workspace === undefined || used === null ? [] : [{ workspace, share: limit > 0 ? used / limit : 1 }];
  });
}

/** Series of policies, and counters of split policies that are read for them. */
const policySeriesMax = 200;
const policyCountersMax = 200;

async function policyNumbers(
  { budgetPolicies, workspaces }: Pick<ConfigSnapshot, "budgetPolicies" | "workspaces">,
  admission: Pick<Admission, "limitUsages" | "recentPolicyScopes">,
): Promise<readonly PolicyNumber[]> {
  const policies = budgetPolicies.slice(0, policySeriesMax);
  const whole = policies.filter(({ splitBy }) => splitBy === null);
  const split = admission.recentPolicyScopes(policyCountersMax);
  const scopes = [...whole.map((policy) => policyScope({ policy, value: null })), ...split];
  const usages = await admission.limitUsages(scopes);
  const byPolicy = Map.groupBy(scopes.keys(), (at) => scopes[at]?.counter.policy);
  return policies.flatMap((policy) => {
    const own = (byPolicy.get(policy) ?? []).flatMap((at) => usages[at] ?? []);
    const shares = own.flatMap(({ used, limit }) => (used === null ? [] : [limit > 0 ? used / limit : 1]));
    if (shares.length === 0) return [];
    const workspace = workspaces.get(policy.workspaceId ?? "")?.slug ?? "-";
    const numbers = { share: Math.max(...shares), isExhausted: own.some(isExhausted) };
    return [{ workspace, policy: policy.name, ...numbers }];
  });
}
