import { Alert, Anchor, Button, Group, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { t } from "../../language/areas/device.ts";

interface DecidedProps {
  readonly decided: "approved" | "denied";
  readonly onAnother: () => void;
}

/** The result of the approval: signed in or denied. */
export function Decided({ decided, onAnother }: DecidedProps) {
  return (
    <Stack>
      {decided === "approved" ? (
        <Alert role="status" color="green" title={t("device.approved")}>
          {t("device.approvedHelp")}
        </Alert>
      ) : (
        <Alert role="status" color="gray" title={t("device.denied")}>
          {t("device.deniedHelp")}
        </Alert>
      )}
      <Group justify="space-between">
        <Anchor component={Link} to="/profile" size="sm">
          {t("device.profile")}
        </Anchor>
        <Button variant="default" onClick={onAnother}>
          {t("device.another")}
        </Button>
      </Group>
    </Stack>
  );
}
