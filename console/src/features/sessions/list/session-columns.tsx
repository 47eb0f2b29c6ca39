import type { RequestSession } from "@sluice/contract";
import { formatDuration } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Money, Nothing, Share, When } from "../../../components/figures.tsx";
import { t } from "../../../language/areas/sessions.ts";
import { agentText, InferredBadge, TokensText } from "../session-words.tsx";

const session: Column<RequestSession> = {
  id: "session",
  header: t("sessions.columns.session"),
  cell: (row) => (
    <span className="key-name">
      <span>
        {agentText(row)} <InferredBadge source={row.source} />
      </span>
      <small className="session-id" title={row.session}>
        {row.session}
      </small>
    </span>
  ),
};
const workspace: Column<RequestSession> = {
  id: "workspace",
  header: t("sessions.columns.workspace"),
  cell: (row) => <span className="short-name">{row.workspace.slug}</span>,
};
const key: Column<RequestSession> = {
  id: "key",
  header: t("sessions.columns.key"),
  cell: (row) => <span className="short-name">{row.key.name || row.key.id}</span>,
};
const person: Column<RequestSession> = {
  id: "person",
  secondary: true,
  header: t("sessions.columns.owner"),
  cell: ({ person: owner }) => (owner === null ? <Nothing /> : owner.name || owner.email),
};
const models: Column<RequestSession> = {
  id: "models",
  secondary: true,
  header: t("sessions.columns.models"),
  cell: (row) => <span className="model-name">{row.models.join(", ")}</span>,
};
/** The ids of sortable columns are sort orders of the list. */
const last: Column<RequestSession> = {
  id: "last_at",
  header: t("sessions.columns.last"),
  cell: (row) => <When at={row.last_at} />,
  sortBy: "gateway",
};
const length: Column<RequestSession> = {
  id: "length",
  optional: true,
  header: t("sessions.columns.length"),
  cell: (row) => <span className="tabular nowrap">{formatDuration(row.last_at - row.first_at)}</span>,
  align: "right",
};
const turns: Column<RequestSession> = {
  id: "turns",
  header: t("sessions.columns.turns"),
  cell: (row) => <Count value={row.turns} />,
  sortBy: "gateway",
  align: "right",
};
const errors: Column<RequestSession> = {
  id: "errors",
  header: t("sessions.columns.errors"),
  cell: ({ errors: count }) => (count === 0 ? <Nothing /> : <span className="session-errors tabular">{count}</span>),
  sortBy: "gateway",
  align: "right",
};
const tokens: Column<RequestSession> = {
  id: "tokens",
  secondary: true,
  header: t("sessions.columns.tokens"),
  cell: (row) => <TokensText input={row.input_tokens} output={row.output_tokens} />,
  align: "right",
};
const cached: Column<RequestSession> = {
  id: "cached",
  header: t("sessions.columns.cacheReads"),
  cell: (row) => <Share share={row.cache_read_share} />,
  align: "right",
};
const cost: Column<RequestSession> = {
  id: "cost_usd",
  header: t("sessions.columns.cost"),
  cell: (row) => <Money usd={row.cost_usd} aligned />,
  sortBy: "gateway",
  align: "right",
};

export const sessionColumns: readonly Column<RequestSession>[] = [
  ...[session, key, person, models, last, length, turns, errors, tokens, cached, cost],
];
export const sessionColumnsOfAll: readonly Column<RequestSession>[] = [session, workspace, ...sessionColumns.slice(1)];
