import type { ListedKey } from "@sluice/contract";
import { formatShare, formatUsdShort } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Money, Nothing, When } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { t } from "../../../language/areas/keys.ts";
import { shareOf } from "../../limits/limit-usage-words.ts";
import { KeyStatus, ServiceMark } from "../key-status.tsx";
import { budgetWords, limitWords } from "../limit-words.ts";

const name: Column<ListedKey> = {
  id: "name",
  header: t("keys.name"),
  sortBy: "gateway",
  cell: (key) => (
    <span className="key-name">
      {key.name}
      {key.state !== "without_secret" && (
        <small>
          {key.prefix}…{key.last_four}
        </small>
      )}
    </span>
  ),
};

const workspace: Column<ListedKey> = {
  id: "workspace",
  header: t("keys.workspace"),
  sortBy: "gateway",
  cell: (key) => key.workspace.slug,
};

const rest: readonly Column<ListedKey>[] = [
  { id: "group", header: t("keys.group"), sortBy: "gateway", cell: (key) => key.group.name },
  {
    id: "state",
    header: t("keys.status"),
    sortBy: "gateway",
    cell: (key) => (
      <span className="key-state">
        <KeyStatus item={key} />
        <ServiceMark item={key} />
        <ManagedByFile by={key.managed_by} />
      </span>
    ),
  },
  {
    id: "limits",
    secondary: true,
    header: t("keys.limits"),
    cell: (key) => limitWords(key.limits) || <Nothing word={t("keys.list.noneOwn")} />,
  },
  {
    id: "budget",
    header: t("keys.budget"),
    sortBy: "gateway",
    cell: (key) => <KeyBudget item={key} />,
    align: "right",
  },
  {
    id: "spend",
    header: t("keys.list.spend"),
    sortBy: "gateway",
    cell: (key) => <Money usd={key.spend_usd} cents />,
    align: "right",
  },
  {
    id: "created",
    optional: true,
    header: t("keys.facts.created"),
    sortBy: "gateway",
    cell: (key) => <When at={key.created_at} />,
    align: "right",
  },
  {
    id: "expires",
    secondary: true,
    header: t("keys.expires"),
    sortBy: "gateway",
    cell: (key) => (key.expires_at === null ? <Nothing word={t("keys.never")} /> : <When at={key.expires_at} />),
    align: "right",
  },
  {
    id: "used",
    header: t("keys.lastUsed"),
    sortBy: "gateway",
    cell: (key) => <When at={key.last_used_at} missing={t("keys.neverUsed")} />,
    align: "right",
  },
];

export const columnsInWorkspace: readonly Column<ListedKey>[] = [name, ...rest];
export const columnsOfAll: readonly Column<ListedKey>[] = [name, workspace, ...rest];

/** The budget, and below it the amount spent in its period. */
function KeyBudget({ item: { budget, budget_used: used } }: { readonly item: ListedKey }) {
  if (budget === null) return <Nothing word={t("keys.list.noneOwn")} />;
  return (
    <span className="key-name">
      {budgetWords(budget)}
      {used !== null && (
        <small className="tabular">
          {t("keys.list.spent", {
            used: formatUsdShort(used),
            share: formatShare(shareOf({ used, limit: budget.usd })),
          })}
        </small>
      )}
    </span>
  );
}
