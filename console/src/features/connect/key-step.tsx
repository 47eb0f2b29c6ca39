import { Button, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { t } from "../../language/areas/connect.ts";
import { useSession } from "../../session/session-context.tsx";
import { KeySelect } from "../media/key-select.tsx";

/** The key of the wizard. */
export interface ConnectKey {
  readonly id: string;
  readonly name: string;
  /** null: an existing key, which has shown its secret once already. */
  readonly secret: string | null;
}

interface KeyStepProps {
  readonly slug: string;
  /** The name of a new key. */
  readonly name: string;
  readonly value: ConnectKey | null;
  readonly onChange: (key: ConnectKey) => void;
}

/** Creates a key with one click, or takes an existing one. */
export function KeyStep({ slug, name, value, onChange }: KeyStepProps) {
  const { user, may } = useSession();
  const [existing, setExisting] = useState(false);
  const create = useAct("keys.create", {
    invalidates: ["keys.list", "session.show"],
    inline: true,
    onDone: ({ key, secret }) => onChange({ id: key.id, name: key.name, secret }),
  });
  // Members own their keys; an administrator may be no member.
  const owner = may("admin", slug) ? {} : { owner: user.id };
  if (value?.secret != null) {
    return (
      <div>
        <Text size="sm" mb={4}>
          {t("connect.key.created", { name: value.name })}
        </Text>
        <CopyText value={value.secret} label={t("connect.key.copy")} />
      </div>
    );
  }
  return (
    <>
      <Group gap="sm" align="flex-end">
        {!existing && (
          <Button
            size="sm"
            leftSection={<IconKey size={15} aria-hidden />}
            loading={create.isPending}
            onClick={() => create.mutate({ params: { workspace: slug }, body: { name, ...owner } })}
          >
            {t("connect.createKey")}
          </Button>
        )}
        {existing ? (
          <KeySelect
            slug={slug}
            value={value?.id ?? null}
            onChange={(id) => onChange({ id, name: "", secret: null })}
            label={t("connect.key.existing")}
            description={t("connect.keysHelp")}
          />
        ) : (
          <Button variant="subtle" size="sm" onClick={() => setExisting(true)}>
            {t("connect.key.useExisting")}
          </Button>
        )}
      </Group>
      <FormProblem problem={create.error} />
    </>
  );
}
