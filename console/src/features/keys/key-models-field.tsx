import { Input, SegmentedControl, Stack } from "@mantine/core";
import { PatternsInput } from "../../components/patterns-input.tsx";
import { t } from "../../language/areas/keys.ts";
import { ModelReach } from "./model-reach-text.tsx";

interface KeyModelsFieldProps {
  /** null: all models of the group. */
  readonly models: readonly string[] | null;
  readonly onChange: (models: readonly string[] | null) => void;
  readonly disabled: boolean;
  readonly error: string | null;
  /** The patterns of the group and workspace; null while they load. */
  readonly workspace: readonly string[] | null;
  readonly group: readonly string[] | null;
  /** A budget of the key, its owner, its group or its workspace applies. */
  readonly hasBudget: boolean;
}

/** All models of the group or selected ones, with a preview of the result. */
export function KeyModelsField({
  models,
  onChange,
  disabled,
  error,
  workspace,
  group,
  hasBudget,
}: KeyModelsFieldProps) {
  return (
    <Input.Wrapper label={t("keys.models.title")} labelElement="div" error={error}>
      <Stack gap="xs" mt={4}>
        <SegmentedControl
          aria-label={t("keys.models.title")}
          className="fit"
          disabled={disabled}
          data={[
            { value: "group", label: t("keys.models.asGroup") },
            { value: "own", label: t("keys.models.some") },
          ]}
          value={models === null ? "group" : "own"}
          onChange={(choice) => onChange(choice === "group" ? null : [])}
        />
        {models !== null && (
          <PatternsInput label={t("keys.models.only")} value={models} onChange={onChange} disabled={disabled} />
        )}
        {workspace !== null && group !== null && (
          <ModelReach workspace={workspace} group={group} own={models} hasBudget={hasBudget} />
        )}
      </Stack>
    </Input.Wrapper>
  );
}
