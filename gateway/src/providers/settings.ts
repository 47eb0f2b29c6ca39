import type { Provider } from "#core/index.ts";

/** A setting that is a text; null when it is absent or empty. */
export function settingText(provider: Provider, name: string): string | null {
  const value = provider.settings[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** What is wrong with a name that becomes part of a host or a path; null when nothing is. */
export function nameProblem(provider: Provider, name: string): string | null {
  const value = provider.settings[name];
  if (value === undefined) return null;
  if (typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(value)) return null;
  return `settings.${name} must be a name of letters, digits and dashes`;
}
