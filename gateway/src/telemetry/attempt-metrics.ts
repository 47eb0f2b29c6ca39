import { type FailureCause, failureCause } from "@sluice/contract/words";
import { bounds, type LedgerEntry, nanoToUsd, servedAxes, type Usage, usageClasses } from "#core/index.ts";
import type { AttemptFault, RequestEnd, RequestOutcome } from "#ports/index.ts";
import { type Registry, Series, type Tally } from "./tally.ts";

const firstByteBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const overheadBuckets = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1];

/** Attempts, tokens, cost, time to first byte and overhead, from ledger entries. */
export function registerAttemptMetrics(registry: Registry) {
  const overhead = registry.histogram("sluice_overhead_seconds", overheadBuckets)({});
  const pairs = new Series(bounds.metricPairsMax, pairMaker(registry));

  return (entry: LedgerEntry, fault?: AttemptFault | null): void => {
    const { provider, model, outcome, errorCode, usage } = entry;
    // Without a provider no deployment was chosen, and the model may be any text of the caller.
    const pair = pairs.of(provider === "" ? "none" : `${provider}\n${model}`);
    const outcomes = errorCode === null ? outcome : `${outcome}\n${errorCode}\n${causeOf(entry, fault)}`;
    // The usage of another model is charged, but is no attempt.
    if (entry.calls !== 0) pair.outcomes.of(outcomes).count++;
    addUsage(pair.tokens, usage);
    pair.cost.count += entry.costNanoUsd;
    const isCounted = entry.priceVersion !== null || entry.costSource === "vendor";
    if (!isCounted && usageClasses.some((name) => usage[name] > 0)) pair.unpriced.count++;
    for (const name of entry.unpriced ?? []) pair.unpricedUse.of(name).count++;
    if (costDiffers(entry)) pair.costDiffers.count++;
    if (entry.firstByteMs !== null) pair.firstByte.observe((entry.startedAfterMs + entry.firstByteMs) / 1000);
    if (entry.overheadMs !== null) overhead.observe(entry.overheadMs / 1000);
  };
}

/** `in` is faster than a list of the names. */
function addUsage(tokens: Series<keyof Usage, Tally>, usage: Usage): void {
  for (const each in usage) {
    const name = each as keyof Usage;
    if (usage[name] > 0) tokens.of(name).count += usage[name];
  }
}

/** "" if it did not fail, or not at an upstream. */
export function causeOf(
  { outcome, provider, errorCode, upstreamStatus }: LedgerEntry,
  fault: AttemptFault | null | undefined,
): FailureCause | "" {
  if (outcome !== "failed" || provider === "" || errorCode === null) return "";
  return fault?.cause ?? failureCause({ code: errorCode, status: upstreamStatus });
}

/** Whether our figure differs from the vendor's by more than 1 %. */
function costDiffers({ priceVersion, vendorCostNanoUsd: vendor, ownCostNanoUsd, costNanoUsd }: LedgerEntry): boolean {
  if (priceVersion === null || vendor === undefined) return false;
  return Math.abs(vendor - (ownCostNanoUsd ?? costNanoUsd)) > vendor / 100;
}

/** Returns a function that makes the counters of one provider and model. */
function pairMaker(registry: Registry) {
  const attempts = registry.tallies("sluice_attempts_total");
  const tokens = registry.tallies("sluice_tokens_total");
  const cost = registry.tallies("sluice_cost_usd_total", nanoToUsd);
  const unpriced = registry.tallies("sluice_unpriced_attempts_total");
  const unpricedUse = registry.tallies("sluice_unpriced_usage_total");
  const costDiffers = registry.tallies("sluice_vendor_cost_mismatches_total");
  const firstByte = registry.histogram("sluice_first_byte_seconds", firstByteBuckets);
  return (key: string) => {
    const [provider = "", model = provider] = key.split("\n");
    return {
      outcomes: new Series(bounds.metricValuesMax, (text: string) => {
        const [outcome = "", error = "", cause = ""] = text.split("\n");
        return attempts({ provider, model, outcome, error, cause });
      }),
      tokens: new Series<keyof Usage, Tally>(usageClasses.length, (name) => tokens({ model, class: className(name) })),
      cost: cost({ model }),
      unpriced: unpriced({ model }),
      unpricedUse: new Series(usageClasses.length + servedAxes.length, (name: string) =>
        unpricedUse({ model, class: name }),
      ),
      costDiffers: costDiffers({ provider, model }),
      firstByte: firstByte({ provider, model }),
    };
  };
}

/** As in the API: `input_uncached`, `cache_write_5m`. */
function className(name: string): string {
  return name.replaceAll(/[A-Z]|(?<=[a-z])\d/g, (c) => `_${c.toLowerCase()}`);
}

/** Metrics by workspace are optional. */
export interface WorkspaceLabels {
  /** How many workspaces have their own label; the others count as `other`. */
  readonly max: number;
  /** null if the workspace no longer exists. */
  readonly slugOf: (workspaceId: string) => string | null;
}

/** The used share of a workspace's budget; 1: the whole budget. */
export interface BudgetShare {
  readonly workspace: string;
  readonly share: number;
}

export function registerWorkspaceMetrics(registry: Registry, { max, slugOf }: WorkspaceLabels) {
  const requests = registry.tallies("sluice_workspace_requests_total");
  const tokens = registry.tallies("sluice_workspace_tokens_total");
  const cost = registry.tallies("sluice_workspace_cost_usd_total", nanoToUsd);
  const all = new Series(max, (id: string) => {
    const workspace = id === "other" ? id : (slugOf(id) ?? id);
    const ended = (outcome: RequestOutcome) => requests({ workspace, outcome });
    return {
      requests: {
        succeeded: ended("succeeded"),
        refused: ended("refused"),
        failed: ended("failed"),
        cancelled: ended("cancelled"),
      },
      tokens: new Series<keyof Usage, Tally>(usageClasses.length, (name) =>
        tokens({ workspace, class: className(name) }),
      ),
      cost: cost({ workspace }),
    };
  });
  return {
    attemptEnd({ workspaceId, usage, costNanoUsd }: LedgerEntry): void {
      if (workspaceId === "") return;
      const of = all.of(workspaceId);
      of.cost.count += costNanoUsd;
      addUsage(of.tokens, usage);
    },
    requestEnd({ principal, outcome }: Pick<RequestEnd, "outcome" | "principal">): void {
      if (principal != null) all.of(principal.workspace.id).requests[outcome].count++;
    },
  };
}
