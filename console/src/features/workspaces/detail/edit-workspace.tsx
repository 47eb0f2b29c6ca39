import { Text, TextInput } from "@mantine/core";
import type { ConsoleWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { useSession } from "../../../session/session-context.tsx";
import { budgetBlockedBy } from "../../limits/budget-increase.ts";
import { workspaceChange } from "../../rehearsals/button/change-of.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { type Bounds, BoundsFields, changedBounds } from "../bounds-fields.tsx";
import { afterWorkspaceChange } from "../workspace-routes.ts";

interface EditWorkspaceProps {
  readonly workspace: ConsoleWorkspace;
  readonly onClose: () => void;
}

/** Owners can rename it; only administrators can change its limits. */
export function EditWorkspace({ workspace, onClose }: EditWorkspaceProps) {
  const { user } = useSession();
  const [before] = useState(workspace);
  const [name, setName] = useState(workspace.name);
  const [bounds, setBounds] = useState<Bounds>(workspace);
  const update = useAct("workspaces.update", {
    inline: true,
    invalidates: afterWorkspaceChange,
    done: t("workspaces.edit.done"),
    onDone: onClose,
  });
  const body = { ...(name.trim() === before.name ? {} : { name: name.trim() }), ...changedBounds(before, bounds) };
  const nothing = Object.keys(body).length === 0 ? t("workspaces.edit.unchanged") : budgetBlockedBy(bounds.budget);
  return (
    <FormDrawer
      opened
      title={t("workspaces.edit.title", { name: before.name })}
      verb={t("workspaces.edit.verb")}
      onClose={onClose}
      onSubmit={() => update.mutate({ params: { workspace: before.slug }, body })}
      saving={update.isPending}
      problem={update.error}
      blocked={name.trim() === "" ? t("workspaces.fields.nameMissing") : nothing}
      actions={<RehearseButton change={workspaceChange(before.slug, body)} workspace={before.slug} forAdministrators />}
    >
      <TextInput
        label={t("workspaces.name")}
        required
        data-autofocus
        maxLength={256}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={wrongField(update.error, "name")}
      />
      {!user.administrator && (
        <Text size="sm" c="dimmed">
          {t("workspaces.fields.onlyAdministrators")}
        </Text>
      )}
      <BoundsFields
        value={bounds}
        onChange={(changes) => setBounds((current) => ({ ...current, ...changes }))}
        problem={update.error}
        disabled={!user.administrator}
      />
    </FormDrawer>
  );
}
