import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { formatMoment } from "../../../client/format.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/keys.ts";
import type { MadeKey } from "../key-made.tsx";
import { afterKeyChange } from "../key-routes.ts";

interface RotateDialogProps {
  readonly item: ConsoleKey;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onRotated: (made: MadeKey) => void;
}

/** A new secret for a key, with a time in which the old one still opens. */
export function RotateDialog({ item, opened, onClose, onRotated }: RotateDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={t("keys.rotate2", { name: item.name })}>
      {opened && <RotateForm item={item} onClose={onClose} onRotated={onRotated} />}
    </Modal>
  );
}

const graces = [
  { value: "0", label: t("keys.notAtAllRefuseIt") },
  { value: "3600", label: "For 1 hour" },
  { value: "86400", label: "For 1 day" },
  { value: "604800", label: "For 7 days" },
  { value: "2592000", label: "For 30 days" },
] as const;
const usualGrace = "86400";

function RotateForm({ item, onClose, onRotated }: Omit<RotateDialogProps, "opened">) {
  const first = item.state === "without_secret";
  const [grace, setGrace] = useState<string>(first ? "0" : usualGrace);
  const rotate = useAct("keys.rotate", {
    inline: true,
    invalidates: afterKeyChange,
    onDone: (made) => {
      onClose();
      onRotated(made);
    },
  });
  const seconds = Number(grace);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotate.mutate({ params: { workspace: item.workspace.slug, key: item.id }, body: { grace_seconds: seconds } });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">{t("keys.theKeyGetsANew")}</Text>
        {!first && (
          <Select
            label={t("keys.theOldSecretStillWorks")}
            data={[...graces]}
            value={grace}
            onChange={(value) => setGrace(value ?? usualGrace)}
            allowDeselect={false}
            data-autofocus
          />
        )}
        {!first && (
          <Text size="sm" c="dimmed" aria-live="polite">
            {seconds === 0
              ? t("keys.programsWithTheOldSecret")
              : t("keys.bothSecretsWorkUntilPut", { moment: formatMoment(Date.now() + seconds * 1_000) })}
            {item.old_secret_until !== null &&
              item.old_secret_until > Date.now() &&
              ` The secret before that works until ${formatMoment(item.old_secret_until)}; it stops now, since only one old secret is kept.`}
          </Text>
        )}
        {rotate.error !== null && <ProblemAlert problem={rotate.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("keys.cancel")}
          </Button>
          <Button type="submit" loading={rotate.isPending}>
            {first ? t("keys.makeSecret") : t("keys.rotateKey")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
