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

/** The base URL with `path` behind it where the operator wrote the host alone. */
export function withDefaultPath(provider: Provider, path: string): string {
  return /^[a-z]+:\/\/[^/]+\/*$/.test(provider.baseUrl) ? provider.baseUrl.replace(/\/*$/, path) : provider.baseUrl;
}

/** The base URL with `/v1` at its end, as the SDKs of Anthropic's API complete what they are given. */
export function withVersion(provider: Provider): string {
  const base = provider.baseUrl.replace(/\/+$/, "");
  return /\/v\d+[a-z0-9]*$/.test(base) ? base : `${base}/v1`;
}

/** For addresses that know no query of the caller's dialect, such as Anthropic's `?beta=true`. */
export function withoutQuery(url: string): string {
  const at = url.indexOf("?");
  return at === -1 ? url : url.slice(0, at);
}
