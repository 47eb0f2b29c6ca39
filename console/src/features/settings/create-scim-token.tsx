import { Alert } from "@mantine/core";
import { useState } from "react";
import { t as words } from "../../language/areas/scim.ts";
import { endOf, type NamedDraft, nameFaults } from "./token-draft.ts";
import { TokenForm, type TokenFormHandlers } from "./token-form.tsx";

/** Creates a SCIM token for a directory, with its expiry. */
export function CreateScimToken(handlers: TokenFormHandlers) {
  const [draft, setDraft] = useState(emptyDraft);
  return (
    <TokenForm
      {...handlers}
      title={words("scim.createTitle")}
      verb={words("scim.create")}
      words={{
        nameHelp: words("scim.nameHelp"),
        nameExample: words("scim.nameExample"),
        lifeHelp: words("scim.lifeHelp"),
      }}
      draft={draft}
      onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
      faults={nameFaults(draft)}
      body={() => ({ name: draft.name.trim(), scim: true, ...endOf(draft.life, Date.now()) })}
      invalidates={["tokens.list", "settings.scim"]}
    >
      {() => (
        <Alert variant="light" title={words("scim.only")}>
          {words("scim.onlyHelp")}
        </Alert>
      )}
    </TokenForm>
  );
}

const emptyDraft: NamedDraft = { name: "", life: "365" };
