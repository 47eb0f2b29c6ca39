import type { ConsoleKey, RequestSession } from "@sluice/contract";
import { useCall } from "../../../api/use-call.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Count, Money, Share, When } from "../../../components/figures.tsx";
import { rowsIn } from "../../../components/rows.ts";
import { Section } from "../../../components/section.tsx";
import { useTimeRange } from "../../../components/use-time-range.ts";
import { t } from "../../../language/areas/keys.ts";

/** Usage of this key by agent session, with the share of input read from prompt caches. */
export function KeySessions({ item }: { readonly item: ConsoleKey }) {
  const { from, to } = useTimeRange("7d");
  const query = useCall("sessions.list", {
    params: { workspace: item.workspace.slug },
    query: { from, to, key: item.id, limit: 100 },
    keepBefore: true,
  });
  // Most keys are of programs that name no sessions.
  if (query.data === undefined || query.data.data.length === 0) return null;
  return (
    <Section title={t("keys.sessions.title")} description={t("keys.sessions.help")} flush>
      <DataTable
        label={t("keys.sessions.title")}
        columns={columns}
        pageSize={10}
        rows={rowsIn(query, (answer) => answer.data)}
        rowKey={(row) => row.session}
        empty={null}
      />
    </Section>
  );
}

const columns: readonly Column<RequestSession>[] = [
  {
    id: "session",
    header: t("keys.sessions.session"),
    cell: ({ session }) => <code className="break">{session}</code>,
  },
  { id: "last", header: t("keys.sessions.last"), cell: ({ last_at }) => <When at={last_at} /> },
  {
    id: "requests",
    header: t("keys.usage.count"),
    align: "right",
    cell: ({ requests }) => <Count value={requests} short />,
  },
  {
    id: "input",
    header: t("keys.sessions.input"),
    align: "right",
    cell: ({ input_tokens }) => <Count value={input_tokens} short />,
  },
  {
    id: "cached",
    header: t("keys.usage.cacheReads"),
    align: "right",
    cell: ({ cache_read_share }) => <Share share={cache_read_share} />,
  },
  {
    id: "cost",
    header: t("keys.usage.cost"),
    align: "right",
    cell: ({ cost_usd }) => <Money usd={cost_usd} aligned />,
  },
];
