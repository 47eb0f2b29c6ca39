import { guardrailVerdicts } from "@sluice/contract/words";
import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/requests.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { verdictWords } from "../guardrail-marks.tsx";
import { ChoiceFilter } from "./choice-filter.tsx";

const verdicts = guardrailVerdicts.map((value) => ({ value, label: verdictWords[value] }));
const refusals = [{ value: "true", label: t("requests.guardrail.wouldRefuse") }];

/** Filters by the findings of guardrails, and by refusals of shadow mode. */
export function GuardrailFilters() {
  const { path, none } = useWorkspace();
  const guardrails = useCall("guardrails.list", { params: { workspace: path }, enabled: !none });
  const choices = (guardrails.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <>
      <ChoiceFilter
        name="guardrail"
        label={t("requests.guardrail.filter")}
        choices={[{ value: "any", label: t("requests.guardrail.any") }, ...choices]}
      />
      <ChoiceFilter name="guardrail_verdict" label={t("requests.guardrail.verdict")} choices={verdicts} />
      <ChoiceFilter name="would_refuse" label={t("requests.guardrail.shadow")} choices={refusals} />
    </>
  );
}
