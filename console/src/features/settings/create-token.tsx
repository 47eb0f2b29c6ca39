import { Alert, Select } from "@mantine/core";
import { workspaceRoles } from "@sluice/contract";
import { useState } from "react";
import { t } from "../../language/areas/settings.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspaceChoices } from "../../session/workspace-choices.ts";
import { bodyOf, emptyDraft, faultsOf, type TokenDraft } from "./token-draft.ts";
import { TokenForm, type TokenFormHandlers } from "./token-form.tsx";

/** Creates an admin token with a scope, a role (at most the user's own) and an expiry. */
export function CreateToken(handlers: TokenFormHandlers) {
  const { user, may } = useSession();
  const [draft, setDraft] = useState<TokenDraft>(emptyDraft);
  const change = (changes: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const workspaces = useWorkspaceChoices();
  const places = [
    ...(user.administrator ? [{ value: everything, label: t("settings.token.everything") }] : []),
    ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const roles = workspaceRoles.filter((role) => may(role, draft.workspace));
  return (
    <TokenForm
      {...handlers}
      title={t("settings.token.title")}
      verb={t("settings.token.create")}
      words={{
        nameHelp: t("settings.token.nameHelp"),
        nameExample: t("settings.token.nameExample"),
        lifeHelp: t("settings.token.expiresHelp"),
      }}
      draft={draft}
      onChange={change}
      faults={faultsOf(draft)}
      body={() => bodyOf(draft, Date.now())}
      invalidates={["tokens.list"]}
    >
      {(faultOf) => (
        <>
          <Select
            label={t("settings.token.scope")}
            withAsterisk
            placeholder={t("settings.token.choose")}
            data={places}
            value={draft.administrator ? everything : draft.workspace}
            onChange={(value) =>
              change({
                administrator: value === everything,
                workspace: value === everything ? null : value,
                role: null,
              })
            }
            allowDeselect={false}
            searchable={places.length > 8}
            error={faultOf("workspace")}
          />
          {draft.workspace !== null && (
            <Select
              label={t("settings.token.role")}
              withAsterisk
              description={t("settings.token.roleHelp")}
              placeholder={t("settings.token.choose")}
              data={roles.map((role) => ({ value: role, label: t(`settings.token.roles.${role}`) }))}
              value={draft.role}
              onChange={(value) => change({ role: workspaceRoles.find((role) => role === value) ?? null })}
              allowDeselect={false}
              error={faultOf("role")}
            />
          )}
          {draft.administrator && (
            <Alert variant="light" color="yellow" title={t("settings.token.anything")}>
              {t("settings.token.anythingHelp")}
            </Alert>
          )}
        </>
      )}
    </TokenForm>
  );
}

/** A value that is not a workspace id. */
const everything = "-";
