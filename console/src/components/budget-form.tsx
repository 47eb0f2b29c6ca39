import { Group, Select } from "@mantine/core";
import type { BudgetConfig } from "@sluice/contract";
import { type ComponentProps, useState } from "react";
import { t } from "../language/areas/components.ts";
import { NumberField } from "./number-field.tsx";
import { ShadowSwitch } from "./shadow-switch.tsx";
import { TimeZoneSelect } from "./time-zone-select.tsx";

interface BudgetFormProps {
  readonly value: BudgetConfig | null;
  readonly onChange: (budget: BudgetConfig | null) => void;
  readonly disabled?: boolean;
  readonly label?: string;
}

const windows = [
  ...(["hour", "day", "week", "month", "total"] as const).map((period) => ({
    value: period as string,
    label: t(`components.periods.${period}`),
    window: { period, rolling: false },
  })),
  ...(["hour", "day", "week", "month"] as const).map((period) => ({
    value: `rolling-${period}`,
    label: t(`components.rolling.${period}`),
    window: { period, rolling: true },
  })),
];
type Window = Pick<BudgetConfig, "period" | "rolling">;

/** The maximum spend in a period. Empty: no budget at this level. */
export function BudgetForm({
  value,
  onChange,
  disabled = false,
  label = t("components.labels.budget"),
}: BudgetFormProps) {
  // A window that is chosen before the amount is kept here until there is a budget.
  const [chosen, setChosen] = useState<Window>({ period: "month" });
  const { period, rolling = false } = value ?? chosen;
  const followsZone = value !== null && !rolling && period !== "total" && period !== "hour";
  return (
    <>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <BudgetAmount
          label={label}
          placeholder={t("components.budget.none")}
          disabled={disabled}
          className="grow"
          value={value?.usd ?? null}
          onChange={(usd) => onChange(usd === null ? null : { ...withWindow(value, { period, rolling }), usd })}
        />
        <Select
          aria-label={t("components.budget.period")}
          w={{ base: 140, xs: 195 }}
          data={windows.map(({ value: name, label: words }) => ({ value: name, label: words }))}
          allowDeselect={false}
          disabled={disabled}
          value={rolling ? `rolling-${period}` : period}
          onChange={(next) => {
            const window = windows.find((each) => each.value === next)?.window ?? { period, rolling };
            setChosen(window);
            if (value !== null) onChange({ ...withWindow(value, window), usd: value.usd });
          }}
        />
      </Group>
      {followsZone && (
        <TimeZoneSelect
          label={t("components.budget.timeZone")}
          value={value.time_zone ?? "UTC"}
          onChange={(zone) => onChange(withZone(value, zone))}
          disabled={disabled}
        />
      )}
      {value !== null && <ShadowSwitch value={value} onChange={onChange} disabled={disabled} name={label} />}
    </>
  );
}

/** US dollars. */
export function BudgetAmount(props: ComponentProps<typeof NumberField>) {
  return (
    <NumberField
      {...props}
      prefix="$"
      min={0}
      max={9_000_000}
      decimalScale={6}
      allowNegative={false}
      thousandSeparator
      hideControls
    />
  );
}

/** Another window than a day, week or month follows no time zone. */
function withWindow(value: BudgetConfig | null, { period, rolling }: Window): Omit<BudgetConfig, "usd"> {
  const { time_zone: zone, rolling: _before, ...others } = value ?? { usd: 0, period };
  const keepsZone = zone !== undefined && rolling !== true && period !== "total";
  return { ...others, period, ...(rolling === true ? { rolling } : {}), ...(keepsZone ? { time_zone: zone } : {}) };
}

function withZone({ time_zone: _before, ...budget }: BudgetConfig, zone: string): BudgetConfig {
  return zone === "UTC" ? budget : { ...budget, time_zone: zone };
}
