import { Fieldset, Stack, Switch, TextInput } from "@mantine/core";
import { type ConsoleBudgetPolicy, everyWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { t } from "../../../language/areas/limits.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { FullBudgetForm } from "../full-budget-form.tsx";
import {
  emptyPolicy,
  type PolicyDraft,
  policyBlockedBy,
  policyBodyOf,
  policyChangeOf,
  policyDraftOf,
  rehearsedPolicy,
} from "./policy-draft.ts";
import { MatchFields, SplitField } from "./policy-fields.tsx";

interface PolicyDrawerProps {
  /** null: a new one. */
  readonly policy: ConsoleBudgetPolicy | null;
  /** A slug; null: the installation. */
  readonly workspace: string | null;
  readonly onClose: () => void;
}

/** Creates, changes or shows a budget policy. */
export function PolicyDrawer({ policy, workspace, onClose }: PolicyDrawerProps) {
  const [draft, setDraft] = useState<PolicyDraft>(() => (policy === null ? emptyPolicy : policyDraftOf(policy)));
  const change = (changes: Partial<PolicyDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const settings = { inline: true, invalidates: ["budgets.list"] as const, onDone: onClose };
  const create = useAct("budgets.create", { ...settings, done: t("limits.policy.created") });
  const update = useAct("budgets.update", { ...settings, done: t("limits.policy.saved") });
  const act = policy === null ? create : update;
  const locked = policy !== null && policy.managed_by !== "console";
  const place = workspace ?? everyWorkspace;
  const submit = () => {
    if (policy === null) create.mutate({ params: { workspace: place }, body: policyBodyOf(draft) });
    else update.mutate({ params: { workspace: place, budget: policy.id }, body: policyChangeOf(draft) });
  };
  return (
    <FormDrawer
      opened
      title={policy === null ? t("limits.policy.create") : t("limits.policy.editOf", { name: policy.name })}
      verb={policy === null ? t("limits.policy.create") : t("limits.policy.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error}
      blocked={policyBlockedBy(draft)}
      locked={locked}
      actions={<RehearseButton change={rehearsedPolicy(draft, policy, workspace)} workspace={workspace} />}
    >
      {policy !== null && <ManagedByFileNote by={policy.managed_by} />}
      <Fieldset variant="unstyled" disabled={locked}>
        <Stack gap="md">
          <TextInput
            label={t("limits.policy.name")}
            description={t("limits.policy.nameHelp")}
            required
            maxLength={63}
            spellCheck={false}
            value={draft.name}
            error={wrongField(act.error, "name")}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <FullBudgetForm value={draft.budget} onChange={(budget) => change({ budget })} disabled={locked} />
          <SplitField draft={draft} onChange={change} />
          <MatchFields draft={draft} onChange={change} workspace={workspace} />
          <Switch
            label={t("limits.policy.enabled")}
            checked={draft.enabled}
            onChange={(event) => change({ enabled: event.currentTarget.checked })}
          />
        </Stack>
      </Fieldset>
    </FormDrawer>
  );
}
