import { Select, Stack, TextInput } from "@mantine/core";
import type { ProviderKindForm } from "@sluice/contract";
import { t } from "../../language/areas/catalog.ts";
import { AddressFields } from "./address-fields.tsx";
import { fieldsFor, usesApiKey } from "./auth-choice.ts";
import { MoreFields } from "./more-fields.tsx";
import { type ProviderDraft, withSetting } from "./provider-draft.ts";
import { SecretInput } from "./secret-input.tsx";
import { SettingInput } from "./setting-field.tsx";
import { TimeoutsFields } from "./timeouts-fields.tsx";
import { WebhookAddress } from "./webhook-address.tsx";

interface ProviderFieldsProps {
  readonly draft: ProviderDraft;
  readonly onChange: (draft: ProviderDraft) => void;
  /** null: an unknown provider type; its settings stay unchanged. */
  readonly form: ProviderKindForm | null;
  readonly isNew: boolean;
  /** The stored values: whether there is an API key, and which settings are secrets. */
  readonly stored?: {
    readonly apiKey: boolean;
    readonly baseUrl: string;
    readonly settings: Readonly<Record<string, unknown>>;
  };
  /** The error of a field, by the gateway's field name. */
  readonly fault: (field: string) => string | null;
  readonly disabled?: boolean;
}

/** Rarely needed fields that every provider type has. */
const advancedSettings: ReadonlySet<string> = new Set([
  "endpoints",
  "forward_headers",
  "pass_members",
  "pass_through",
  "reasoning",
  "objects",
  "object_prices",
  "fetches_urls",
  "output_cap",
  "reasoning_field",
  "schema_output",
  "stream_options",
  "proxy",
  "ca",
  "client_certificate",
  "client_key",
]);

/** The fields of a provider according to its type. */
export function ProviderFields(props: ProviderFieldsProps) {
  const { draft, onChange, form, isNew, stored, fault, disabled = false } = props;
  const change = (part: Partial<ProviderDraft>) => onChange({ ...draft, ...part });
  const fields = form === null ? [] : fieldsFor(form, draft.settings, stored?.settings);
  const settingInput = (field: ProviderKindForm["fields"][number]) => (
    <SettingInput
      key={field.name}
      field={field}
      value={draft.settings[field.name]}
      onChange={(value) => change({ settings: withSetting(draft.settings, field, value) })}
      stored={stored !== undefined && field.name in stored.settings}
      error={fault(`settings.${field.name}`)}
      disabled={disabled}
    />
  );
  return (
    <Stack gap="md">
      {isNew && (
        <TextInput
          label={t("catalog.provider.name")}
          description={t("catalog.provider.nameHelp")}
          withAsterisk
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          value={draft.id}
          onChange={(event) => change({ id: event.currentTarget.value })}
          error={fault("id")}
        />
      )}
      {(form === null || stored?.apiKey === true || usesApiKey(form, draft.settings)) && (
        <SecretInput
          label={t("catalog.provider.apiKey")}
          help={form?.api_key_help}
          error={fault("api_key")}
          stored={stored?.apiKey === true}
          required={isNew && form?.api_key === "required"}
          disabled={disabled}
          focus={isNew}
          value={draft.apiKey}
          onChange={(apiKey) => change({ apiKey })}
        />
      )}
      {fields
        .filter((field) => !advancedSettings.has(field.name))
        .flatMap((field) => [
          settingInput(field),
          ...(!isNew && field.name === "webhook_secret"
            ? [<WebhookAddress key="webhook_address" provider={draft.id} />]
            : []),
        ])}
      <AddressFields draft={draft} form={form} stored={stored} fault={fault} change={change} disabled={disabled} />
      <MoreFields label={t("catalog.provider.advanced")}>
        <TimeoutsFields
          value={draft.timeouts}
          onChange={(timeouts) => change({ timeouts })}
          fault={fault}
          disabled={disabled}
        />
        <Select
          label={t("catalog.provider.disconnect")}
          description={t("catalog.provider.disconnectHelp")}
          data={disconnectChoices}
          allowDeselect={false}
          disabled={disabled}
          value={draft.disconnect}
          onChange={(value) => change({ disconnect: value === "cancel" || value === "drain" ? value : "" })}
          error={fault("disconnect")}
        />
        {fields.filter((field) => advancedSettings.has(field.name)).map(settingInput)}
      </MoreFields>
    </Stack>
  );
}

const disconnectChoices = [
  { value: "", label: t("catalog.provider.disconnectDefault") },
  { value: "cancel", label: t("catalog.provider.disconnectCancel") },
  { value: "drain", label: t("catalog.provider.disconnectDrain") },
];
