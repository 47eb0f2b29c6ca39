import { Fieldset, Select, Stack, TextInput } from "@mantine/core";
import type { BudgetConfig } from "@sluice/contract";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { BudgetAmount, BudgetForm } from "../../components/budget-form.tsx";
import { t } from "../../language/areas/limits.ts";
import { withFallback, withIncrease } from "./budget-increase.ts";

interface FullBudgetFormProps {
  readonly value: BudgetConfig | null;
  readonly onChange: (budget: BudgetConfig | null) => void;
  readonly disabled?: boolean;
}

/** A budget with its fallback model and its temporary increase. */
export function FullBudgetForm({ value, onChange, disabled = false }: FullBudgetFormProps) {
  // While the amount is empty, there is no budget that could contain the other fields.
  const [last, setLast] = useState(value);
  const change = (budget: BudgetConfig | null) => {
    if (budget !== null) setLast(budget);
    onChange(budget);
  };
  const changeWindow = (budget: BudgetConfig | null) => {
    if (budget === null || value !== null || last === null) return change(budget);
    change(withFallback(withIncrease(budget, last.increase), last.over));
  };
  return (
    <>
      <BudgetForm value={value} onChange={changeWindow} disabled={disabled} />
      {value !== null && (
        <>
          <FallbackField value={value} onChange={change} disabled={disabled} />
          <IncreaseFields value={value} onChange={change} disabled={disabled} />
        </>
      )}
    </>
  );
}

interface FieldProps {
  readonly value: BudgetConfig;
  readonly onChange: (budget: BudgetConfig) => void;
  readonly disabled: boolean;
}

/** The model for calls that the budget has no money for; empty: they are refused. */
function FallbackField({ value, onChange, disabled }: FieldProps) {
  const models = useCall("models.list").data?.data ?? [];
  const names = models.map(({ name }) => name);
  const fallback = typeof value.over === "object" ? value.over.fallback : "";
  const missing = fallback === "" || names.includes(fallback) ? [] : [fallback];
  return (
    <Select
      label={t("limits.policy.over")}
      description={t("limits.policy.overHelp")}
      data={[
        { value: "", label: t("limits.policy.refuse") },
        ...[...missing, ...names].map((name) => ({ value: name, label: name })),
      ]}
      value={fallback}
      onChange={(model) =>
        onChange(withFallback(value, model === null || model === "" ? undefined : { fallback: model }))
      }
      allowDeselect={false}
      disabled={disabled}
      searchable
      limit={50}
    />
  );
}

/** More money for a time. */
function IncreaseFields({ value, onChange, disabled }: FieldProps) {
  const { increase } = value;
  const [until, setUntil] = useState(() => (increase === undefined ? "" : localTime(Date.parse(increase.until))));
  const [reason, setReason] = useState(increase?.reason ?? "");
  const change = (next: { readonly usd?: number | null; readonly until?: string; readonly reason?: string }) => {
    const { usd = increase?.usd ?? null, until: ends = until, reason: why = reason } = next;
    setUntil(ends);
    setReason(why);
    onChange(withIncrease(value, usd === null ? undefined : { usd, until: isoTime(ends), reason: why }));
  };
  return (
    <Fieldset legend={t("limits.policy.increase")} disabled={disabled}>
      <Stack gap="sm">
        <BudgetAmount
          label={t("limits.policy.increaseUsd")}
          description={t("limits.policy.increaseHelp")}
          value={increase?.usd ?? null}
          onChange={(usd) => change({ usd })}
        />
        {increase !== undefined && (
          <>
            <TextInput
              type="datetime-local"
              label={t("limits.policy.increaseUntil")}
              value={until}
              onChange={(event) => change({ until: event.currentTarget.value })}
            />
            <TextInput
              label={t("limits.policy.increaseReason")}
              maxLength={500}
              value={reason}
              onChange={(event) => change({ reason: event.currentTarget.value })}
            />
          </>
        )}
      </Stack>
    </Fieldset>
  );
}

/** For a field of date and time, in the time zone of the browser. */
function localTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Empty: not a time. */
function isoTime(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}
