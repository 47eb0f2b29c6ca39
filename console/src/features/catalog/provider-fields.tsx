import { Alert, Select, Stack, Switch, TextInput } from "@mantine/core";
import type { ProviderKindForm } from "@sluice/contract";
import { IconAlertTriangle, IconKey } from "@tabler/icons-react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/catalog.ts";
import { MoreFields } from "./more-fields.tsx";
import { looksPrivate, type ProviderDraft, withSetting } from "./provider-draft.ts";
import { SecretInput } from "./secret-input.tsx";
import { SettingInput } from "./setting-field.tsx";
import { TimeoutsFields } from "./timeouts-fields.tsx";

interface ProviderFieldsProps {
  readonly draft: ProviderDraft;
  readonly onChange: (draft: ProviderDraft) => void;
  /** null: a kind that this version does not know; its settings are left alone. */
  readonly form: ProviderKindForm | null;
  readonly isNew: boolean;
  /** What is stored: whether there is an API key, and which settings are secrets. */
  readonly stored?: {
    readonly apiKey: boolean;
    readonly baseUrl: string;
    readonly settings: Readonly<Record<string, unknown>>;
  };
  readonly problem: Problem | null;
  readonly disabled?: boolean;
}

/** What every kind has and few accounts need. */
const advancedSettings: ReadonlySet<string> = new Set([
  "endpoints",
  "forward_headers",
  "pass_members",
  "objects",
  "fetches_urls",
]);

/** The form of a provider, as its kind asks. */
export function ProviderFields(props: ProviderFieldsProps) {
  const { draft, onChange, form, isNew, stored, problem, disabled = false } = props;
  const change = (part: Partial<ProviderDraft>) => onChange({ ...draft, ...part });
  const fields = form?.fields ?? [];
  const settingInput = (field: ProviderKindForm["fields"][number]) => (
    <SettingInput
      key={field.name}
      field={field}
      value={draft.settings[field.name]}
      onChange={(value) => change({ settings: withSetting(draft.settings, field, value) })}
      stored={stored !== undefined && field.name in stored.settings}
      error={wrongField(problem, `settings.${field.name}`)}
      disabled={disabled}
    />
  );
  return (
    <Stack gap="md">
      {isNew && (
        <TextInput
          label={t("catalog.name")}
          description={t("catalog.howItIsCalledHere")}
          withAsterisk
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          value={draft.id}
          onChange={(event) => change({ id: event.currentTarget.value })}
          error={wrongField(problem, "id")}
        />
      )}
      {(form === null || form.api_key !== "none") && (
        <SecretInput
          label={t("catalog.apiKey")}
          help={form?.api_key_help}
          error={wrongField(problem, "api_key")}
          stored={stored?.apiKey === true}
          required={isNew && form?.api_key === "required"}
          disabled={disabled}
          focus={isNew}
          value={draft.apiKey}
          onChange={(apiKey) => change({ apiKey })}
        />
      )}
      {fields.filter((field) => !advancedSettings.has(field.name)).map(settingInput)}
      <AddressFields {...props} change={change} disabled={disabled} />
      <MoreFields label={t("catalog.advancedTimeoutsDisconnects")}>
        <TimeoutsFields
          value={draft.timeouts}
          onChange={(timeouts) => change({ timeouts })}
          problem={problem}
          disabled={disabled}
        />
        <Select
          label={t("catalog.whenTheCallerGoesAway")}
          description={t("catalog.aCallThatIsLeft")}
          data={disconnectChoices}
          allowDeselect={false}
          disabled={disabled}
          value={draft.disconnect}
          onChange={(value) => change({ disconnect: value === "cancel" || value === "drain" ? value : "" })}
          error={wrongField(problem, "disconnect")}
        />
        {fields.filter((field) => advancedSettings.has(field.name)).map(settingInput)}
      </MoreFields>
    </Stack>
  );
}

const disconnectChoices = [
  { value: "", label: t("catalog.asTheSettingsOfThe") },
  { value: "cancel", label: t("catalog.cancelTheCallUpstream") },
  { value: "drain", label: t("catalog.letTheCallUpstreamFinish") },
];

interface AddressFieldsProps extends ProviderFieldsProps {
  readonly change: (part: Partial<ProviderDraft>) => void;
  readonly disabled: boolean;
}

/** Where it is. A stored key is never sent to another address than it was given for. */
function AddressFields({ draft, form, stored, problem, change, disabled }: AddressFieldsProps) {
  const address = draft.baseUrl === "" ? (form?.base_url ?? "") : draft.baseUrl;
  const isInside = looksPrivate(address);
  const usesDefault = form?.base_url !== null && form?.base_url !== undefined;
  return (
    <>
      <TextInput
        label={t("catalog.baseUrl")}
        type="url"
        description={form?.base_url_help ?? (usesDefault ? t("catalog.leaveItEmptyForThe") : undefined)}
        placeholder={form?.base_url ?? "https://"}
        autoComplete="off"
        spellCheck={false}
        disabled={disabled}
        value={draft.baseUrl}
        onChange={(event) => change({ baseUrl: event.currentTarget.value })}
        error={wrongField(problem, "base_url")}
      />
      {stored?.apiKey === true &&
        draft.apiKey.how === "keep" &&
        address.trim() !== stored.baseUrl &&
        address !== "" && (
          <Alert
            color="yellow"
            variant="light"
            icon={<IconKey size={16} />}
            title={t("catalog.theStoredKeyStaysBehind")}
          >
            {t("catalog.aKeyIsNeverSent")}
          </Alert>
        )}
      <Switch
        label={t("catalog.mayBeOnAPrivate")}
        description={t("catalog.letsTheAddressBeOne")}
        disabled={disabled}
        checked={draft.privateNetwork}
        onChange={(event) => change({ privateNetwork: event.currentTarget.checked })}
        error={wrongField(problem, "allow_private_network")}
      />
      {isInside && !draft.privateNetwork && (
        <Alert
          color="yellow"
          variant="light"
          icon={<IconAlertTriangle size={16} />}
          title={t("catalog.thisAddressLooksPrivate")}
        >
          {t("catalog.callsToItAreRefused")}
        </Alert>
      )}
      {draft.privateNetwork && (
        <Alert
          color="yellow"
          variant="light"
          icon={<IconAlertTriangle size={16} />}
          title={t("catalog.onlyForAServerYou")}
        >
          {t("catalog.whoeverMaySetThisAddress")}
        </Alert>
      )}
    </>
  );
}
