import { Text, TextInput } from "@mantine/core";
import type { ConsoleWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { useSession } from "../../../session/session-context.tsx";
import { type Bounds, BoundsFields, changedBounds } from "../bounds-fields.tsx";
import { afterWorkspaceChange } from "../workspace-routes.ts";

interface EditWorkspaceProps {
  readonly workspace: ConsoleWorkspace;
  readonly onClose: () => void;
}

/** An owner renames it; what bounds it is for administrators. */
export function EditWorkspace({ workspace, onClose }: EditWorkspaceProps) {
  const { user } = useSession();
  const [before] = useState(workspace);
  const [name, setName] = useState(workspace.name);
  const [bounds, setBounds] = useState<Bounds>(workspace);
  const update = useAct("workspaces.update", {
    inline: true,
    invalidates: afterWorkspaceChange,
    done: "Workspace changed. Calls go by it at once.",
    onDone: onClose,
  });
  const body = { ...(name.trim() === before.name ? {} : { name: name.trim() }), ...changedBounds(before, bounds) };
  const nothing = Object.keys(body).length === 0 ? "Nothing changed yet." : null;
  return (
    <FormDrawer
      opened
      title={`Change ${before.name}`}
      verb="Save workspace"
      onClose={onClose}
      onSubmit={() => update.mutate({ params: { workspace: before.slug }, body })}
      saving={update.isPending}
      problem={update.error}
      blocked={name.trim() === "" ? "Give it a name." : nothing}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={256}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={wrongField(update.error, "name")}
      />
      {!user.administrator && (
        <Text size="sm" c="dimmed">
          What bounds a workspace is for administrators, since it is what they give to it. Ask one for more.
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
