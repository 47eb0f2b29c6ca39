import { Alert, Select, TextInput } from "@mantine/core";
import { type AnswerOf, type WorkspaceRole, workspaceRoles } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/settings.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspaceChoices } from "../../session/workspace-choices.ts";
import { blockedBy, bodyOf, emptyDraft, lives, type TokenDraft } from "./token-draft.ts";

export type MadeToken = AnswerOf<"tokens.create">;

interface MakeTokenProps {
  readonly onClose: () => void;
  readonly onMade: (made: MadeToken) => void;
}

/** What the token may do, at most what its maker may, and until when. */
export function MakeToken({ onClose, onMade }: MakeTokenProps) {
  const { user, may } = useSession();
  const [draft, setDraft] = useState<TokenDraft>(emptyDraft);
  const make = useAct("tokens.create", { inline: true, invalidates: ["tokens.list"], onDone: onMade });
  const change = (changes: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const workspaces = useWorkspaceChoices();
  const places = [
    ...(user.administrator ? [{ value: everything, label: t("settings.everythingAsAnAdministrator") }] : []),
    ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const roles = workspaceRoles.filter((role) => may(role, draft.workspace));
  return (
    <FormDrawer
      opened
      title={t("settings.makeAnAdminToken")}
      verb={t("settings.makeToken")}
      onClose={onClose}
      onSubmit={() => make.mutate({ body: bodyOf(draft, Date.now()) })}
      saving={make.isPending}
      problem={make.error}
      blocked={blockedBy(draft)}
    >
      <TextInput
        label={t("settings.name")}
        description={t("settings.whatUsesItOneFor")}
        placeholder={t("settings.deployPipeline")}
        required
        withAsterisk={false}
        data-autofocus
        maxLength={256}
        error={wrongField(make.error, "name")}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Select
        label={t("settings.whereItCounts")}
        placeholder={t("settings.choose")}
        data={places}
        value={draft.administrator ? everything : draft.workspace}
        onChange={(value) =>
          change({ administrator: value === everything, workspace: value === everything ? null : value, role: null })
        }
        allowDeselect={false}
        searchable={places.length > 8}
        error={wrongField(make.error, "workspace")}
      />
      {draft.workspace !== null && (
        <Select
          label={t("settings.role")}
          description={t("settings.asLittleAsItNeeds")}
          placeholder={t("settings.choose")}
          data={roles.map((role) => ({ value: role, label: roleWords[role] }))}
          value={draft.role}
          onChange={(value) => change({ role: workspaceRoles.find((role) => role === value) ?? null })}
          allowDeselect={false}
          error={wrongField(make.error, "role")}
        />
      )}
      {draft.administrator && (
        <Alert variant="light" color="yellow" title={t("settings.thisTokenCanDoAnything")}>
          {t("settings.itChangesUsersProvidersAnd")}
        </Alert>
      )}
      <Select
        label={t("settings.ends")}
        description={t("settings.aScriptThatIsForgotten")}
        data={lives.map(({ id, label }) => ({ value: id, label }))}
        value={draft.life}
        onChange={(value) => change({ life: lives.find(({ id }) => id === value)?.id ?? draft.life })}
        allowDeselect={false}
        error={wrongField(make.error, "expires_at")}
      />
    </FormDrawer>
  );
}

/** No id of a workspace. */
const everything = "-";

const roleWords: Readonly<Record<WorkspaceRole, string>> = {
  viewer: "Viewer: reads",
  member: t("settings.memberMakesKeysOfIts"),
  admin: "Admin: keys, groups, members, limits",
  owner: t("settings.ownerAllOfTheWorkspace"),
};
