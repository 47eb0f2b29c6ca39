import { TextInput } from "@mantine/core";
import { wrongField } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/keys.ts";
import { ExpiryInput } from "../expiry-input.tsx";
import type { KeyFieldsProps } from "../key-more-fields.tsx";
import { KeyScopeFields } from "../key-scope-fields.tsx";

/** The settings of a requested key. */
export function RequestFields({ workspace, draft, onChange, problem }: KeyFieldsProps) {
  return (
    <>
      <TextInput
        label={t("keys.name")}
        description={t("keys.fields.nameHelp")}
        placeholder={t("keys.fields.namePlaceholder")}
        required
        maxLength={256}
        value={draft.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={wrongField(problem, "name")}
      />
      <KeyScopeFields workspace={workspace} draft={draft} onChange={onChange} problem={problem} mayChooseGroup />
      <ExpiryInput
        value={draft.expiresAt}
        onChange={(expiresAt) => onChange({ expiresAt })}
        error={wrongField(problem, "expires_at")}
      />
    </>
  );
}
