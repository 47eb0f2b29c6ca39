import { Button, Group, Input, PasswordInput, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../../language/areas/catalog.ts";
import type { SecretDraft } from "./provider-draft.ts";

interface SecretInputProps {
  readonly label: string;
  readonly help?: ReactNode;
  readonly error?: ReactNode;
  /** Whether a secret is stored: it is never shown, only replaced or removed. */
  readonly stored: boolean;
  readonly value: SecretDraft;
  readonly onChange: (value: SecretDraft) => void;
  readonly required?: boolean;
  readonly removable?: boolean;
  readonly disabled?: boolean;
  readonly focus?: boolean;
}

/** An input for a write-only secret. */
export function SecretInput(props: SecretInputProps) {
  const { label, help, error, stored, value, onChange, required, removable = true, disabled, focus } = props;
  if (value.how === "set") {
    return (
      <div>
        <PasswordInput
          label={label}
          description={help}
          error={error}
          withAsterisk={required === true}
          autoComplete="new-password"
          spellCheck={false}
          placeholder={t("catalog.secret.reference")}
          disabled={disabled === true}
          data-autofocus={focus || undefined}
          value={value.text}
          onChange={(event) => onChange({ how: "set", text: event.currentTarget.value })}
        />
        {stored && (
          <Button variant="subtle" size="compact-xs" mt={4} onClick={() => onChange({ how: "keep" })}>
            {t("catalog.secret.keepStored")}
          </Button>
        )}
      </div>
    );
  }
  const words =
    value.how === "remove" ? t("catalog.secret.goes") : stored ? t("catalog.secret.stored") : t("catalog.secret.none");
  return (
    <Input.Wrapper label={label} description={help} error={error} labelElement="div">
      <Group gap="xs" mt={4}>
        <Text size="sm" c={value.how === "remove" ? "var(--warn)" : "dimmed"}>
          {words}
        </Text>
        <Button
          variant="default"
          size="compact-xs"
          disabled={disabled === true}
          aria-label={stored ? t("catalog.secret.replaceNamed", { label }) : t("catalog.secret.setNamed", { label })}
          onClick={() => onChange({ how: "set", text: "" })}
        >
          {stored ? t("catalog.secret.replace") : t("catalog.secret.set")}
        </Button>
        {stored && removable && value.how === "keep" && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            disabled={disabled === true}
            aria-label={t("catalog.secret.removeNamed", { label })}
            onClick={() => onChange({ how: "remove" })}
          >
            {t("catalog.secret.remove")}
          </Button>
        )}
        {value.how === "remove" && (
          <Button variant="subtle" size="compact-xs" onClick={() => onChange({ how: "keep" })}>
            {t("catalog.secret.keep")}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}
