import { Select } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { LimitsForm } from "../../components/limits-form.tsx";
import { ShadowGrant } from "../../components/shadow-switch.tsx";
import { t } from "../../language/areas/keys.ts";
import { FullBudgetForm } from "../limits/full-budget-form.tsx";
import { type KeyDraft, leastLimits } from "./key-draft.ts";
import { KeyModelsField } from "./key-models-field.tsx";
import type { KeyFieldsProps } from "./key-more-fields.tsx";

const defaultGroup = "default";

interface KeyScopeFieldsProps extends Omit<KeyFieldsProps, "draft" | "isNew"> {
  /** Without `enforceModels`, the models are always enforced. */
  readonly draft: Pick<KeyDraft, "group" | "models" | "limits" | "budget"> & Partial<Pick<KeyDraft, "enforceModels">>;
  readonly mayChooseGroup: boolean;
  /** The owner of the key has a budget. */
  readonly hasOwnerBudget?: boolean;
}

/** The group, models, limits and budget of a key. */
export function KeyScopeFields(props: KeyScopeFieldsProps) {
  const { workspace, draft, onChange, problem, disabled = false, mayChooseGroup, hasOwnerBudget = false } = props;
  const params = { workspace };
  const groups = useCall("groups.list", { params });
  const home = useCall("workspaces.show", { params });
  const all = groups.data?.data ?? [];
  const group = all.find((each) => each.id === draft.group) ?? all.find((each) => each.name === defaultGroup);
  const wider = leastLimits(home.data?.limits ?? {}, group?.limits ?? {});
  return (
    <>
      <Select
        label={t("keys.group")}
        description={mayChooseGroup ? t("keys.fields.groupHelp") : t("keys.fields.groupOnlyAdmins")}
        data={all.map((each) => ({ value: each.id, label: each.name }))}
        value={group?.id ?? null}
        onChange={(id) => onChange({ group: id ?? "" })}
        allowDeselect={false}
        searchable={all.length > 8}
        disabled={disabled || !mayChooseGroup || groups.data === undefined}
        error={wrongField(problem, "group") ?? groups.error?.message ?? null}
      />
      <KeyModelsField
        models={draft.models}
        onChange={(models) => onChange({ models })}
        disabled={disabled}
        error={wrongField(problem, "models")}
        workspace={enforcedModels(home.data)}
        group={enforcedModels(group)}
        hasBudget={hasOwnerBudget || [draft, group, home.data].some((each) => each?.budget != null)}
      />
      {draft.models !== null && draft.enforceModels !== undefined && (
        <ShadowGrant
          enforced={draft.enforceModels}
          onChange={(enforceModels) => onChange({ enforceModels })}
          disabled={disabled}
          name={t("keys.models.title")}
        />
      )}
      <LimitsForm value={draft.limits} onChange={(limits) => onChange({ limits })} wider={wider} disabled={disabled} />
      <FullBudgetForm value={draft.budget} onChange={(budget) => onChange({ budget })} disabled={disabled} />
    </>
  );
}

/** null while they load. */
function enforcedModels(
  holder: { readonly models: readonly string[]; readonly enforce_models: boolean } | undefined,
): readonly string[] | null {
  if (holder === undefined) return null;
  return holder.enforce_models ? holder.models : everyModel;
}

const everyModel = ["*"] as const;
