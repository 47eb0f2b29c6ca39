import type { ConsoleGuardrail } from "@sluice/contract";
import { t } from "../../language/areas/guardrails.ts";

const typesShown = 2;

/** `Email addresses, Card numbers and 2 more`; without the check, its kind. */
export function findsWords({ kind, check }: Pick<ConsoleGuardrail, "kind" | "check">): string {
  switch (check?.kind) {
    case "personal_data": {
      const { types = [] } = check;
      if (types.length === 0) return t("guardrails.finds.allTypes");
      const names = types
        .slice(0, typesShown)
        .map((type) => t(`guardrails.types.${type}`))
        .join(", ");
      const count = types.length - typesShown;
      return count > 0 ? t("guardrails.finds.more", { names, count }) : t("guardrails.finds.types", { names });
    }
    case "words":
      return t("guardrails.finds.words", { count: check.words.length });
    case "patterns":
      return t("guardrails.finds.patterns", { count: check.patterns.length });
    case "moderation":
    case "classifier":
      return `${t(`guardrails.kinds.${kind}`)}: ${check.model}`;
    default:
      return t(`guardrails.kinds.${kind}`);
  }
}

/** `Every call of the workspace`, `2 groups, 1 key` */
export function scopeWords(guardrail: ConsoleGuardrail): string {
  const { workspace, workspaces, groups, keys } = guardrail;
  if (guardrail.all_calls) {
    return workspace === null ? t("guardrails.scope.installation") : t("guardrails.scope.workspace");
  }
  // Its own workspace is the one on the page.
  if (guardrail.inherited && workspaces.length > 0) return t("guardrails.scope.workspace");
  return [
    ...(workspaces.length === 0 ? [] : [t("guardrails.scope.workspaces", { count: workspaces.length })]),
    ...(groups.length === 0 ? [] : [t("guardrails.scope.groups", { count: groups.length })]),
    ...(keys.length === 0 ? [] : [t("guardrails.scope.keys", { count: keys.length })]),
  ].join(", ");
}
