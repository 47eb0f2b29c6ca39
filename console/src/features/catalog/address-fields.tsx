import { Alert, Switch, TextInput } from "@mantine/core";
import type { ProviderKindForm } from "@sluice/contract";
import { IconAlertTriangle, IconKey } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../../language/areas/catalog.ts";
import { isPrivateAddress, needsAddress, type ProviderDraft } from "./provider-draft.ts";

interface AddressFieldsProps {
  readonly draft: ProviderDraft;
  readonly form: ProviderKindForm | null;
  readonly stored: { readonly apiKey: boolean; readonly baseUrl: string } | undefined;
  readonly fault: (field: string) => string | null;
  readonly change: (part: Partial<ProviderDraft>) => void;
  readonly disabled: boolean;
}

/** The URL of a provider. A stored key is never sent to another URL than the one it was entered for. */
export function AddressFields({ draft, form, stored, fault, change, disabled }: AddressFieldsProps) {
  const address = draft.baseUrl === "" ? (form?.base_url ?? "") : draft.baseUrl;
  const hasDefault = form?.base_url !== null && form?.base_url !== undefined;
  const losesKey = stored?.apiKey === true && draft.apiKey.how === "keep" && address.trim() !== stored.baseUrl;
  return (
    <>
      <TextInput
        label={t("catalog.provider.baseUrl")}
        type="url"
        description={form?.base_url_help ?? (hasDefault ? t("catalog.provider.baseUrlHelp") : undefined)}
        placeholder={form?.base_url ?? "https://"}
        withAsterisk={form !== null && needsAddress(form)}
        autoComplete="off"
        spellCheck={false}
        disabled={disabled}
        value={draft.baseUrl}
        onChange={(event) => change({ baseUrl: event.currentTarget.value })}
        error={fault("base_url")}
      />
      {losesKey && address !== "" && (
        <Warning icon={<IconKey size={16} />} title={t("catalog.provider.keyStays")}>
          {t("catalog.provider.keyStaysHelp")}
        </Warning>
      )}
      <Switch
        label={t("catalog.provider.private")}
        description={t("catalog.provider.privateHelp")}
        disabled={disabled}
        checked={draft.privateNetwork}
        onChange={(event) => change({ privateNetwork: event.currentTarget.checked })}
        error={fault("allow_private_network")}
      />
      {isPrivateAddress(address) && !draft.privateNetwork && (
        <Warning icon={<IconAlertTriangle size={16} />} title={t("catalog.provider.privateAddress")}>
          {t("catalog.provider.privateAddressHelp")}
        </Warning>
      )}
      {draft.privateNetwork && (
        <Warning icon={<IconAlertTriangle size={16} />} title={t("catalog.provider.privateWarning")}>
          {t("catalog.provider.privateWarningHelp")}
        </Warning>
      )}
    </>
  );
}

interface WarningProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly children: ReactNode;
}

function Warning({ icon, title, children }: WarningProps) {
  return (
    <Alert color="yellow" variant="light" icon={icon} title={title}>
      {children}
    </Alert>
  );
}
