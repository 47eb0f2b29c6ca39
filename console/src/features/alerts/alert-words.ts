import { type Alert, alertSentence } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import type { Tone } from "../../components/status-badge.tsx";
import { language } from "../../language/index.ts";
import { parseSearch } from "../../routes/search.ts";

/** What happened, in the language of the page. */
export function alertWords({ kind, facts }: Pick<Alert, "kind" | "facts">): string {
  return alertSentence({ kind, facts }, language);
}

/** The page about the cause. `page`: a path below `/console`. */
export function linkOf(page: string): LinkProps {
  const [path = "/", search = ""] = page.split("?");
  return { to: path, search: parseSearch(search) } as LinkProps;
}

export function toneOfAlert({ state, severity }: Pick<Alert, "state" | "severity">): Tone {
  if (state === "resolved") return "good";
  return severity === "critical" ? "bad" : "warn";
}
