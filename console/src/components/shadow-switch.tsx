import { Switch } from "@mantine/core";
import { t } from "../language/areas/components.ts";

interface ShadowGrantProps {
  readonly enforced: boolean;
  readonly onChange: (enforced: boolean) => void;
  readonly disabled: boolean;
  /** For screen readers. */
  readonly name: string;
}

/** Shadow mode of a grant: models or addresses. */
export function ShadowGrant({ enforced, onChange, ...others }: ShadowGrantProps) {
  return (
    <ShadowSwitch
      value={{ enforce: enforced }}
      onChange={({ enforce }: { readonly enforce?: boolean }) => onChange(enforce !== false)}
      {...others}
    />
  );
}

interface ShadowSwitchProps<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly disabled: boolean;
  /** For screen readers, because a form has one for limits and one for its budget. */
  readonly name: string;
}

/** Shadow mode of the rates or of the budget of an object. */
export function ShadowSwitch<Value extends { readonly enforce?: boolean | undefined }>({
  value,
  onChange,
  disabled,
  name,
}: ShadowSwitchProps<Value>) {
  const { enforce, ...others } = value;
  return (
    <Switch
      label={t("components.shadow.label")}
      description={t("components.shadow.help")}
      aria-label={`${name}: ${t("components.shadow.label")}`}
      disabled={disabled}
      checked={enforce === false}
      onChange={({ currentTarget: { checked } }) =>
        onChange((checked ? { ...others, enforce: false } : others) as unknown as Value)
      }
    />
  );
}
