import type { KeyWithUsage } from "@sluice/contract";
import { formatShare, formatUsdShort } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { t } from "../../../language/areas/keys.ts";
import { shareOf } from "../../limits/limit-usage-words.ts";
import { KeyStatus, ServiceMark } from "../key-status.tsx";
import { budgetWords, limitWords } from "../limit-words.ts";

const name: Column<KeyWithUsage> = {
  id: "name",
  header: t("keys.name"),
  sortBy: (key) => key.name.toLowerCase(),
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

const workspace: Column<KeyWithUsage> = {
  id: "workspace",
  header: t("keys.workspace"),
  sortBy: (key) => key.workspace.slug,
  cell: (key) => key.workspace.slug,
};

const rest: readonly Column<KeyWithUsage>[] = [
  { id: "group", header: t("keys.group"), sortBy: (key) => key.group.name, cell: (key) => key.group.name },
  {
    id: "state",
    header: t("keys.status"),
    sortBy: (key) => (key.state === "active" && key.exhausted_by !== null ? "exhausted" : key.state),
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
    sortBy: (key) => key.budget?.usd ?? null,
    cell: (key) => <KeyBudget item={key} />,
    align: "right",
  },
  {
    id: "expires",
    secondary: true,
    header: t("keys.expires"),
    sortBy: (key) => key.expires_at,
    cell: (key) => (key.expires_at === null ? <Nothing word={t("keys.never")} /> : <When at={key.expires_at} />),
    align: "right",
  },
  {
    id: "used",
    header: t("keys.lastUsed"),
    sortBy: (key) => key.last_used_at,
    cell: (key) => <When at={key.last_used_at} missing={t("keys.neverUsed")} />,
    align: "right",
  },
];

export const columnsInWorkspace: readonly Column<KeyWithUsage>[] = [name, ...rest];
export const columnsOfAll: readonly Column<KeyWithUsage>[] = [name, workspace, ...rest];

/** The budget, and below it the amount spent in its period. */
function KeyBudget({ item: { budget, budget_used: used } }: { readonly item: KeyWithUsage }) {
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
