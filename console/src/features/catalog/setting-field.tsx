import { JsonInput, Select, TagsInput, TextInput } from "@mantine/core";
import type { ProviderKindForm } from "@sluice/contract";
import { NumberField } from "../../components/number-field.tsx";
import { t } from "../../language/areas/catalog.ts";
import { t as shared } from "../../language/areas/components.ts";
import { redacted, type SecretDraft, type SettingValue } from "./provider-draft.ts";
import { SecretInput } from "./secret-input.tsx";

interface SettingFieldProps {
  readonly field: ProviderKindForm["fields"][number];
  readonly value: SettingValue | undefined;
  /** undefined: not set. */
  readonly onChange: (value: SettingValue | undefined) => void;
  /** A secret that is stored may be kept. */
  readonly stored: boolean;
  readonly error: string | null;
  readonly disabled: boolean;
}

/** One setting of a provider type. */
export function SettingInput({ field, value, onChange, stored, error, disabled }: SettingFieldProps) {
  const { label, help, placeholder, required, options } = field;
  const common = {
    label,
    description: help ?? undefined,
    placeholder: placeholder ?? undefined,
    error,
    disabled,
    withAsterisk: required,
  };
  switch (field.type) {
    case "secret":
      return (
        <SecretInput
          label={label}
          help={help}
          error={error}
          stored={stored}
          required={required}
          removable={!required}
          disabled={disabled}
          value={secretOf(value, stored)}
          onChange={(next) => onChange(settingOf(next, stored))}
        />
      );
    case "number":
      return (
        <NumberField
          {...common}
          value={typeof value === "number" ? value : null}
          onChange={(next) => onChange(next ?? undefined)}
        />
      );
    case "boolean":
      return (
        // Not a switch, because an unset value uses the type's default, which may be yes.
        <Select
          {...common}
          placeholder={t("catalog.usual")}
          data={yesOrNo}
          clearable
          value={typeof value === "boolean" ? String(value) : null}
          onChange={(next) => onChange(next === null ? undefined : next === "true")}
        />
      );
    case "select":
      return (
        <Select
          {...common}
          data={options ?? []}
          clearable={!required}
          value={typeof value === "string" ? value : null}
          onChange={(next) => onChange(next ?? undefined)}
        />
      );
    case "list":
      return (
        <TagsInput
          {...common}
          placeholder={
            Array.isArray(value) && value.length > 0 ? undefined : (common.placeholder ?? t("catalog.usual"))
          }
          data={options ?? []}
          splitChars={[",", " ", "\n"]}
          acceptValueOnBlur
          clearable
          value={Array.isArray(value) ? [...value] : []}
          onChange={(next) => onChange(next.length === 0 ? undefined : next)}
        />
      );
    case "json":
      return (
        <JsonInput
          {...common}
          autosize
          minRows={3}
          maxRows={14}
          formatOnBlur
          value={typeof value === "string" ? value : ""}
          onChange={(next) => onChange(next === "" ? undefined : next)}
        />
      );
    default:
      return (
        <TextInput
          {...common}
          autoComplete="off"
          spellCheck={false}
          value={typeof value === "string" ? value : ""}
          onChange={(event) => onChange(event.currentTarget.value || undefined)}
        />
      );
  }
}

const yesOrNo = [
  { value: "true", label: shared("components.states.yes") },
  { value: "false", label: shared("components.states.no") },
];

/** A new provider's secret is an empty field; a stored one is kept until it is replaced. */
function secretOf(value: SettingValue | undefined, stored: boolean): SecretDraft {
  if (value === redacted) return { how: "keep" };
  if (value === undefined && stored) return { how: "remove" };
  return { how: "set", text: typeof value === "string" ? value : "" };
}

/** An empty replacement of a stored secret is kept, so that the form reports it. Without a stored secret, empty means unset. */
function settingOf(secret: SecretDraft, stored: boolean): SettingValue | undefined {
  if (secret.how === "set") return secret.text === "" && !stored ? undefined : secret.text;
  return secret.how === "keep" ? redacted : undefined;
}
