import { Autocomplete, Group, Radio, Select, Stack, TagsInput, TextInput } from "@mantine/core";
import { workspaceRoles } from "@sluice/contract";
import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/rules.ts";
import { roleWords } from "../../workspaces/role-words.ts";
import { matchKinds, type RuleDraft } from "./rule-draft.ts";

interface RuleFieldsProps {
  readonly draft: RuleDraft;
  /** The rule's path in the request body: `rules.2`. */
  readonly at: string;
  readonly fault: (field: string) => string | null;
  readonly onChange: (changes: Partial<RuleDraft>) => void;
}

export function RuleFields({ draft, at, fault, onChange }: RuleFieldsProps) {
  return (
    <Stack gap="sm" mt="sm">
      <TextInput
        label={t("rules.field.name")}
        description={t("rules.field.nameHelp")}
        maxLength={256}
        error={fault(`${at}.name`)}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <ConditionFields draft={draft} at={at} fault={fault} onChange={onChange} />
      <Radio.Group
        label={t("rules.field.gives")}
        value={draft.administrator ? "administrator" : "workspace"}
        onChange={(next) => onChange({ administrator: next === "administrator" })}
        error={fault(`${at}.administrator`)}
      >
        <Group gap="md" mt={4}>
          <Radio value="workspace" label={t("rules.outcome.workspace")} />
          <Radio value="administrator" label={t("rules.outcome.administrator")} />
        </Group>
      </Radio.Group>
      {!draft.administrator && <PlaceFields draft={draft} at={at} fault={fault} onChange={onChange} />}
    </Stack>
  );
}

function ConditionFields({ draft, at, fault, onChange }: RuleFieldsProps) {
  const error = fault(`${at}.${draft.kind}`);
  return (
    <>
      <Group grow align="flex-start" gap="sm">
        <TextInput
          label={t("rules.field.claim")}
          description={t("rules.field.claimHelp")}
          withAsterisk
          spellCheck={false}
          autoCapitalize="off"
          maxLength={256}
          error={fault(`${at}.claim`)}
          value={draft.claim}
          onChange={(event) => onChange({ claim: event.currentTarget.value })}
        />
        <Select
          label={t("rules.field.kind")}
          description={t("rules.field.caseHelp")}
          data={matchKinds.map((kind) => ({ value: kind, label: t(`rules.kind.${kind}`) }))}
          allowDeselect={false}
          value={draft.kind}
          onChange={(kind) => kind !== null && onChange({ kind })}
        />
      </Group>
      {draft.kind === "one_of" ? (
        <TagsInput
          label={t("rules.field.values")}
          description={t("rules.field.valuesHelp")}
          withAsterisk
          maxTags={1_000}
          acceptValueOnBlur
          error={error}
          value={[...draft.values]}
          onChange={(values) => onChange({ values })}
        />
      ) : (
        <TextInput
          label={t("rules.field.value")}
          {...(draft.kind === "matches" ? { description: t("rules.field.formHelp"), placeholder: "eng-*" } : {})}
          withAsterisk
          spellCheck={false}
          autoCapitalize="off"
          maxLength={draft.kind === "matches" ? 256 : 1_024}
          error={error}
          value={draft.value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
        />
      )}
    </>
  );
}

/** Suggestions only: a rule may name a workspace or group that does not exist yet. */
function PlaceFields({ draft, at, fault, onChange }: RuleFieldsProps) {
  const workspaces = useCall("workspaces.list", { query: { limit: 100 } });
  const slugs = (workspaces.data?.data ?? []).map(({ slug }) => slug);
  const groups = useCall("groups.list", {
    params: { workspace: draft.workspace },
    enabled: slugs.includes(draft.workspace),
  });
  return (
    <>
      <Group grow align="flex-start" gap="sm">
        <Autocomplete
          label={t("rules.field.workspace")}
          withAsterisk
          data={slugs}
          limit={50}
          error={fault(`${at}.workspace`)}
          value={draft.workspace}
          onChange={(workspace) => onChange({ workspace })}
        />
        <Select
          label={t("rules.field.role")}
          placeholder={t("rules.field.noRole")}
          clearable
          data={workspaceRoles.map((role) => ({ value: role, label: roleWords[role].label }))}
          error={fault(`${at}.role`)}
          value={draft.role}
          onChange={(role) => onChange({ role })}
        />
      </Group>
      <Autocomplete
        label={t("rules.field.group")}
        description={t("rules.field.groupHelp")}
        data={(groups.data?.data ?? []).map(({ name }) => name)}
        limit={50}
        maxLength={256}
        error={fault(`${at}.group`)}
        value={draft.group}
        onChange={(group) => onChange({ group })}
      />
    </>
  );
}
