import type { AttentionItem } from "@sluice/contract";
import { formatDuration, formatUsdShort } from "../../client/format.ts";
import { t } from "../../language/areas/attention.ts";
import { locale } from "../../language/chosen.ts";
import { attention } from "../../language/en/attention.ts";
import { remarks } from "../../language/remark.ts";

const sentence = remarks(t, "attention.finding", attention.finding);
const hourMs = 3_600_000;
const listed = new Intl.ListFormat(locale);

/** The finding as one sentence, with amounts and times formatted. */
export function findingWords({ finding, text }: AttentionItem): string {
  const { code, params } = finding;
  return sentence({ code, params: { ...params, ...formatted(params) } }, text);
}

function formatted(params: AttentionItem["finding"]["params"]): Record<string, string> {
  const { used, limit, hours, check } = params;
  return {
    ...(typeof used === "number" ? { used: formatUsdShort(used) } : {}),
    ...(typeof limit === "number" ? { limit: formatUsdShort(limit) } : {}),
    ...(typeof hours === "number" ? { hours: formatDuration(hours * hourMs) } : {}),
    ...(typeof check === "string" && check in attention.check ? { check: checkWords([check as Check]) } : {}),
  };
}

type Check = keyof typeof attention.check;

/** "budgets, error rate" */
export function checkWords(checks: readonly Check[]): string {
  return listed.format(checks.map((check) => t(`attention.check.${check}`)));
}
