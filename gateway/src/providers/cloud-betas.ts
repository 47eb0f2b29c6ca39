import type { Provider } from "#core/index.ts";
import type { Warn } from "#protocols/index.ts";

/**
 * Clouds refuse the whole request for a beta that they do not know, and clients name many that only Anthropic's own
 * API has. These are the ones that clouds take; `settings.betas` of a provider says it otherwise, "*" takes all.
 */
const usual: readonly string[] = [
  "interleaved-thinking-2025-05-14",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "compact-2026-01-12",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
];

/** Of the betas that a caller names, those that this account takes. */
export function takenBetas(provider: Provider, named: readonly string[], warn?: Warn): readonly string[] {
  const taken = betasSetting(provider) ?? usual;
  const kept = [...new Set(named)].filter((beta) => taken.includes("*") || taken.includes(beta));
  if (kept.length < new Set(named).size) warn?.("betas that the upstream does not take were left out");
  return kept;
}

export function namedBetas(header: string | undefined): readonly string[] {
  return (header ?? "").split(",").flatMap((beta) => beta.trim() || []);
}

/** What is wrong with `settings.betas`; null when nothing is. */
export function betasProblem(provider: Provider): string | null {
  const said = provider.settings["betas"];
  if (said === undefined || (Array.isArray(said) && said.every((beta) => typeof beta === "string"))) return null;
  return "settings.betas must be a list of names of betas";
}

function betasSetting(provider: Provider): readonly unknown[] | null {
  const said = provider.settings["betas"];
  return Array.isArray(said) ? said : null;
}
