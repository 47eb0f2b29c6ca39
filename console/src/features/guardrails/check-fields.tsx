import { MultiSelect, NumberInput, Select, Stack, Switch, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { type PersonalDataType, personalDataTypes } from "@sluice/contract/words";
import { useCall } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/guardrails.ts";
import type { GuardrailFieldsProps } from "./guardrail-draft.ts";
import { PatternRows } from "./pattern-rows.tsx";

interface CheckFieldsProps extends GuardrailFieldsProps {
  readonly problem: Problem | null;
}

const types = personalDataTypes.map((type) => ({ value: type, label: t(`guardrails.types.${type}`) }));

/** The fields of the chosen check. */
export function CheckFields({ draft, onChange, problem }: CheckFieldsProps) {
  switch (draft.kind) {
    case "credentials":
      return null;
    case "personal_data":
      return (
        <MultiSelect
          label={t("guardrails.form.types")}
          description={t("guardrails.form.typesHelp")}
          data={types}
          value={[...draft.types]}
          onChange={(next) => onChange({ types: next as PersonalDataType[] })}
          searchable
          clearable
        />
      );
    case "words":
      return (
        <Stack gap="sm">
          <Textarea
            label={t("guardrails.form.words")}
            description={t("guardrails.form.wordsHelp")}
            autosize
            minRows={3}
            maxRows={12}
            required
            spellCheck={false}
            value={draft.words}
            error={wrongField(problem, "check.words")}
            onChange={(event) => onChange({ words: event.currentTarget.value })}
          />
          <Switch
            label={t("guardrails.form.wholeWords")}
            description={t("guardrails.form.wholeWordsHelp")}
            checked={draft.wholeWords}
            onChange={(event) => onChange({ wholeWords: event.currentTarget.checked })}
          />
          <Switch
            label={t("guardrails.form.ignoreCase")}
            checked={draft.ignoreCase}
            onChange={(event) => onChange({ ignoreCase: event.currentTarget.checked })}
          />
        </Stack>
      );
    case "patterns":
      return (
        <PatternRows patterns={draft.patterns} onChange={(patterns) => onChange({ patterns })} problem={problem} />
      );
    case "webhook":
      return (
        <Stack gap="sm">
          <TextInput
            label={t("guardrails.form.url")}
            description={t("guardrails.form.urlHelp")}
            type="url"
            placeholder="https://"
            required
            maxLength={2_048}
            value={draft.url}
            error={wrongField(problem, "check.url")}
            onChange={(event) => onChange({ url: event.currentTarget.value })}
          />
          <TextInput
            label={t("guardrails.form.secret")}
            description={
              draft.secretUrl !== null && draft.secretUrl === draft.url.trim()
                ? t("guardrails.form.secretStored")
                : t("guardrails.form.secretHelp")
            }
            autoComplete="off"
            spellCheck={false}
            maxLength={512}
            value={draft.secret}
            error={wrongField(problem, "check.secret")}
            onChange={(event) => onChange({ secret: event.currentTarget.value })}
          />
        </Stack>
      );
    default:
      return <ModelFields draft={draft} onChange={onChange} problem={problem} />;
  }
}

function ModelFields({ draft, onChange, problem }: CheckFieldsProps) {
  const wanted = draft.kind === "moderation" ? "moderation" : "chat";
  const models = useCall("models.list").data?.data.filter(({ type }) => type === wanted);
  const names = models?.map(({ name }) => name) ?? [];
  return (
    <Stack gap="sm">
      <Select
        label={t("guardrails.form.model")}
        data={draft.model === null || names.includes(draft.model) ? names : [draft.model, ...names]}
        value={draft.model}
        onChange={(model) => onChange({ model })}
        required
        searchable
        nothingFoundMessage={t("guardrails.form.noModel")}
        error={wrongField(problem, "check.model")}
      />
      {models?.length === 0 && (
        <Text size="xs" c="dimmed">
          {t("guardrails.form.noModel")}
        </Text>
      )}
      {draft.kind === "classifier" ? (
        <Textarea
          label={t("guardrails.form.instructions")}
          placeholder={t("guardrails.form.instructionsPlaceholder")}
          autosize
          minRows={3}
          maxRows={12}
          required
          maxLength={8_000}
          value={draft.instructions}
          error={wrongField(problem, "check.instructions")}
          onChange={(event) => onChange({ instructions: event.currentTarget.value })}
        />
      ) : (
        <>
          <TagsInput
            label={t("guardrails.form.categories")}
            description={t("guardrails.form.categoriesHelp")}
            value={[...draft.categories]}
            onChange={(categories) => onChange({ categories })}
            acceptValueOnBlur
            maxTags={64}
            error={wrongField(problem, "check.categories")}
          />
          <NumberInput
            label={t("guardrails.form.threshold")}
            description={t("guardrails.form.thresholdHelp")}
            min={0}
            max={1}
            step={0.1}
            clampBehavior="strict"
            value={draft.threshold ?? ""}
            error={wrongField(problem, "check.threshold")}
            onChange={(next) => onChange({ threshold: typeof next === "number" ? next : null })}
          />
        </>
      )}
    </Stack>
  );
}
