import { Switch } from "@mantine/core";
import { t } from "../language/areas/components.ts";

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
