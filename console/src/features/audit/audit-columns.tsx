import type { AuditRow } from "@sluice/contract";
import type { Column } from "../../components/data-table.tsx";
import { Nothing, When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/audit.ts";
import { actionWord, targetWords } from "./action-words.ts";

const time: Column<AuditRow> = { id: "time", header: t("audit.time"), cell: (row) => <When at={row.at} /> };
const actor: Column<AuditRow> = { id: "actor", header: t("audit.actor"), cell: (row) => row.actor };
const action: Column<AuditRow> = {
  id: "action",
  header: t("audit.actionTitle"),
  cell: (row) => <ActionBadge action={row.action} />,
};
const object: Column<AuditRow> = { id: "object", header: t("audit.target"), cell: targetWords };
const workspace: Column<AuditRow> = {
  id: "workspace",
  header: t("audit.workspace"),
  width: "7.5rem",
  cell: (row) => (row.workspace === null ? <Nothing word={t("audit.none")} /> : row.workspace.slug || row.workspace.id),
};
const address: Column<AuditRow> = {
  id: "address",
  header: t("audit.address"),
  width: "8.5rem",
  cell: (row) => row.ip ?? <Nothing word={t("audit.unknown")} />,
};

export const auditColumns: readonly Column<AuditRow>[] = [time, actor, action, object, address];
/** Administrators see all workspaces, and entries without one. */
export const auditColumnsOfAll: readonly Column<AuditRow>[] = [time, actor, action, object, workspace, address];

export function ActionBadge({ action: name }: { readonly action: string }) {
  const { label, tone } = actionWord(name);
  return <StatusBadge status={name} tone={tone} label={label} />;
}
