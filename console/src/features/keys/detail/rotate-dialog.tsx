import { Button, Group, Select, Stack, Text } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { formatMoment } from "../../../client/format.ts";
import { CloseButton } from "../../../components/close-button.tsx";
import { wrongField } from "../../../components/form-drawer.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { Modal } from "../../../components/modal.tsx";
import { t } from "../../../language/areas/keys.ts";
import { ExpiryInput, usualEnd } from "../expiry-input.tsx";
import type { CreatedKey } from "../key-created.tsx";
import { afterKeyChange } from "../key-routes.ts";

interface RotateDialogProps {
  readonly item: ConsoleKey;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onRotated: (made: CreatedKey) => void;
}

/** Creates a new secret for a key, with a grace period for the old one. */
export function RotateDialog({ item, opened, onClose, onRotated }: RotateDialogProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={t("keys.rotate.title", { name: item.name })}>
      {opened && <RotateForm item={item} onClose={onClose} onRotated={onRotated} />}
    </Modal>
  );
}

const graces = [
  { value: "0", label: t("keys.rotate.graceNone") },
  { value: "3600", label: t("keys.rotate.graceHours", { count: 1 }) },
  { value: "86400", label: t("keys.rotate.graceDays", { count: 1 }) },
  { value: "604800", label: t("keys.rotate.graceDays", { count: 7 }) },
  { value: "2592000", label: t("keys.rotate.graceDays", { count: 30 }) },
] as const;
const usualGrace = "86400";

function RotateForm({ item, onClose, onRotated }: Omit<RotateDialogProps, "opened">) {
  const first = item.state === "without_secret";
  const [grace, setGrace] = useState<string>(first ? "0" : usualGrace);
  const [end, setEnd] = useState<number | null>(usualEnd);
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
    const renewed = item.service && end !== null ? { expires_at: end } : {};
    const body = { grace_seconds: seconds, ...renewed };
    rotate.mutate({ params: { workspace: item.workspace.slug, key: item.id }, body });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">{t("keys.rotate.help")}</Text>
        {!first && (
          <Select
            label={t("keys.rotate.grace")}
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
              ? t("keys.rotate.graceNoneHelp")
              : t("keys.rotate.graceHelp", {
                  moment: formatMoment(
                    Math.min(Date.now() + seconds * 1_000, item.expires_at ?? Number.POSITIVE_INFINITY),
                  ),
                })}
            {item.old_secret_until !== null && item.old_secret_until > Date.now() && (
              <> {t("keys.rotate.earlierEnds", { moment: formatMoment(item.old_secret_until) })}</>
            )}
          </Text>
        )}
        {item.service && (
          <ExpiryInput
            label={t("keys.service.until")}
            value={end}
            onChange={setEnd}
            required
            error={wrongField(rotate.error, "expires_at")}
          />
        )}
        <FormProblem problem={rotate.error} />
        <Group justify="flex-end">
          <CloseButton />
          <Button type="submit" loading={rotate.isPending}>
            {first ? t("keys.rotate.first") : t("keys.rotate.verb")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
