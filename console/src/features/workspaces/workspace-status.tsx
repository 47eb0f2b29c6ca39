import type { WorkspaceWithUsage } from "@sluice/contract";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/workspaces.ts";

/** Whether the keys of a workspace work. */
export function WorkspaceStatus({ workspace }: { readonly workspace: WorkspaceWithUsage }) {
  if (!workspace.enabled) {
    return (
      <StatusBadge status="disabled" tone="warn" label={t("workspaces.disabled")} hint={t("workspaces.disabledHelp")} />
    );
  }
  if (workspace.exhausted_by !== null) return <ExhaustedBudget scope="workspace" />;
  return <StatusBadge status="enabled" label={t("workspaces.enabled")} />;
}

/** A group or workspace with an exhausted budget. */
export function ExhaustedBudget({ scope }: { readonly scope: "group" | "person" | "workspace" }) {
  return (
    <StatusBadge
      status="exhausted"
      tone="bad"
      label={t("workspaces.exhausted")}
      hint={t("workspaces.exhaustedHelp", { scope })}
    />
  );
}
