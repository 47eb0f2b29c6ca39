import { Title } from "@mantine/core";
import type { UsageFigures } from "@sluice/contract";
import type { ReactNode } from "react";
import { useCall } from "../../api/use-call.ts";
import { Count, Duration, Money, Share } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Stat, Stats } from "../../components/stat.tsx";
import { timeSpanOf, useMinute } from "../../components/use-time-range.ts";
import { t } from "../../language/areas/overview.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { errorRateOf, type Measure } from "../usage/measures.ts";

const range = "24h";

interface Figure {
  /** Measure of the usage page. */
  readonly show: Measure;
  readonly label: string;
  readonly of: (figures: UsageFigures) => number | null;
  readonly words: (value: number | null) => ReactNode;
  readonly better?: "less" | "neither";
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
];

function shareWords(share: number | null): ReactNode {
  return <Share share={share} />;
}

/** Figures of the last 24 hours, compared with the 24 hours before. Each links to its chart. */
export function FiguresRow() {
  const { path } = useWorkspace();
  const { from, to, step } = timeSpanOf({}, useMinute(), range);
  const usage = useCall("usage.series", {
    params: { workspace: path },
    query: { from, to, step, by: "none" },
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
        {figures.map(({ show, label, of, words, better = "neither" }) => (
          <Stat
            key={show}
            label={label}
            link={{ to: "/usage", search: { show, range } }}
            value={data && words(of(data.totals))}
            {...(data === undefined ? {} : { change: { now: of(data.totals), before: of(data.previous) } })}
            better={better}
          />
        ))}
      </Stats>
    </div>
  );
}
