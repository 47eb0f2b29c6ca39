import type { BudgetConfig, LimitsConfig } from "@sluice/contract";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { LimitsForm } from "../../components/limits-form.tsx";
import { PassThroughField } from "../../components/pass-through-field.tsx";
import { PatternsInput } from "../../components/patterns-input.tsx";
import { ShadowGrant } from "../../components/shadow-switch.tsx";
import { t } from "../../language/areas/workspaces.ts";
import { FullBudgetForm } from "../limits/full-budget-form.tsx";

/** Limits and grants of a workspace or group. */
export interface Bounds {
  readonly models: readonly string[];
  readonly enforce_models: boolean;
  /** Ids of providers. */
  readonly pass_through: readonly string[];
  readonly limits: LimitsConfig;
  readonly budget: BudgetConfig | null;
}

interface BoundsFieldsProps {
  readonly value: Bounds;
  readonly onChange: (changes: Partial<Bounds>) => void;
  readonly problem: Problem | null;
  readonly disabled?: boolean;
  readonly wider?: LimitsConfig;
}

export function BoundsFields({ value, onChange, problem, disabled = false, wider }: BoundsFieldsProps) {
  return (
    <>
      <PatternsInput
        label={t("workspaces.fields.models")}
        value={value.models}
        onChange={(models) => onChange({ models })}
        disabled={disabled}
        error={wrongField(problem, "models")}
      />
      {!value.models.includes("*") && (
        <ShadowGrant
          enforced={value.enforce_models}
          onChange={(enforced) => onChange({ enforce_models: enforced })}
          disabled={disabled}
          name={t("workspaces.fields.models")}
        />
      )}
      <PassThroughField
        value={value.pass_through}
        onChange={(providers) => onChange({ pass_through: providers })}
        disabled={disabled}
        error={wrongField(problem, "pass_through")}
      />
      <LimitsForm
        value={value.limits}
        onChange={(limits) => onChange({ limits })}
        disabled={disabled}
        {...(wider === undefined ? {} : { wider })}
      />
      <FullBudgetForm value={value.budget} onChange={(budget) => onChange({ budget })} disabled={disabled} />
    </>
  );
}

/** The changed fields in the gateway's format. */
export function changedBounds(
  before: Bounds,
  after: Bounds,
): { models?: string[]; pass_through?: string[] } & Partial<Omit<Bounds, "models" | "pass_through">> {
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  return {
    ...(differs(before.models, after.models) ? { models: [...after.models] } : {}),
    ...(before.enforce_models === after.enforce_models ? {} : { enforce_models: after.enforce_models }),
    ...(differs(before.pass_through, after.pass_through) ? { pass_through: [...after.pass_through] } : {}),
    ...(differs(before.limits, after.limits) ? { limits: after.limits } : {}),
    ...(differs(before.budget, after.budget) ? { budget: after.budget } : {}),
  };
}
