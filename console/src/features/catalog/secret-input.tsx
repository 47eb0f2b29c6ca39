import { Button, Group, Input, PasswordInput, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { SecretDraft } from "./provider-draft.ts";

interface SecretInputProps {
  readonly label: string;
  readonly help?: ReactNode;
  readonly error?: ReactNode;
  /** Whether one is stored: it is never shown, only replaced or taken away. */
  readonly stored: boolean;
  readonly value: SecretDraft;
  readonly onChange: (value: SecretDraft) => void;
  readonly required?: boolean;
  readonly removable?: boolean;
  readonly disabled?: boolean;
  readonly focus?: boolean;
}

/** A secret that is written and never read back. */
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
          disabled={disabled === true}
          data-autofocus={focus || undefined}
          value={value.text}
          onChange={(event) => onChange({ how: "set", text: event.currentTarget.value })}
        />
        {stored && (
          <Button variant="subtle" size="compact-xs" mt={4} onClick={() => onChange({ how: "keep" })}>
            Keep the stored one
          </Button>
        )}
      </div>
    );
  }
  const words = value.how === "remove" ? "Goes when this is saved." : stored ? "Stored, never shown again." : "None.";
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
          aria-label={`${stored ? "Replace" : "Set"} ${label}`}
          onClick={() => onChange({ how: "set", text: "" })}
        >
          {stored ? "Replace" : "Set"}
        </Button>
        {stored && removable && value.how === "keep" && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            disabled={disabled === true}
            aria-label={`Remove ${label}`}
            onClick={() => onChange({ how: "remove" })}
          >
            Remove
          </Button>
        )}
        {value.how === "remove" && (
          <Button variant="subtle" size="compact-xs" onClick={() => onChange({ how: "keep" })}>
            Keep it
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  );
}
