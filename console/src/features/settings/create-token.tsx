import { Alert, Select, TextInput } from "@mantine/core";
import { type AnswerOf, workspaceRoles } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { FormDrawer } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/settings.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspaceChoices } from "../../session/workspace-choices.ts";
import { LeaveGuard } from "../catalog/leave-guard.tsx";
import { useFaults } from "../catalog/use-faults.ts";
import { bodyOf, emptyDraft, faultsOf, lifeChoices, lives, type TokenDraft } from "./token-draft.ts";

export type CreatedToken = AnswerOf<"tokens.create">;

interface CreateTokenProps {
  readonly onClose: () => void;
  readonly onCreated: (made: CreatedToken) => void;
}

/** What the token may do, at most what its maker may, and until when. */
export function CreateToken({ onClose, onCreated }: CreateTokenProps) {
  const { user, may } = useSession();
  const [draft, setDraft] = useState<TokenDraft>(emptyDraft);
  const create = useAct("tokens.create", { inline: true, invalidates: ["tokens.list"], onDone: onCreated });
  const faults = useFaults(faultsOf(draft), create.error);
  const change = (changes: Partial<TokenDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const workspaces = useWorkspaceChoices();
  const places = [
    ...(user.administrator ? [{ value: everything, label: t("settings.token.everything") }] : []),
    ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const roles = workspaceRoles.filter((role) => may(role, draft.workspace));
  return (
    <FormDrawer
      opened
      title={t("settings.token.title")}
      verb={t("settings.token.create")}
      onClose={onClose}
      onSubmit={() => faults.check() && create.mutate({ body: bodyOf(draft, Date.now()) })}
      saving={create.isPending}
      problem={create.error}
    >
      <TextInput
        label={t("settings.name")}
        description={t("settings.token.nameHelp")}
        placeholder={t("settings.token.nameExample")}
        withAsterisk
        data-autofocus
        maxLength={256}
        error={faults.of("name")}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <Select
        label={t("settings.token.scope")}
        withAsterisk
        placeholder={t("settings.token.choose")}
        data={places}
        value={draft.administrator ? everything : draft.workspace}
        onChange={(value) =>
          change({ administrator: value === everything, workspace: value === everything ? null : value, role: null })
        }
        allowDeselect={false}
        searchable={places.length > 8}
        error={faults.of("workspace")}
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
          error={faults.of("role")}
        />
      )}
      {draft.administrator && (
        <Alert variant="light" color="yellow" title={t("settings.token.anything")}>
          {t("settings.token.anythingHelp")}
        </Alert>
      )}
      <Select
        label={t("settings.expires")}
        description={t("settings.token.expiresHelp")}
        data={lifeChoices()}
        value={draft.life}
        onChange={(value) => change({ life: lives.find(({ id }) => id === value)?.id ?? draft.life })}
        allowDeselect={false}
        error={faults.of("expires_at")}
      />
      <LeaveGuard
        dirty={draft !== emptyDraft}
        sent={create.isPending || create.isSuccess}
        openedBy={["create", "tab"]}
      />
    </FormDrawer>
  );
}

/** No id of a workspace. */
const everything = "-";
