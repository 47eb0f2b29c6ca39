import { Button, Group, Text } from "@mantine/core";
import { type ConsoleWorkspace, everyWorkspace } from "@sluice/contract";
import { useNavigate } from "@tanstack/react-router";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/workspaces.ts";
import { afterWorkspaceChange } from "../workspace-routes.ts";

/** Disables or removes a workspace. */
export function WorkspaceEnd({ workspace }: { readonly workspace: ConsoleWorkspace }) {
  const { slug, name, enabled } = workspace;
  const navigate = useNavigate();
  const update = useAct("workspaces.update", {
    invalidates: afterWorkspaceChange,
    done: enabled ? t("workspaces.end.disabled") : t("workspaces.end.enabled"),
  });
  const remove = useAct("workspaces.remove", {
    invalidates: ["workspaces.list", "session.show"],
    done: t("workspaces.end.removed"),
  });
  const turn = () => update.mutateAsync({ params: { workspace: slug }, body: { enabled: !enabled } });
  const end = async () => {
    await remove.mutateAsync({ params: { workspace: slug } });
    await navigate({ to: "/workspaces", search: { workspace: everyWorkspace } });
  };
  return (
    <Section title={t("workspaces.end.title")}>
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" maw={560}>
          {t("workspaces.end.help")}
        </Text>
        <Group gap="xs">
          {enabled ? (
            <ConfirmButton
              title={t("workspaces.end.disableTitle", { name })}
              verb={t("workspaces.end.disableVerb")}
              onConfirm={turn}
            >
              {t("workspaces.end.disableHelp")}
            </ConfirmButton>
          ) : (
            <Button variant="default" loading={update.isPending} onClick={() => void turn().catch(() => undefined)}>
              {t("workspaces.end.enableVerb")}
            </Button>
          )}
          <ConfirmButton
            title={t("workspaces.end.removeTitle", { name })}
            verb={t("workspaces.end.removeVerb")}
            typed={slug}
            color="red"
            variant="light"
            onConfirm={end}
          >
            {t("workspaces.end.removeHelp")}
          </ConfirmButton>
        </Group>
      </Group>
    </Section>
  );
}
