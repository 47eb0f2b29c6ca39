import type { Explanation } from "@sluice/contract";
import { t } from "../../../language/areas/requests.ts";
import { locale } from "../../../language/chosen.ts";
import { requests } from "../../../language/en/requests.ts";
import { remarks } from "../../../language/remark.ts";

type Place = Explanation["plan"][number];
type Reason = Place["reasons"][number];

const reasonWords = remarks(t, "requests.plan.place", requests.plan.place);
const stepWords = remarks(t, "requests.plan.step", requests.plan.step);
const lists = new Intl.ListFormat(locale, { type: "unit" });

/** Explains the position of a deployment in the plan; null if there is nothing to explain. */
export function placeWords({ note, reasons }: Place): string | null {
  return note === null ? null : listed(reasons, note);
}

/** Why a deployment was unhealthy when the plan was made. null: it was healthy. */
export function troubleWords({ note, reasons }: Place): string | null {
  const at = reasons.findIndex(({ code }) => troubles.has(code));
  return at < 0 ? null : listed(reasons.slice(at), note ?? "");
}

export function isLeftOut({ reasons }: Place): boolean {
  return reasons.some(({ code }) => leftOut.has(code));
}

/** The steps, one line each. Uses the plan's names of deployments, not their ids. */
export function walkLines({ walk, steps, plan }: Explanation): readonly string[] {
  const names = new Map(plan.map((step) => [step.deployment, `${step.provider} (${step.upstream_model})`]));
  return walk.map((line, at) => {
    const step = steps[at];
    const named = line.replaceAll(/[^\s:,;]+/g, (word) => names.get(word) ?? word);
    const deployment = step?.params["deployment"];
    if (step === undefined || deployment === undefined) return stepWords(step, named);
    return stepWords(
      { ...step, params: { ...step.params, deployment: names.get(String(deployment)) ?? deployment } },
      named,
    );
  });
}

function listed(reasons: readonly Reason[], sentence: string): string {
  const words = reasons.map((reason) => reasonWords(reason, ""));
  return words.includes("") ? sentence : lists.format(words);
}

const troubles: ReadonlySet<Reason["code"]> = new Set(["full", "half_open", "cooling", "breaker_open"]);
const leftOut: ReadonlySet<Reason["code"]> = new Set([
  "deployment_disabled",
  "provider_disabled",
  "cannot_serve",
  "other_account",
  "no_weight",
  "duplicate",
]);
