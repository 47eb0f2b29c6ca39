import { Button, Group, Text } from "@mantine/core";
import type { ConsoleWorkspace } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { Section } from "../../../components/section.tsx";
import { afterWorkspaceChange } from "../workspace-routes.ts";

/** Stops a workspace for a while, or removes it. */
export function WorkspaceEnd({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const { slug, name, enabled } = workspace;
  const navigate = useNavigate();
  const update = useAct("workspaces.update", {
    invalidates: afterWorkspaceChange,
    done: enabled ? "Workspace disabled. Its calls are refused." : "Workspace enabled.",
  });
  const remove = useAct("workspaces.remove", {
    invalidates: ["workspaces.list", "session.show"],
    done: "Workspace removed.",
  });
  const turn = () => update.mutateAsync({ params: { workspace: slug }, body: { enabled: !enabled } });
  const end = async () => {
    await remove.mutateAsync({ params: { workspace: slug } });
    await navigate({ to: "/workspaces", search: { workspace: "" } });
  };
  return (
    <Section title="Disable or remove">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" maw={560}>
          Disabled, every call of its keys is refused and everything stays. Removed, it is gone for good: revoke its
          keys first. Its ledger entries stay.
        </Text>
        <Group gap="xs">
          {enabled ? (
            <ConfirmButton title={`Disable ${name}?`} verb="Disable workspace" onConfirm={turn}>
              Every call with one of its keys is refused until it is enabled again.
            </ConfirmButton>
          ) : (
            <Button variant="default" loading={update.isPending} onClick={() => void turn().catch(() => undefined)}>
              Enable workspace
            </Button>
          )}
          <ConfirmButton
            title={`Remove ${name}?`}
            verb="Remove workspace"
            typed={slug}
            color="red"
            variant="light"
            onConfirm={end}
          >
            Its groups, members and settings go with it. This cannot be taken back. A workspace with keys in use is not
            removed.
          </ConfirmButton>
        </Group>
      </Group>
    </Section>
  );
}
