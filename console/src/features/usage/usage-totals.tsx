import type { UsageFigures } from "@sluice/contract";
import { formatCompact, formatShare } from "../../client/format.ts";
import { Count, Duration, Money, Share } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { t } from "../../language/areas/usage.ts";
import { errorRateOf } from "./measures.ts";
import type { UsageView } from "./usage-view.ts";
import { useUsageTotals } from "./use-usage-series.ts";

/** Key figures of everything that the filters leave, each compared with the period before. */
export function UsageTotals({ view }: { readonly view: UsageView }) {
  const usage = useUsageTotals(view);
  if (usage.error !== null && usage.data === undefined) {
    return <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />;
  }
  const { totals, previous, series } = usage.data ?? {};
  const points = series?.[0]?.points ?? {};
  const change = (figure: (figures: UsageFigures) => number | null) =>
    totals === undefined || previous === undefined ? {} : { change: { now: figure(totals), before: figure(previous) } };
  const zeros = (values: readonly (number | null)[] = []) => values.map((value) => value ?? 0);
  const [input, output] = [zeros(points.input_tokens), zeros(points.output_tokens)];
  return (
    <Stats label={t("usage.figures.title")}>
      <Stat
        label={t("usage.measure.cost")}
        value={totals && <Money usd={totals.cost_usd} short />}
        {...change(({ cost_usd: usd }) => usd)}
        trend={zeros(points.cost_usd)}
      />
      <Stat
        label={t("usage.measure.requests")}
        value={totals && <Count value={totals.requests} />}
        {...change(({ requests }) => requests)}
        trend={zeros(points.requests)}
      />
      <Stat
        label={t("usage.measure.tokens")}
        value={totals && <Count value={totals.input_tokens + totals.output_tokens} short />}
        hint={
          totals &&
          t("usage.figures.tokensHelp", {
            input: formatCompact(totals.input_tokens),
            output: formatCompact(totals.output_tokens),
          })
        }
        trend={input.map((each, place) => each + (output[place] ?? 0))}
      />
      <Stat
        label={t("usage.measure.reasoning")}
        value={totals && <Count value={totals.reasoning_tokens} short />}
        hint={totals && reasoningHint(totals)}
        trend={zeros(points.reasoning_tokens)}
      />
      <Stat
        label={t("usage.measure.cacheShare")}
        value={totals && <Share share={totals.cache_read_share} />}
        hint={previous && totals && <Points now={totals.cache_read_share} before={previous.cache_read_share} />}
        trend={points.cache_read_share ?? []}
      />
      <Stat
        label={t("usage.measure.cacheSaved")}
        value={totals && <Money usd={totals.cache_saved_usd} short />}
        {...change(({ cache_saved_usd: usd }) => usd)}
        trend={zeros(points.cache_saved_usd)}
      />
      <Stat
        label={t("usage.measure.errorRate")}
        value={totals && <Share share={errorRateOf(totals)} />}
        hint={
          previous &&
          totals && (
            <>
              <Points now={errorRateOf(totals)} before={errorRateOf(previous)} />
              {totals.failed_requests > 0 &&
                t("usage.figures.failed", { count: formatCompact(totals.failed_requests) })}
            </>
          )
        }
      />
      <Stat
        label={t("usage.measure.p95")}
        value={totals && <Duration ms={totals.request_latency_p95_ms} />}
        {...change(({ request_latency_p95_ms: ms }) => ms)}
        better="less"
      />
    </Stats>
  );
}

/** The share of the output that was reasoning. */
export function reasoningHint({ reasoning_share: share }: UsageFigures): string | null {
  return share === null ? null : t("usage.figures.reasoningHelp", { share: formatShare(share) });
}

const tenths = 1_000;

/** The change of a share in percentage points. */
function Points({ now, before }: { readonly now: number | null; readonly before: number | null }) {
  if (now === null || before === null) return null;
  const points = Math.round((now - before) * tenths) / 10;
  if (points === 0) return null;
  return (
    <span className="tabular">
      {t("usage.figures.points", { points: `${points > 0 ? "+" : "−"}${Math.abs(points).toFixed(1)}` })}{" "}
    </span>
  );
}
