import { Select } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { FormDrawer } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useSession } from "../../../session/session-context.tsx";
import { useWorkspace } from "../../../session/workspace.ts";
import { useWorkspaceChoices } from "../../../session/workspace-choices.ts";
import type { CreatedKey } from "../key-created.tsx";
import { blockedBy, bodyOf, emptyDraft, type KeyDraft } from "../key-draft.ts";
import { KeyFields } from "../key-fields.tsx";
import { afterKeyChange } from "../key-routes.ts";

interface CreateKeyProps {
  readonly onClose: () => void;
  readonly onMade: (made: CreatedKey) => void;
}

/** The form of a new key. Without a selected workspace it asks for one first. */
export function CreateKey({ onClose, onMade }: CreateKeyProps) {
  const { slug } = useWorkspace();
  const [home, setHome] = useState(slug);
  const [draft, setDraft] = useState<KeyDraft>(emptyDraft);
  const make = useAct("keys.create", { inline: true, invalidates: afterKeyChange, onDone: onMade });
  const submit = () => {
    if (home !== null) make.mutate({ params: { workspace: home }, body: bodyOf(draft) });
  };
  return (
    <FormDrawer
      opened
      title={t("keys.create.verb")}
      verb={t("keys.create.verb")}
      onClose={onClose}
      onSubmit={submit}
      saving={make.isPending}
      problem={make.error}
      blocked={home === null ? t("keys.create.workspaceMissing") : blockedBy(draft)}
    >
      {slug === null && (
        <HomeSelect
          value={home}
          onChange={(chosen) => {
            setHome(chosen);
            // A group belongs to one workspace.
            setDraft((before) => ({ ...before, group: "" }));
          }}
        />
      )}
      {home !== null && (
        <KeyFields
          workspace={home}
          draft={draft}
          onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
          problem={make.error}
          isNew
        />
      )}
    </FormDrawer>
  );
}

interface HomeSelectProps {
  readonly value: string | null;
  readonly onChange: (slug: string | null) => void;
  /** Also offers workspaces where the user may not create keys. */
  readonly forViewers?: boolean;
}

/** Selects the workspace of a new key. */
export function HomeSelect({ value, onChange, forViewers = false }: HomeSelectProps) {
  const { may } = useSession();
  const choices = useWorkspaceChoices().filter((each) => may(forViewers ? "viewer" : "member", each.slug));
  return (
    <Select
      label={t("keys.workspace")}
      description={t("keys.create.workspaceHelp")}
      placeholder={t("keys.create.workspacePlaceholder")}
      data={choices.map((each) => ({ value: each.slug, label: each.name }))}
      value={value}
      onChange={onChange}
      allowDeselect={false}
      searchable={choices.length > 8}
      required
      data-autofocus
    />
  );
}
