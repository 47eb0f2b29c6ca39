import { Text } from "@mantine/core";
import type { BudgetConfig, ConsoleWorkspace, LimitsConfig, Member } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer } from "../../../components/form-drawer.tsx";
import { LimitsForm } from "../../../components/limits-form.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { budgetBlockedBy } from "../../limits/budget-increase.ts";
import { FullBudgetForm } from "../../limits/full-budget-form.tsx";
import { personChange } from "../../rehearsals/button/change-of.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { afterWorkspaceChange } from "../workspace-routes.ts";
import { nameOf } from "./member-columns.tsx";

interface MemberDrawerProps {
  readonly workspace: ConsoleWorkspace;
  readonly member: Member;
  readonly onClose: () => void;
}

/** Limits of a person in a workspace, for their agents and personal keys together. */
export function MemberDrawer({ workspace, member, onClose }: MemberDrawerProps) {
  const [before] = useState(member);
  const [limits, setLimits] = useState<LimitsConfig>(before.limits);
  const [budget, setBudget] = useState<BudgetConfig | null>(before.budget);
  const name = nameOf(before);
  const update = useAct("members.update", {
    inline: true,
    invalidates: afterWorkspaceChange,
    onDone: onClose,
    done: t("workspaces.member.limitSaved", { name }),
  });
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  const changes = {
    ...(differs(before.limits, limits) ? { limits } : {}),
    ...(differs(before.budget, budget) ? { budget } : {}),
  };
  return (
    <FormDrawer
      opened
      title={t("workspaces.member.limitOf", { name })}
      verb={t("workspaces.member.limitSave")}
      onClose={onClose}
      onSubmit={() => update.mutate({ params: { workspace: workspace.slug, user: before.id }, body: changes })}
      saving={update.isPending}
      problem={update.error}
      blocked={Object.keys(changes).length === 0 ? t("workspaces.edit.unchanged") : budgetBlockedBy(budget)}
      actions={
        <RehearseButton change={personChange(workspace.slug, before.email, changes)} workspace={workspace.slug} />
      }
    >
      <Text size="sm" c="dimmed">
        {t("workspaces.member.limitHelp")}
      </Text>
      <LimitsForm value={limits} onChange={setLimits} wider={workspace.limits} />
      <FullBudgetForm value={budget} onChange={setBudget} />
    </FormDrawer>
  );
}
