import type { RehearsalResult } from "@sluice/contract";
import { t } from "../../../language/areas/rehearsals.ts";

type Limit = RehearsalResult["rules"][number]["limit"];

export const limitNames: Readonly<Record<Limit, string>> = {
  rpm: t("rehearsals.limitNames.rpm"),
  tpm: t("rehearsals.limitNames.tpm"),
  concurrency: t("rehearsals.limitNames.concurrency"),
  budget: t("rehearsals.limitNames.budget"),
  models: t("rehearsals.limitNames.models"),
  deployments: t("rehearsals.limitNames.deployments"),
  guardrail: t("rehearsals.limitNames.guardrail"),
};

/** `API key acme/ci`, from the gateway's label `key acme/ci`. */
export function objectWords({ scope, label }: Pick<RehearsalResult["rules"][number], "scope" | "label">): string {
  const prefix = `${scope} `;
  return t(`rehearsals.objects.${scope}`, { name: label.startsWith(prefix) ? label.slice(prefix.length) : label });
}
