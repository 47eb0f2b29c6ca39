import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { formatMoment } from "../../../client/format.ts";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
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
    <Modal opened={opened} onClose={onClose} title={`Rotate ${item.name}`}>
      {opened && <RotateForm item={item} onClose={onClose} onRotated={onRotated} />}
    </Modal>
  );
}

const graces = [
  { value: "0", label: "Not at all: refuse it at once" },
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
        <Text size="sm">
          The key gets a new secret, which is shown once. Its name, limits, budget and everything it has used stay as
          they are.
        </Text>
        {!first && (
          <Select
            label="The old secret still works"
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
              ? "Programs with the old secret are refused as soon as you go on. Choose this when it has leaked."
              : `Both secrets work until ${formatMoment(Date.now() + seconds * 1_000)}: put the new one in place by then.`}
            {item.old_secret_until !== null &&
              item.old_secret_until > Date.now() &&
              ` The secret before that works until ${formatMoment(item.old_secret_until)}; it stops now, since only one old secret is kept.`}
          </Text>
        )}
        {rotate.error !== null && <ProblemAlert problem={rotate.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={rotate.isPending}>
            {first ? "Make secret" : "Rotate key"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
