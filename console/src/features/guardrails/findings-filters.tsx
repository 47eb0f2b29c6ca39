import { guardrailSides, guardrailVerdicts } from "@sluice/contract/words";
import { useCall } from "../../api/use-call.ts";
import { FilterBar } from "../../components/filter-bar.tsx";
import { TimeRange } from "../../components/time-range.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { KeyFilter } from "../requests/list/key-filter.tsx";
import { ModelFilter } from "../requests/list/model-filter.tsx";
import { NameFilter } from "../requests/list/name-filter.tsx";
import { PersonFilter } from "../requests/list/person-filter.tsx";
import { type findingsFilters, findingsRange } from "./findings-view.ts";

interface FindingsFiltersProps {
  readonly workspace: string;
  /** Types that were found, as suggestions. */
  readonly types: readonly string[];
  /** Guardrails with findings, which may have been deleted. */
  readonly found: readonly { readonly id: string; readonly name: string }[];
}

export function FindingsFilters({ workspace, types, found }: FindingsFiltersProps) {
  const current = useCall("guardrails.list", { params: { workspace } });
  const names = new Map([...found, ...(current.data?.data ?? [])].map(({ id, name }) => [id, name]));
  return (
    <>
      <TimeRange fallback={findingsRange} />
      <FilterBar
        alsoClears={["type", "key", "person", "model"] satisfies readonly (typeof findingsFilters)[number][]}
        filters={[
          {
            name: "rule",
            label: t("guardrails.guardrail"),
            choices: [...names].map(([value, label]) => ({ value, label })),
          },
          {
            name: "verdict",
            label: t("guardrails.findings.result"),
            choices: guardrailVerdicts.map((value) => ({ value, label: t(`guardrails.verdicts.${value}`) })),
          },
          {
            name: "enforced",
            label: t("guardrails.findings.mode"),
            choices: [
              { value: "true", label: t("guardrails.form.enforce") },
              { value: "false", label: t("guardrails.list.shadow") },
            ],
          },
          {
            name: "side",
            label: t("guardrails.findings.side"),
            choices: guardrailSides.map((value) => ({ value, label: t(`guardrails.sides.${value}`) })),
          },
        ]}
      >
        <NameFilter name="type" label={t("guardrails.findings.type")} names={types} />
        <ModelFilter />
        <KeyFilter />
        <PersonFilter />
      </FilterBar>
    </>
  );
}
