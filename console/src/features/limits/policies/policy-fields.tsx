import { Fieldset, Group, MultiSelect, Select, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/limits.ts";
import { useWorkspaceChoices } from "../../../session/workspace-choices.ts";
import { type PolicyFieldsProps, splits } from "./policy-draft.ts";

interface MatchFieldsProps extends PolicyFieldsProps {
  /** A slug; null: the installation. */
  readonly workspace: string | null;
}

/** The calls that the policy counts. */
export function MatchFields({ draft, onChange, workspace }: MatchFieldsProps) {
  const { match } = draft;
  const models = useCall("models.list").data?.data ?? [];
  const others = (match.keys?.length ?? 0) + (match.people?.length ?? 0);
  const change = (changes: Partial<typeof match>) => onChange({ match: { ...match, ...changes } });
  return (
    <Fieldset legend={t("limits.policy.match")}>
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {t("limits.policy.matchHelp")}
        </Text>
        {workspace === null ? (
          <WorkspacesField value={match.workspaces ?? []} onChange={(workspaces) => change({ workspaces })} />
        ) : (
          <GroupsField workspace={workspace} value={match.groups ?? []} onChange={(groups) => change({ groups })} />
        )}
        <TagsInput
          label={t("limits.policy.models")}
          description={t("limits.policy.modelsHelp")}
          data={models.map(({ name }) => name)}
          limit={50}
          value={[...(match.models ?? [])]}
          onChange={(names) => change({ models: names })}
          acceptValueOnBlur
        />
        <TagsInput
          label={t("limits.policy.providers")}
          description={t("limits.policy.providersHelp")}
          value={[...(match.providers ?? [])]}
          onChange={(providers) => change({ providers })}
          acceptValueOnBlur
        />
        <TagsInput
          label={t("limits.policy.tags")}
          description={t("limits.policy.tagsHelp")}
          value={[...draft.tags]}
          onChange={(tags) => onChange({ tags })}
          acceptValueOnBlur
        />
        {others > 0 && (
          <Text size="xs" c="dimmed">
            {t("limits.policy.alsoNamed", { count: others })}
          </Text>
        )}
      </Stack>
    </Fieldset>
  );
}

interface IdsFieldProps {
  readonly value: readonly string[];
  readonly onChange: (ids: string[]) => void;
}

function WorkspacesField({ value, onChange }: IdsFieldProps) {
  const choices = useWorkspaceChoices().map(({ id, name }) => ({ value: id, label: name }));
  return (
    <MultiSelect
      label={t("limits.policy.workspaces")}
      data={choices}
      value={[...value]}
      onChange={onChange}
      searchable
    />
  );
}

function GroupsField({ workspace, value, onChange }: IdsFieldProps & { readonly workspace: string }) {
  const groups = useCall("groups.list", { params: { workspace } }).data?.data ?? [];
  return (
    <MultiSelect
      label={t("limits.policy.groups")}
      data={groups.map(({ id, name }) => ({ value: id, label: name }))}
      value={[...value]}
      onChange={onChange}
      searchable
    />
  );
}

/** One amount for all calls, or one for each value. */
export function SplitField({ draft, onChange }: PolicyFieldsProps) {
  const data = [
    { value: "", label: t("limits.policy.splitNone") },
    ...splits.map((split) => ({ value: split as string, label: t(`limits.policy.splitBy.${split}`) })),
  ];
  return (
    <Group gap="xs" align="flex-end" grow>
      <Select
        label={t("limits.policy.split")}
        data={data}
        value={draft.split}
        onChange={(split) => onChange({ split: split ?? "" })}
        allowDeselect={false}
      />
      {draft.split === "tag" && (
        <TextInput
          label={t("limits.policy.splitTag")}
          maxLength={64}
          value={draft.splitTag}
          onChange={(event) => onChange({ splitTag: event.currentTarget.value })}
        />
      )}
    </Group>
  );
}
