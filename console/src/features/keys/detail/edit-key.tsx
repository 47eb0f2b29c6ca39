import { Alert } from "@mantine/core";
import type { ConsoleKey } from "@sluice/contract";
import { IconLock } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/keys.ts";
import { keysChange } from "../../rehearsals/button/change-of.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { blockedBy, changesOf, draftOf, type KeyDraft } from "../key-draft.ts";
import { KeyFields } from "../key-fields.tsx";
import { afterKeyChange } from "../key-routes.ts";

interface EditKeyProps {
  readonly item: ConsoleKey;
  /** Why the user may not change the key; null if they may. */
  readonly lock: string | null;
  readonly onClose: () => void;
}

export function EditKey({ item, lock, onClose }: EditKeyProps) {
  const [before] = useState(() => draftOf(item));
  const [draft, setDraft] = useState<KeyDraft>(before);
  const update = useAct("keys.update", {
    inline: true,
    invalidates: afterKeyChange,
    done: t("keys.edit.done"),
    onDone: onClose,
  });
  const changes = changesOf(before, draft);
  const blocked = Object.keys(changes).length === 0 ? t("keys.edit.unchanged") : blockedBy(draft);
  return (
    <FormDrawer
      opened
      title={lock === null ? t("keys.edit.title", { name: item.name }) : item.name}
      verb={t("keys.edit.verb")}
      onClose={onClose}
      onSubmit={() => update.mutate({ params: { workspace: item.workspace.slug, key: item.id }, body: changes })}
      saving={update.isPending}
      problem={update.error}
      blocked={blocked}
      locked={lock !== null}
      actions={<RehearseButton change={keysChange([item], changes)} workspace={item.workspace.slug} />}
    >
      {lock !== null && (
        <Alert variant="light" color="gray" icon={<IconLock size={16} />}>
          {lock}
        </Alert>
      )}
      <KeyFields
        workspace={item.workspace.slug}
        draft={draft}
        onChange={(next) => setDraft((current) => ({ ...current, ...next }))}
        problem={update.error}
        disabled={lock !== null}
      />
    </FormDrawer>
  );
}
