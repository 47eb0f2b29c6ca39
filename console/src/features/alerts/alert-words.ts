import { type Alert, alertSentence } from "@sluice/contract";
import type { Tone } from "../../components/status-badge.tsx";
import { language } from "../../language/index.ts";

/** The alert as a sentence in the language of the page. */
export function alertWords({ kind, facts }: Pick<Alert, "kind" | "facts">): string {
  return alertSentence({ kind, facts }, language);
}

export function toneOfAlert({ state, severity }: Pick<Alert, "state" | "severity">): Tone {
  if (state === "resolved") return "good";
  return severity === "critical" ? "bad" : "warn";
}
