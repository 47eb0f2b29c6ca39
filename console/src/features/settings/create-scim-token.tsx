import { Alert, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { FormDrawer } from "../../components/form-drawer.tsx";
import { t as words } from "../../language/areas/scim.ts";
import { t } from "../../language/areas/settings.ts";
import { LeaveGuard } from "../catalog/leave-guard.tsx";
import { useFaults } from "../catalog/use-faults.ts";
import type { CreatedToken } from "./create-token.tsx";
import { endOf, lifeChoices, lives } from "./token-draft.ts";

interface CreateScimTokenProps {
  readonly onClose: () => void;
  readonly onCreated: (made: CreatedToken) => void;
}

/** A token that a directory calls with, and until when. */
export function CreateScimToken({ onClose, onCreated }: CreateScimTokenProps) {
  const [draft, setDraft] = useState(emptyDraft);
  const create = useAct("tokens.create", {
    inline: true,
    invalidates: ["tokens.list", "settings.scim"],
    onDone: onCreated,
  });
  const missing = draft.name.trim() === "" ? { name: t("settings.token.nameMissing") } : {};
  const faults = useFaults(missing, create.error);
  const body = () => ({ name: draft.name.trim(), scim: true, ...endOf(draft.life, Date.now()) });
  return (
    <FormDrawer
      opened
      title={words("scim.createTitle")}
      verb={words("scim.create")}
      onClose={onClose}
      onSubmit={() => faults.check() && create.mutate({ body: body() })}
      saving={create.isPending}
      problem={create.error}
    >
      <TextInput
        label={t("settings.name")}
        description={words("scim.nameHelp")}
        placeholder={words("scim.nameExample")}
        withAsterisk
        data-autofocus
        maxLength={256}
        error={faults.of("name")}
        value={draft.name}
        onChange={(event) => {
          const name = event.currentTarget.value;
          setDraft((before) => ({ ...before, name }));
        }}
      />
      <Select
        label={t("settings.expires")}
        description={words("scim.lifeHelp")}
        data={lifeChoices()}
        value={draft.life}
        onChange={(value) =>
          setDraft((before) => ({ ...before, life: lives.find(({ id }) => id === value)?.id ?? before.life }))
        }
        allowDeselect={false}
        error={faults.of("expires_at")}
      />
      <Alert variant="light" title={words("scim.only")}>
        {words("scim.onlyHelp")}
      </Alert>
      <LeaveGuard
        dirty={draft !== emptyDraft}
        sent={create.isPending || create.isSuccess}
        openedBy={["create", "tab"]}
      />
    </FormDrawer>
  );
}

const emptyDraft: { readonly name: string; readonly life: (typeof lives)[number]["id"] } = { name: "", life: "365" };
