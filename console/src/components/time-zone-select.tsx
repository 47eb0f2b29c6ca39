import { Select } from "@mantine/core";

interface TimeZoneSelectProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly disabled?: boolean;
}

/** Selects a time zone by its IANA name. */
export function TimeZoneSelect({ label, value, onChange, disabled = false }: TimeZoneSelectProps) {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  return (
    <Select
      label={label}
      data={zones.includes(value) ? zones : [value, ...zones]}
      value={value}
      onChange={(zone) => onChange(zone ?? value)}
      allowDeselect={false}
      disabled={disabled}
      searchable
      limit={50}
    />
  );
}
