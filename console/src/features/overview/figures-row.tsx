import { Title } from "@mantine/core";
import type { UsageFigures, UsageMeasure } from "@sluice/contract";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { Count, Duration, Money, Share } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { timeSpanOf, useMinute } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/overview.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { errorRateOf, type Measure, measures, valuesOf } from "../usage/measures.ts";
import { reasoningHint } from "../usage/usage-totals.tsx";

const range = "24h";

interface Figure {
  /** Measure of the usage page. */
  readonly show: Measure;
  readonly label: string;
  readonly of: (figures: UsageFigures) => number | null;
  readonly words: (value: number | null) => ReactNode;
  readonly better?: "less" | "neither";
  readonly hint?: (figures: UsageFigures) => string | null;
}

const figures: readonly Figure[] = [
  {
    show: "cost",
    label: t("overview.figures.spend"),
    of: ({ cost_usd: usd }) => usd,
    words: (usd) => <Money usd={usd} short />,
  },
  {
    show: "requests",
    label: t("overview.figures.requests"),
    of: ({ requests }) => requests,
    words: (count) => <Count value={count} short />,
  },
  { show: "error_rate", label: t("overview.figures.errorRate"), of: errorRateOf, words: shareWords, better: "less" },
  {
    show: "p50",
    label: t("overview.figures.latency"),
    of: ({ request_latency_p50_ms: ms }) => ms,
    words: (ms) => <Duration ms={ms} />,
    better: "less",
  },
  {
    show: "first_token",
    label: t("overview.figures.firstToken"),
    of: ({ request_first_token_p50_ms: ms }) => ms,
    words: (ms) => <Duration ms={ms} />,
    better: "less",
  },
  {
    show: "cache_share",
    label: t("overview.figures.cacheReads"),
    of: ({ cache_read_share: share }) => share,
    words: shareWords,
  },
  {
    show: "cache_saved",
    label: t("overview.figures.cacheSaved"),
    of: ({ cache_saved_usd: usd }) => usd,
    words: (usd) => <Money usd={usd} short />,
  },
  {
    show: "reasoning",
    label: t("overview.figures.reasoning"),
    of: ({ reasoning_tokens: count }) => count,
    words: (count) => <Count value={count} short />,
    hint: reasoningHint,
  },
];

const figuresOfTrends = [...new Set(figures.flatMap(({ show }): readonly UsageMeasure[] => measures[show].figures))];

function shareWords(share: number | null): ReactNode {
  return <Share share={share} />;
}

/** Figures of the last 24 hours, compared with the 24 hours before. Each links to its chart. */
export function FiguresRow() {
  const { path } = useWorkspace();
  const { from, to, step } = timeSpanOf({}, useMinute(), range);
  const usage = useCall("usage.series", {
    params: { workspace: path },
    query: { from, to, step, by: "none", measures: figuresOfTrends.join() },
    keepBefore: true,
  });
  const { data } = usage;
  if (data === undefined && usage.error !== null) {
    return <ProblemAlert problem={usage.error} onRetry={() => void usage.refetch()} />;
  }
  return (
    <div>
      <Title order={2} className="section-title" mb="xs">
        {t("overview.figures.title")}
      </Title>
      <Stats label={t("overview.figures.title")}>
        {figures.map(({ show, label, of, words, hint, better = "neither" }) => (
          <Stat
            key={show}
            label={label}
            link={{ to: "/usage", search: { show, range } }}
            value={data && words(of(data.totals))}
            {...(data === undefined ? {} : { change: { now: of(data.totals), before: of(data.previous) } })}
            better={better}
            hint={data && hint?.(data.totals)}
            trend={valuesOf(data?.series[0]?.points ?? {}, measures[show], data?.at.length ?? 0)}
          />
        ))}
      </Stats>
    </div>
  );
}
