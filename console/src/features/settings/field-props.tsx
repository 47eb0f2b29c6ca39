import { SettingLabel } from "./setting-label.tsx";
import type { SettingsDraft } from "./settings-draft.ts";

export interface FieldsProps {
  readonly draft: SettingsDraft;
  /** The config file sets this setting. */
  readonly isLocked: (name: keyof SettingsDraft) => boolean;
  readonly fault: (name: keyof SettingsDraft) => string | null;
  readonly change: (changes: Partial<SettingsDraft>) => void;
}

export function fieldProps({ isLocked, fault }: FieldsProps, name: keyof SettingsDraft, label: string) {
  const locked = isLocked(name);
  // Read-only rather than disabled, so that the value stays readable.
  const lockedProps = locked ? ({ variant: "filled", readOnly: true } as const) : {};
  return { label: <SettingLabel label={label} locked={locked} />, error: fault(name), ...lockedProps };
}

export function switchProps({ isLocked }: FieldsProps, name: keyof SettingsDraft, label: string) {
  const locked = isLocked(name);
  return { label: <SettingLabel label={label} locked={locked} />, disabled: locked };
}
