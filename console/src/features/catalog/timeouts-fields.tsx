import { NumberInput, SimpleGrid } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/catalog.ts";

type Timeouts = ConsoleProvider["timeouts"];

interface TimeoutsFieldsProps {
  readonly value: Timeouts;
  readonly onChange: (value: Timeouts) => void;
  readonly problem: Problem | null;
  readonly disabled: boolean;
}

const fields: readonly { readonly name: keyof Timeouts; readonly label: string; readonly help: string }[] = [
  { name: "connect_ms", label: t("catalog.connect"), help: t("catalog.untilTheConnectionStands") },
  { name: "headers_ms", label: t("catalog.headers"), help: t("catalog.untilAnAnswerBegins") },
  { name: "first_event_ms", label: t("catalog.firstEvent"), help: t("catalog.untilAStreamSaysSomething") },
  { name: "idle_ms", label: t("catalog.silence"), help: t("catalog.betweenTwoPiecesOfAn") },
  { name: "total_ms", label: t("catalog.wholeAnswer"), help: t("catalog.fromBeginningToEnd") },
];

/** How long each part of a call may take, in milliseconds. */
export function TimeoutsFields({ value, onChange, problem, disabled }: TimeoutsFieldsProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {fields.map(({ name, label, help }) => (
        <NumberInput
          key={name}
          label={t("catalog.timeout", { label })}
          description={help}
          placeholder={t("catalog.asUsual")}
          suffix={` ${t("catalog.ms")}`}
          thousandSeparator=","
          min={1}
          max={86_400_000}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          disabled={disabled}
          error={wrongField(problem, `timeouts.${name}`)}
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
