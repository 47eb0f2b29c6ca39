import { Group, Select } from "@mantine/core";
import type { BudgetConfig } from "@sluice/contract";
import { useState } from "react";
import { t } from "../language/areas/components.ts";
import { NumberField } from "./number-field.tsx";
import { ShadowSwitch } from "./shadow-switch.tsx";

interface BudgetFormProps {
  readonly value: BudgetConfig | null;
  readonly onChange: (budget: BudgetConfig | null) => void;
  readonly disabled?: boolean;
  readonly label?: string;
}

const periods = [
  { value: "day", label: t("components.periods.day") },
  { value: "week", label: t("components.periods.week") },
  { value: "month", label: t("components.periods.month") },
  { value: "total", label: t("components.periods.total") },
] as const;
type Period = BudgetConfig["period"];

/** The maximum spend in a period. Empty: no budget at this level. */
export function BudgetForm({
  value,
  onChange,
  disabled = false,
  label = t("components.labels.budget"),
}: BudgetFormProps) {
  // A period that is chosen before the amount is kept here until there is a budget.
  const [period, setPeriod] = useState<Period>(value?.period ?? "month");
  const current = value?.period ?? period;
  return (
    <>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <NumberField
          label={label}
          placeholder={t("components.budget.none")}
          prefix="$"
          min={0}
          max={9_000_000}
          decimalScale={6}
          allowNegative={false}
          thousandSeparator
          hideControls
          disabled={disabled}
          className="grow"
          value={value?.usd ?? null}
          onChange={(usd) => onChange(usd === null ? null : { ...value, usd, period: current })}
        />
        <Select
          aria-label={t("components.budget.period")}
          w={{ base: 125, xs: 160 }}
          data={[...periods]}
          allowDeselect={false}
          disabled={disabled}
          value={current}
          onChange={(next) => {
            const chosen = periods.find((each) => each.value === next)?.value ?? current;
            setPeriod(chosen);
            if (value !== null) onChange({ ...value, period: chosen });
          }}
        />
      </Group>
      {value !== null && <ShadowSwitch value={value} onChange={onChange} disabled={disabled} name={label} />}
    </>
  );
}
