import { ManagedByFile } from "../../components/managed-by-file.tsx";

interface SettingLabelProps {
  readonly label: string;
  readonly locked: boolean;
}

/** The name of a setting, with a lock if the config file sets it. */
export function SettingLabel({ label, locked }: SettingLabelProps) {
  return (
    <>
      {label} <ManagedByFile by={locked ? "file" : "console"} />
    </>
  );
}
