import { ActionIcon, Group, TextInput } from "@mantine/core";
import { IconCheck, IconPencil } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import type { AuthPasskey } from "../../api/auth-answers.ts";
import { useAuthAct } from "../../api/use-auth.ts";
import { t } from "../../language/areas/profile.ts";

/** The name of a passkey, editable in place. */
export function PasskeyName({ passkey }: { readonly passkey: AuthPasskey }) {
  const [name, setName] = useState<string | null>(null);
  const rename = useAuthAct<{ id: string; name: string }>("/passkey/update-passkey", { onDone: () => setName(null) });
  const shown = passkey.name ?? t("profile.passkeys.one");
  if (name === null) {
    return (
      <Group gap={4} wrap="nowrap">
        <span>{shown}</span>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t("profile.passkeys.rename", { name: shown })}
          onClick={() => setName(shown)}
        >
          <IconPencil size={14} />
        </ActionIcon>
      </Group>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") rename.mutate({ id: passkey.id, name: name.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Group gap={4} wrap="nowrap">
        <TextInput
          size="xs"
          aria-label={t("profile.passkeys.nameLabel")}
          autoFocus
          maxLength={128}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setName(null);
          }}
        />
        <ActionIcon
          type="submit"
          variant="light"
          aria-label={t("profile.passkeys.saveName")}
          loading={rename.isPending}
        >
          <IconCheck size={14} />
        </ActionIcon>
      </Group>
    </form>
  );
}
