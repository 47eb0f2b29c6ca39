import { formatCount, formatShare, formatUsd } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Duration, Money, Nothing, When } from "../../../components/figures.tsx";
import { t } from "../../../language/areas/sessions.ts";
import { OutcomeCell } from "../../requests/outcome.tsx";
import { TokensText } from "../session-words.tsx";
import type { Turn } from "./turns.ts";

/** `highest`: the cost of the longest bar, in USD. */
export function turnColumns(highest: number): readonly Column<Turn>[] {
  return [
    {
      id: "number",
      header: t("sessions.detail.number"),
      cell: ({ number }) => <span className="tabular">{formatCount(number)}</span>,
      width: "3rem",
    },
    { id: "time", header: t("sessions.detail.time"), cell: ({ at }) => <When at={at} /> },
    {
      id: "model",
      header: t("sessions.detail.model"),
      cell: ({ last }) => <span className="model-name">{last.model || last.requested_model}</span>,
    },
    { id: "result", header: t("sessions.detail.result"), cell: ({ last }) => <OutcomeCell row={last} /> },
    { id: "tools", secondary: true, header: t("sessions.detail.tools"), cell: (turn) => <Tools turn={turn} /> },
    {
      id: "duration",
      secondary: true,
      header: t("sessions.detail.duration"),
      cell: ({ totalMs }) => <Duration ms={totalMs} />,
      align: "right",
    },
    {
      id: "tokens",
      header: t("sessions.columns.tokens"),
      cell: ({ inputTokens, outputTokens }) => <TokensText input={inputTokens} output={outputTokens} />,
      align: "right",
    },
    {
      id: "cached",
      header: t("sessions.columns.cacheReads"),
      cell: ({ cacheShare }) =>
        cacheShare === null ? <Nothing /> : <Bar share={cacheShare} words={formatShare(cacheShare)} tone="cache" />,
      align: "right",
    },
    {
      id: "cost",
      header: t("sessions.columns.cost"),
      cell: ({ costUsd }) =>
        costUsd === 0 ? (
          <Money usd={0} />
        ) : (
          <Bar share={highest === 0 ? 0 : costUsd / highest} words={formatUsd(costUsd)} tone="cost" />
        ),
      align: "right",
    },
  ];
}

interface BarProps {
  readonly share: number;
  readonly words: string;
  readonly tone: "cache" | "cost";
}

/** A figure above a bar of its share. */
function Bar({ share, words, tone }: BarProps) {
  return (
    <span className="turn-bar" data-tone={tone}>
      <span className="tabular">{words}</span>
      <span className="turn-bar-line" aria-hidden="true">
        <span style={{ width: `${Math.min(100, Math.max(0, share * 100))}%` }} />
      </span>
    </span>
  );
}

/** Calls of the caller's tools, then of the provider's. */
function Tools({ turn: { tools, providerTools } }: { readonly turn: Turn }) {
  const called = tools.filter(({ calls }) => calls > 0);
  const words = [
    ...called.map(({ name, calls }) => (calls === 1 ? name : t("sessions.tools.called", { name, count: calls }))),
    ...Object.entries(providerTools).map(([name, count]) => toolText(name, count)),
  ];
  return words.length === 0 ? <Nothing word={t("sessions.detail.noTools")} /> : words.join(", ");
}

function toolText(name: string, count: number): string {
  switch (name) {
    case "web_searches":
      return t("sessions.tools.webSearches", { count });
    case "file_searches":
      return t("sessions.tools.fileSearches", { count });
    case "map_searches":
      return t("sessions.tools.mapSearches", { count });
    case "code_sessions":
      return t("sessions.tools.codeSessions", { count });
    default:
      return `${name} ${formatCount(count)}`;
  }
}
