import type { RequestRow } from "@sluice/contract";
import { IconEyeOff, IconShieldHalf } from "@tabler/icons-react";
import { t } from "../../language/areas/requests.ts";

type Verdict = NonNullable<RequestRow["guardrail_verdict"]>;

export const verdictWords: Readonly<Record<Verdict, string>> = {
  blocked: t("requests.guardrail.verdicts.blocked"),
  masked: t("requests.guardrail.verdicts.masked"),
  flagged: t("requests.guardrail.verdicts.flagged"),
  failed: t("requests.guardrail.verdicts.failed"),
};

/** Small marks of a row: the result of its guardrails, and that shadow mode would have refused it. */
export function GuardrailMarks({ row }: { readonly row: Pick<RequestRow, "guardrail_verdict" | "would_refuse"> }) {
  const { guardrail_verdict: verdict = null, would_refuse: wouldRefuse = false } = row;
  return (
    <>
      {verdict !== null && (
        <span className="guardrail-mark" title={verdictWords[verdict]}>
          <IconShieldHalf size={14} aria-hidden />
          <span className="unseen">{verdictWords[verdict]}</span>
        </span>
      )}
      {wouldRefuse && (
        <span className="guardrail-mark" title={t("requests.guardrail.wouldRefuse")}>
          <IconEyeOff size={14} aria-hidden />
          <span className="unseen">{t("requests.guardrail.wouldRefuse")}</span>
        </span>
      )}
    </>
  );
}
