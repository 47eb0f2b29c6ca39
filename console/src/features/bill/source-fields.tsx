import { Select, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import type { ProviderBilling } from "@sluice/contract";
import { billingKinds, isReadFromVendor } from "@sluice/contract/words";
import { NumberField } from "../../components/number-field.tsx";
import { t } from "../../language/areas/bill.ts";
import { SecretInput } from "../catalog/secret-input.tsx";
import { accountParts, keepsKey, type SourceDraft } from "./source-draft.ts";

interface SourceFieldsProps {
  readonly draft: SourceDraft;
  readonly stored: ProviderBilling | null;
  readonly disabled: boolean;
  readonly fault: (field: string) => string | null;
  readonly onChange: (draft: SourceDraft) => void;
}

/** Where the bills of a provider come from. */
export function SourceFields(props: SourceFieldsProps) {
  const { draft, disabled, fault, onChange } = props;
  const change = (part: Partial<SourceDraft>) => onChange({ ...draft, ...part });
  return (
    <>
      <Select
        label={t("bill.form.kind")}
        data={billingKinds.map((value) => ({ value, label: t(`bill.kinds.${value}`) }))}
        value={draft.kind}
        allowDeselect={false}
        disabled={disabled}
        error={fault("billing.kind")}
        onChange={(value) => change({ kind: billingKinds.find((kind) => kind === value) ?? draft.kind })}
      />
      {isReadFromVendor(draft.kind) ? <VendorFields {...props} change={change} /> : <FileHelp kind={draft.kind} />}
      <NumberField
        label={t("bill.form.tolerance")}
        description={t("bill.form.toleranceHelp")}
        placeholder="0.5"
        suffix=" %"
        min={0}
        max={100}
        disabled={disabled}
        error={fault("billing.tolerance_percent")}
        value={draft.tolerancePercent}
        onChange={(tolerancePercent) => change({ tolerancePercent })}
      />
    </>
  );
}

interface VendorFieldsProps extends SourceFieldsProps {
  readonly change: (part: Partial<SourceDraft>) => void;
}

function VendorFields({ draft, stored, disabled, fault, change }: VendorFieldsProps) {
  const keeps = keepsKey(draft, stored);
  return (
    <>
      <SecretInput
        label={t("bill.form.adminKey")}
        help={t(`bill.form.keyHelp.${draft.kind as "openai" | "anthropic" | "openrouter"}`)}
        error={fault("billing.admin_key")}
        stored={keeps}
        value={keeps || draft.adminKey.how === "set" ? draft.adminKey : { how: "set", text: "" }}
        removable={false}
        required
        disabled={disabled}
        onChange={(adminKey) => change({ adminKey })}
      />
      <TextInput
        label={t("bill.form.baseUrl")}
        description={t("bill.form.baseUrlHelp")}
        autoComplete="off"
        spellCheck={false}
        disabled={disabled}
        error={fault("billing.base_url")}
        value={draft.baseUrl}
        onChange={(event) => change({ baseUrl: event.currentTarget.value })}
      />
      {accountParts(draft.kind).map((part) => (
        <TagsInput
          key={part}
          label={t(`bill.form.account.${part}`)}
          description={t("bill.form.accountHelp")}
          maxTags={100}
          splitChars={[",", " ", "\n"]}
          acceptValueOnBlur
          clearable
          disabled={disabled}
          error={fault(`billing.account.${part}`)}
          value={[...draft.account[part]]}
          onChange={(ids) => change({ account: { ...draft.account, [part]: ids } })}
        />
      ))}
      <NumberField
        label={t("bill.form.lag")}
        description={t("bill.form.lagHelp")}
        placeholder="2"
        min={1}
        max={30}
        allowDecimal={false}
        disabled={disabled}
        error={fault("billing.lag_days")}
        value={draft.lagDays}
        onChange={(lagDays) => change({ lagDays })}
      />
    </>
  );
}

/** The format to export from the vendor, and the page to upload it to. */
function FileHelp({ kind }: { readonly kind: SourceDraft["kind"] }) {
  return (
    <Stack gap={4}>
      <Text size="sm">{t(`bill.files.${kind as "cur" | "gcp" | "focus" | "csv"}`)}</Text>
      <Text size="sm" c="dimmed">
        {t("bill.form.upload")}
      </Text>
    </Stack>
  );
}
