import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { DiffView } from "../../../components/diff-view.tsx";
import { t } from "../../../language/areas/agents.ts";
import type { SettingsNow } from "./settings-routes.ts";

interface OvertakenProps {
  readonly base: SettingsNow;
  readonly now: SettingsNow;
  readonly onKeep: () => void;
  readonly onTake: () => void;
}

/** Shown when another user saved first. Nothing is lost: theirs is stored as a version, and the form keeps the input. */
export function Overtaken({ base, now, onKeep, onTake }: OvertakenProps) {
  const by = now.updated_by ?? t("agents.byNobody");
  return (
    <Alert color="yellow" title={t("agents.overtaken.title", { by, version: now.version ?? 0 })}>
      <Stack gap="sm">
        <Text size="sm">{t("agents.overtaken.help")}</Text>
        <Text size="sm" fw={600}>
          {t("agents.overtaken.theirs")}
        </Text>
        <DiffView before={base.settings ?? {}} after={now.settings ?? {}} label={t("agents.overtaken.theirs")} />
        <Group gap="xs">
          <Button variant="default" onClick={onTake}>
            {t("agents.overtaken.take")}
          </Button>
          <Button variant="default" onClick={onKeep}>
            {t("agents.overtaken.keep")}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
