import { Button, Group, TextInput } from "@mantine/core";
import { t } from "../../language/areas/keys.ts";

interface ExpiryInputProps {
  /** Unix milliseconds; null: never. */
  readonly value: number | null;
  readonly onChange: (at: number | null) => void;
  readonly disabled?: boolean;
  readonly error?: string | null;
  /** An expiry is required. */
  readonly required?: boolean;
  readonly label?: string;
}

const dayMs = 86_400_000;
const spans = [
  { label: t("keys.expiry.days", { count: 7 }), days: 7 },
  { label: t("keys.expiry.days", { count: 30 }), days: 30 },
  { label: t("keys.expiry.days", { count: 90 }), days: 90 },
  { label: t("keys.expiry.years", { count: 1 }), days: 365 },
] as const;

/** An expiry: a date in local time, or a preset. */
export function ExpiryInput({ value, onChange, disabled = false, error = null, ...words }: ExpiryInputProps) {
  const { required = false, label: title = t("keys.expires") } = words;
  return (
    <div>
      <TextInput
        type="datetime-local"
        max={lastMoment}
        label={title}
        description={required ? undefined : t("keys.expiry.help")}
        required={required}
        disabled={disabled}
        error={error}
        value={value === null ? "" : localText(value)}
        onChange={(event) => onChange(momentOf(event.currentTarget.value))}
      />
      <Group gap={4} mt={6}>
        {spans.map(({ label, days }) => (
          <Button
            key={days}
            variant="default"
            size="compact-xs"
            disabled={disabled}
            aria-label={t("keys.expiry.in", { label })}
            onClick={() => onChange(wholeMinute(Date.now() + days * dayMs))}
          >
            {label}
          </Button>
        ))}
        {!required && (
          <Button
            variant="subtle"
            size="compact-xs"
            disabled={disabled || value === null}
            aria-label={t("keys.expiry.never")}
            onClick={() => onChange(null)}
          >
            {t("keys.never")}
          </Button>
        )}
      </Group>
    </div>
  );
}

/** The default expiry of a service token: ninety days. */
export function usualEnd(): number {
  return wholeMinute(Date.now() + 90 * dayMs);
}

function wholeMinute(at: number): number {
  return Math.floor(at / 60_000) * 60_000;
}

/** Four-digit years: without a maximum, browsers ask for six digits. */
const lastMoment = "9999-12-31T23:59";

/** The field's value, such as `2026-11-21T14:30`, in local time. */
export function localText(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return Number.isNaN(local.getTime()) ? "" : local.toISOString().slice(0, 16);
}

/** null for an empty text and for anything that is not a date. */
export function momentOf(text: string): number | null {
  const at = new Date(text).getTime();
  return text === "" || Number.isNaN(at) ? null : at;
}
