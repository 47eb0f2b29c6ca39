import { type FailureCause, failureCause } from "@sluice/contract/words";
import { bounds, type LedgerEntry, nanoToUsd, servedAxes, type Usage, usageClasses } from "#core/index.ts";
import type { AttemptFault } from "#ports/index.ts";
import { type HistogramTally, registerHistogram } from "./histogram-tally.ts";
import type { Registry } from "./prometheus.ts";
import { Series } from "./series.ts";
import { registerTallies, type Tally } from "./tally.ts";

const firstByteBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const overheadBuckets = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1];

/** Everything that is counted for one provider and model. */
interface Pair {
  readonly outcomes: Series<string, Tally>;
  readonly tokens: Series<keyof Usage, Tally>;
  readonly cost: Tally;
  readonly unpriced: Tally;
  readonly unpricedUse: Series<string, Tally>;
  readonly costDiffers: Tally;
  readonly firstByte: HistogramTally;
}

export type RecordAttempt = (entry: LedgerEntry, fault?: AttemptFault | null) => void;

/** Attempts, tokens, cost, first byte and own overhead, from the same entries that the ledger keeps. */
export function registerAttemptMetrics(registry: Registry): RecordAttempt {
  const overhead = registerHistogram(registry, {
    name: "sluice_overhead_seconds",
    help: "The gateway's own time up to the first byte.",
    buckets: overheadBuckets,
  })();
  const pairs = new Series(bounds.metricPairsMax, pairMaker(registry));

  return (entry, fault) => {
    const { provider, model, outcome, errorCode, usage } = entry;
    // Without a provider nothing was chosen, and the model may be anything a caller wrote.
    const pair = pairs.of(provider === "" ? "none" : `${provider}\n${model}`);
    const outcomes = errorCode === null ? outcome : `${outcome}\n${errorCode}\n${causeOf(entry, fault)}`;
    pair.outcomes.of(outcomes).count++;
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

/** `in` reads the members of one object faster than a list of their names does. */
export function addUsage(tokens: Series<keyof Usage, Tally>, usage: Usage): void {
  for (const each in usage) {
    const name = each as keyof Usage;
    if (usage[name] > 0) tokens.of(name).count += usage[name];
  }
}

/** Empty: it did not fail, or not at an upstream. */
export function causeOf(
  { outcome, provider, errorCode, upstreamStatus }: LedgerEntry,
  fault: AttemptFault | null | undefined,
): FailureCause | "" {
  if (outcome !== "failed" || provider === "" || errorCode === null) return "";
  return fault?.cause ?? failureCause({ code: errorCode, status: upstreamStatus });
}

/** The vendor's figure and ours are more than a hundredth of the vendor's apart. */
function costDiffers({ priceVersion, vendorCostNanoUsd: vendor, ownCostNanoUsd, costNanoUsd }: LedgerEntry): boolean {
  if (priceVersion === null || vendor === undefined) return false;
  return Math.abs(vendor - (ownCostNanoUsd ?? costNanoUsd)) > vendor / 100;
}

function pairMaker(registry: Registry): (key: string) => Pair {
  const attempts = registerTallies(registry, {
    name: "sluice_attempts_total",
    help: "Attempts by provider, model, outcome, error code and cause; refused calls have provider none.",
    labelNames: ["provider", "model", "outcome", "error", "cause"],
  });
  const tokens = registerTallies(registry, {
    name: "sluice_tokens_total",
    help: "Tokens by model and class; classes do not overlap, but reasoning is also inside output.",
    labelNames: ["model", "class"],
  });
  const cost = registerTallies(registry, {
    name: "sluice_cost_usd_total",
    help: "Cost by model, in US dollars.",
    labelNames: ["model"],
    shown: nanoToUsd,
  });
  const unpriced = registerTallies(registry, {
    name: "sluice_unpriced_attempts_total",
    help: "Attempts of models without a price that used something: they cost 0, and no budget counts them.",
    labelNames: ["model"],
  });
  const unpricedUse = registerTallies(registry, {
    name: "sluice_unpriced_usage_total",
    help: "Attempts that used a class without a price, or were served at an assumed one, by model and class (or tier, geo, speed).",
    labelNames: ["model", "class"],
  });
  const costDiffers = registerTallies(registry, {
    name: "sluice_vendor_cost_differs_total",
    help: "Attempts whose cost by the vendor differs from price times usage by more than 1 %, by provider and model.",
    labelNames: ["provider", "model"],
  });
  const firstByte = registerHistogram(registry, {
    name: "sluice_first_byte_seconds",
    help: "Time from the request's arrival to the first byte of its answer.",
    labelNames: ["provider", "model"],
    buckets: firstByteBuckets,
  });
  return (key) => {
    const [provider = "", model = provider] = key.split("\n");
    return {
      outcomes: new Series(bounds.metricValuesMax, (text: string) => {
        const [outcome = "", error = "", cause = ""] = text.split("\n");
        return attempts({ provider, model, outcome, error, cause });
      }),
      tokens: new Series(usageClasses.length, (name) => tokens({ model, class: className(name) })),
      cost: cost({ model }),
      unpriced: unpriced({ model }),
      unpricedUse: new Series(usageClasses.length + servedAxes.length, (name) => unpricedUse({ model, class: name })),
      costDiffers: costDiffers({ provider, model }),
      firstByte: firstByte(provider, model),
    };
  };
}

/** As callers and configuration write it: `input_uncached`, `cache_write_5m`. */
export function className(name: string): string {
  return name.replaceAll(/[A-Z]|(?<=[a-z])\d/g, (c) => `_${c.toLowerCase()}`);
}
