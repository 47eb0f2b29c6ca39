import type { ConsoleKey } from "@sluice/contract";
import type { Column } from "../../../components/data-table.tsx";
import { Nothing, When } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/keys.ts";
import { budgetWords, limitWords } from "../limit-words.ts";

const name: Column<ConsoleKey> = {
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

const workspace: Column<ConsoleKey> = {
  id: "workspace",
  header: t("keys.workspace"),
  sortBy: (key) => key.workspace.slug,
  cell: (key) => key.workspace.slug,
};

const rest: readonly Column<ConsoleKey>[] = [
  { id: "group", header: t("keys.group"), sortBy: (key) => key.group.name, cell: (key) => key.group.name },
  {
    id: "state",
    header: t("keys.state"),
    sortBy: (key) => key.state,
    cell: (key) => (
      <span className="key-state">
        <StatusBadge status={key.state} {...hintOf(key)} />
        <ManagedByFile by={key.managed_by} />
      </span>
    ),
  },
  {
    id: "limits",
    secondary: true,
    header: t("keys.limits"),
    cell: (key) => limitWords(key.limits) || <Nothing word={t("keys.noneOfItsOwn")} />,
  },
  {
    id: "budget",
    header: t("keys.budget"),
    sortBy: (key) => key.budget?.usd ?? null,
    cell: (key) => (key.budget === null ? <Nothing word={t("keys.noneOfItsOwn")} /> : budgetWords(key.budget)),
    align: "right",
  },
  {
    id: "expires",
    secondary: true,
    header: t("keys.expires"),
    sortBy: (key) => key.expires_at,
    cell: (key) => (key.expires_at === null ? <Nothing word={t("keys.never2")} /> : <When at={key.expires_at} />),
    align: "right",
  },
  {
    id: "used",
    header: t("keys.lastUsed"),
    sortBy: (key) => key.last_used_at,
    cell: (key) => <When at={key.last_used_at} />,
    align: "right",
  },
];

export const columnsInWorkspace: readonly Column<ConsoleKey>[] = [name, ...rest];
export const columnsOfAll: readonly Column<ConsoleKey>[] = [name, workspace, ...rest];

function hintOf(key: ConsoleKey): { hint?: string } {
  if (key.state === "without_secret") return { hint: t("keys.itHasNoSecretYet") };
  return {};
}
