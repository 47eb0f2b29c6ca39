import type { RehearsalResult } from "@sluice/contract";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Money, When } from "../../../components/figures.tsx";
import { modelLabel } from "../../../components/model-label.ts";
import { personText } from "../../../components/person-text.ts";
import { t } from "../../../language/areas/rehearsals.ts";
import { limitNames, objectWords } from "./limit-names.ts";
import { usdOf } from "./money.ts";
import { PolicyLink, RequestsLink } from "./result-link.tsx";

interface Costs {
  readonly recorded_nano_usd: string;
  readonly rehearsed_nano_usd: string;
}

const refused: Column<{ readonly refused: number }> = {
  id: "refused",
  header: t("rehearsals.figures.refused"),
  align: "right",
  sortBy: (row) => row.refused,
  cell: (row) => <Count value={row.refused} />,
};

export const requests: Column<{ readonly calls: number }> = {
  id: "calls",
  header: t("rehearsals.figures.requests"),
  align: "right",
  sortBy: ({ calls }) => calls,
  cell: ({ calls }) => <Count value={calls} />,
};

export const costs: readonly Column<Costs>[] = [
  {
    id: "recorded",
    header: t("rehearsals.figures.costThen"),
    align: "right",
    sortBy: (row) => usdOf(row.recorded_nano_usd),
    cell: (row) => <Money usd={usdOf(row.recorded_nano_usd)} aligned />,
  },
  {
    id: "rehearsed",
    header: t("rehearsals.figures.cost"),
    align: "right",
    sortBy: (row) => usdOf(row.rehearsed_nano_usd),
    cell: (row) => <Money usd={usdOf(row.rehearsed_nano_usd)} aligned />,
  },
];

type Rule = RehearsalResult["rules"][number];

export const ruleColumns: readonly Column<Rule>[] = [
  {
    id: "object",
    header: t("rehearsals.refused.object"),
    sortBy: objectWords,
    cell: (rule) => <RuleObject {...rule} />,
  },
  {
    id: "limit",
    header: t("rehearsals.refused.limit"),
    cell: ({ limit, changed }) => (
      <>
        {limitNames[limit]}
        {!changed && <small> {t("rehearsals.refused.unchanged")}</small>}
      </>
    ),
  },
  {
    id: "calls",
    header: t("rehearsals.figures.refused"),
    align: "right",
    sortBy: ({ calls }) => calls,
    cell: ({ calls }) => <Count value={calls} />,
  },
  {
    id: "lost",
    header: t("rehearsals.refused.lost"),
    align: "right",
    sortBy: (rule) => usdOf(rule.recorded_nano_usd),
    cell: (rule) => <Money usd={usdOf(rule.recorded_nano_usd)} aligned />,
  },
  {
    id: "first",
    header: t("rehearsals.refused.first"),
    align: "right",
    sortBy: (rule) => rule.first_at,
    cell: (rule) => <When at={rule.first_at} exact />,
    secondary: true,
  },
];

/** `key acme/ci`, with a link to its requests where the requests page has such a filter, or to the policy. */
function RuleObject({ scope, scope_id: id, label }: Pick<Rule, "scope" | "scope_id" | "label">) {
  const words = objectWords({ scope, label });
  if (scope === "policy") return <PolicyLink id={id}>{words}</PolicyLink>;
  if (scope === "person" || scope === "guardrail") return <span className="break">{words}</span>;
  return <RequestsLink filter={scope === "workspace" ? {} : { [scope]: id }}>{words}</RequestsLink>;
}

export const personColumns: readonly Column<RehearsalResult["people"][number]>[] = [
  {
    id: "person",
    header: t("rehearsals.refused.person"),
    sortBy: ({ person }) => personText(person),
    cell: ({ person }) => <RequestsLink filter={{ person: person.id }}>{personText(person)}</RequestsLink>,
  },
  refused,
  ...costs,
];

export const keyColumns: readonly Column<RehearsalResult["keys"][number]>[] = [
  {
    id: "key",
    header: t("rehearsals.refused.key"),
    sortBy: ({ key }) => key.name,
    cell: ({ key, workspace }) => (
      <RequestsLink filter={{ key: key.id }} workspace={workspace.slug}>
        {key.name || key.id}
      </RequestsLink>
    ),
  },
  {
    id: "workspace",
    header: t("rehearsals.refused.workspace"),
    cell: ({ workspace }) => workspace.slug,
    secondary: true,
  },
  requests,
  refused,
  ...costs,
];

export const modelColumns: readonly Column<RehearsalResult["models"][number]>[] = [
  {
    id: "model",
    header: t("rehearsals.refused.model"),
    sortBy: ({ model }) => model,
    cell: ({ model }) => <RequestsLink filter={{ model }}>{modelLabel(model)}</RequestsLink>,
  },
  requests,
  refused,
  ...costs,
];
