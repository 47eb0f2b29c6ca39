import { TextInput } from "@mantine/core";
import type { ConsoleGroup, ConsoleWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { budgetBlockedBy } from "../../limits/budget-increase.ts";
import { groupChange } from "../../rehearsals/button/change-of.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { type Bounds, BoundsFields, changedBounds } from "../bounds-fields.tsx";
import { slugFault } from "../slug-of.ts";
import { afterWorkspaceChange } from "../workspace-routes.ts";

interface GroupDrawerProps {
  readonly workspace: ConsoleWorkspace;
  /** null: a new group. */
  readonly group: ConsoleGroup | null;
  readonly mayChange: boolean;
  readonly onClose: () => void;
}

const fresh = { name: "", models: ["*"], enforce_models: true, pass_through: [], limits: {}, budget: null } as const;

export function GroupDrawer({ workspace, group, mayChange, onClose }: GroupDrawerProps) {
  const [before] = useState<Bounds & { readonly name: string }>(group ?? fresh);
  const [name, setName] = useState(before.name);
  const [bounds, setBounds] = useState<Bounds>(before);
  const settings = { inline: true, invalidates: afterWorkspaceChange, onDone: onClose };
  const create = useAct("groups.create", {
    ...settings,
    done: (made) => t("workspaces.group.created", { name: made.name }),
  });
  const update = useAct("groups.update", { ...settings, done: t("workspaces.group.saved") });
  const act = group === null ? create : update;
  const changes = { ...(name === before.name ? {} : { name }), ...changedBounds(before, bounds) };
  const submit = () => {
    const { slug } = workspace;
    if (group === null) create.mutate({ params: { workspace: slug }, body: { ...changes, name } });
    else update.mutate({ params: { workspace: slug, group: group.id }, body: changes });
  };
  const locked = !mayChange || (group?.managed_by ?? "console") !== "console";
  const nameWrong = name === "" ? null : slugFault(name);
  const nothing = Object.keys(changes).length === 0 ? t("workspaces.edit.unchanged") : budgetBlockedBy(bounds.budget);
  return (
    <FormDrawer
      opened
      title={
        group === null
          ? t("workspaces.group.create")
          : locked
            ? t("workspaces.group.title", { name: before.name })
            : t("workspaces.group.edit", { name: before.name })
      }
      verb={group === null ? t("workspaces.group.create") : t("workspaces.group.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error}
      blocked={
        name === ""
          ? t("workspaces.fields.nameMissing")
          : nameWrong === null
            ? nothing
            : t("workspaces.fields.needsAttention")
      }
      locked={locked}
      actions={
        // A new group has no past requests.
        group !== null && (
          <RehearseButton change={groupChange(workspace.slug, before.name, changes)} workspace={workspace.slug} />
        )
      }
    >
      <ManagedByFileNote by={group?.managed_by ?? "console"} />
      <TextInput
        label={t("workspaces.name")}
        description={t("workspaces.fields.groupNameHelp")}
        placeholder={t("workspaces.fields.groupNamePlaceholder")}
        required
        data-autofocus
        spellCheck={false}
        maxLength={63}
        disabled={locked}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={nameWrong ?? wrongField(act.error, "name")}
      />
      <BoundsFields
        value={bounds}
        onChange={(next) => setBounds((current) => ({ ...current, ...next }))}
        problem={act.error}
        disabled={locked}
        wider={workspace.limits}
      />
    </FormDrawer>
  );
}
