import { NumberInput, SimpleGrid } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";

type Timeouts = ConsoleProvider["timeouts"];

interface TimeoutsFieldsProps {
  readonly value: Timeouts;
  readonly onChange: (value: Timeouts) => void;
  readonly problem: Problem | null;
  readonly disabled: boolean;
}

const fields: readonly { readonly name: keyof Timeouts; readonly label: string; readonly help: string }[] = [
  { name: "connect_ms", label: "Connect", help: "Until the connection stands." },
  { name: "headers_ms", label: "Headers", help: "Until an answer begins." },
  { name: "first_event_ms", label: "First event", help: "Until a stream says something." },
  { name: "idle_ms", label: "Silence", help: "Between two pieces of an answer." },
  { name: "total_ms", label: "Whole answer", help: "From beginning to end." },
];

/** How long each part of a call may take, in milliseconds. */
export function TimeoutsFields({ value, onChange, problem, disabled }: TimeoutsFieldsProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {fields.map(({ name, label, help }) => (
        <NumberInput
          key={name}
          label={`${label} timeout`}
          description={help}
          placeholder="as usual"
          suffix=" ms"
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
