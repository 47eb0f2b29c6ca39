import { PasswordInput } from "@mantine/core";
import { t } from "../language/areas/session.ts";

const passwordLengthMin = 12;
const passwordLengthMax = 256;

interface NewPasswordProps {
  readonly value: NewPasswordValue;
  readonly onChange: (value: NewPasswordValue) => void;
  /** The form was submitted once: errors are shown from then on. */
  readonly tried: boolean;
  readonly label?: string;
}

export interface NewPasswordValue {
  readonly password: string;
  readonly again: string;
}

export const noPassword: NewPasswordValue = { password: "", again: "" };

export function passwordReady({ password, again }: NewPasswordValue): boolean {
  return password.length >= passwordLengthMin && password === again;
}

/** A new password, entered twice. */
export function NewPassword({ value, onChange, tried, label = t("session.password.label") }: NewPasswordProps) {
  const missing = passwordLengthMin - value.password.length;
  const differs = missing <= 0 && value.password !== value.again;
  return (
    <>
      <PasswordInput
        label={label}
        description={t("session.password.help", { min: passwordLengthMin })}
        autoComplete="new-password"
        required
        withAsterisk={false}
        maxLength={passwordLengthMax}
        value={value.password}
        error={tried && missing > 0 ? t("session.password.short", { missing }) : null}
        onChange={(event) => onChange({ ...value, password: event.currentTarget.value })}
      />
      <PasswordInput
        label={t("session.password.repeat")}
        autoComplete="new-password"
        required
        withAsterisk={false}
        maxLength={passwordLengthMax}
        value={value.again}
        error={tried && differs ? t("session.password.differ") : null}
        onChange={(event) => onChange({ ...value, again: event.currentTarget.value })}
      />
    </>
  );
}
