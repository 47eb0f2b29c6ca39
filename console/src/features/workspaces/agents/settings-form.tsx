import { Autocomplete, Stack, Switch, TagsInput } from "@mantine/core";
import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/agents.ts";
import { LinesInput } from "./lines-input.tsx";
import {
  environmentLines,
  environmentOf,
  listOrNothing,
  objectAt,
  type Settings,
  sendsTelemetry,
  storedEnvironment,
  textAt,
  textsAt,
  withMember,
  withTelemetry,
} from "./settings-draft.ts";

interface SettingsFormProps {
  readonly settings: Settings;
  readonly onChange: (settings: Settings) => void;
  readonly disabled: boolean;
  /** The address that agents send telemetry to. */
  readonly baseUrl: string;
}

const rules = [
  { name: "allow", label: t("agents.form.allow"), help: t("agents.form.allowHelp"), example: "Bash(npm run test *)" },
  { name: "ask", label: t("agents.form.ask"), help: t("agents.form.askHelp"), example: "Bash(git push *)" },
  { name: "deny", label: t("agents.form.deny"), help: t("agents.form.denyHelp"), example: "Read(./.env)" },
];

/** The most common settings. Other fields stay unchanged. */
export function SettingsForm({ settings, onChange, disabled, baseUrl }: SettingsFormProps) {
  const models = useCall("models.list");
  const names = models.data?.data.map(({ name }) => name) ?? [];
  const permissions = objectAt(settings, "permissions");
  return (
    <Stack gap="md">
      <TagsInput
        label={t("agents.form.models")}
        description={t("agents.form.modelsHelp")}
        data={names}
        value={[...textsAt(settings, "availableModels")]}
        onChange={(next) => onChange(withMember(settings, ["availableModels"], listOrNothing(next)))}
        splitChars={[",", " "]}
        acceptValueOnBlur
        clearable
        limit={50}
        disabled={disabled}
      />
      <Autocomplete
        label={t("agents.form.model")}
        description={t("agents.form.modelHelp")}
        data={names}
        limit={50}
        value={textAt(settings, "model")}
        onChange={(next) => onChange(withMember(settings, ["model"], next.trim() === "" ? undefined : next.trim()))}
        disabled={disabled}
      />
      <Switch
        label={t("agents.form.enforce")}
        description={t("agents.form.enforceHelp")}
        checked={settings["enforceAvailableModels"] === true}
        onChange={(event) =>
          onChange(withMember(settings, ["enforceAvailableModels"], event.currentTarget.checked || undefined))
        }
        disabled={disabled}
      />
      {rules.map(({ name, label, help, example }) => (
        <LinesInput
          key={name}
          label={label}
          description={help}
          placeholder={example}
          value={textsAt(permissions, name)}
          onChange={(lines) => onChange(withMember(settings, ["permissions", name], listOrNothing(lines)))}
          disabled={disabled}
        />
      ))}
      <LinesInput
        label={t("agents.form.env")}
        description={t("agents.form.envHelp")}
        placeholder={t("agents.form.envExample")}
        value={environmentLines(settings)}
        onChange={(lines) => onChange(withMember(settings, ["env"], environmentOf(lines)))}
        stored={storedEnvironment}
        disabled={disabled}
      />
      <Switch
        label={t("agents.form.telemetry")}
        description={t("agents.form.telemetryHelp")}
        checked={sendsTelemetry(settings)}
        onChange={(event) => onChange(withTelemetry(settings, event.currentTarget.checked, baseUrl))}
        disabled={disabled}
      />
    </Stack>
  );
}
