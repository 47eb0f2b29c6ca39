import { NumberInput, SimpleGrid } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { t } from "../../language/areas/catalog.ts";

type Timeouts = ConsoleProvider["timeouts"];

interface TimeoutsFieldsProps {
  readonly value: Timeouts;
  readonly onChange: (value: Timeouts) => void;
  readonly fault: (field: string) => string | null;
  readonly disabled: boolean;
}

const fields: readonly { readonly name: keyof Timeouts; readonly label: string; readonly help: string }[] = [
  { name: "connect_ms", label: t("catalog.timeouts.connect"), help: t("catalog.timeouts.connectHelp") },
  { name: "headers_ms", label: t("catalog.timeouts.headers"), help: t("catalog.timeouts.headersHelp") },
  { name: "first_event_ms", label: t("catalog.timeouts.firstEvent"), help: t("catalog.timeouts.firstEventHelp") },
  { name: "idle_ms", label: t("catalog.timeouts.idle"), help: t("catalog.timeouts.idleHelp") },
  { name: "total_ms", label: t("catalog.timeouts.total"), help: t("catalog.timeouts.totalHelp") },
];

/** Timeouts for each phase of a call, in milliseconds. */
export function TimeoutsFields({ value, onChange, fault, disabled }: TimeoutsFieldsProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {fields.map(({ name, label, help }) => (
        <NumberInput
          key={name}
          label={label}
          description={help}
          placeholder={t("catalog.usual")}
          suffix={` ${t("catalog.timeouts.ms")}`}
          thousandSeparator
          min={1}
          max={86_400_000}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          disabled={disabled}
          error={fault(`timeouts.${name}`)}
          value={value[name] ?? ""}
          onChange={(next) => {
            const { [name]: _, ...rest } = value;
            onChange(typeof next === "number" ? { ...rest, [name]: next } : rest);
          }}
        />
      ))}
    </SimpleGrid>
  );
}
