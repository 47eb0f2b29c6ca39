import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { type ConfigSnapshot, isDemo, type Model } from "#core/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Router } from "#routing/index.ts";
import type { BreakerNumber, BudgetShare } from "#telemetry/index.ts";
import type { Listeners } from "./listeners.ts";
import type { Base } from "./open-base.ts";
import type { Calls } from "./open-calls.ts";
import type { Data } from "./open-data.ts";
import type { Governance } from "./open-governance.ts";

/** What the parts of the gateway know themselves, and are asked for at each scrape; the event loop is watched until the returned function is called. */
export function registerNumbers(
  base: Base,
  { journal, databaseWatch }: Data,
  { admission }: Governance,
  calls: Calls,
  listeners: Listeners,
): () => void {
  const { metrics, configSnapshot, configFile, clock, environment } = base;
  const { relay, router, memory, connections, media } = calls;
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
    sluice_data_free_bytes: () => space.free(),
    sluice_data_size_bytes: () => space.size(),
    sluice_tasks_late_seconds: () => videos.lateMs / 1_000,
    sluice_background_responses_open: () => videos.openResponses.count,
    sluice_background_responses_oldest_seconds: () => videos.openResponses.oldestMs / 1_000,
  });
  if (listeners.certificateEndsAt !== null) {
    metrics.numbers({
      sluice_tls_certificate_expires_timestamp_seconds: () => (listeners.certificateEndsAt ?? 0) / 1_000,
    });
  }
  metrics.callerMemory(memory);
  if (metricsWorkspaces > 0)
    metrics.budgetShares(() => budgetShares(configSnapshot.current, admission, metricsWorkspaces));
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

/** Of deployments that are in use. One whose time is over waits for a call that probes it, and nobody may call it for days. */
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

interface Space {
  readonly free: number;
  readonly size: number;
}

/** Room on the disk of a directory, in bytes. A number is as old as the scrape before: a disk that hangs holds up none. */
function watchSpace(directory: string): { free(): number; size(): number } {
  let last = spaceIn(() => statfsSync(directory));
  let asking = false;
  const refresh = async (): Promise<void> => {
    asking = true;
    const facts = await statfs(directory).catch(() => null);
    last = spaceIn(() => facts);
    asking = false;
  };
  return {
    free() {
      if (!asking) void refresh();
      return last.free;
    },
    size: () => last.size,
  };
}

/** What is free for a process without special rights. Not a number where nobody says. */
function spaceIn(read: () => { bavail: number; blocks: number; bsize: number } | null): Space {
  try {
    const facts = read();
    if (facts !== null) return { free: facts.bavail * facts.bsize, size: facts.blocks * facts.bsize };
  } catch {
    // A disk that says nothing has no number.
  }
  return { free: Number.NaN, size: Number.NaN };
}

/** How far the budgets of at most `max` workspaces are used. One whose spending cannot be read now is left out. */
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
