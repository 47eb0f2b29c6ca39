import type { Provider } from "#core/index.ts";

/** A text setting; null if absent or empty. */
export function settingText({ settings }: Pick<Provider, "settings">, name: string): string | null {
  const value = settings[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** A list setting; empty if absent. */
export function settingList({ settings }: Provider, name: string): readonly string[] {
  const value = settings[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : none;
}

const none: readonly string[] = [];

/**
 * Whether the upstream may fetch URLs of callers. By default not in a private network, where it might reach internal
 * services; the operator may override both.
 */
export function mayFetch({ settings, allowPrivateNetwork }: Provider): boolean {
  const configured = settings["fetches_urls"];
  return typeof configured === "boolean" ? configured : !allowPrivateNetwork;
}

/** Whether every workspace with access to the account may use this object. */
export function allowsObject(provider: Provider, id: string): boolean {
  return settingList(provider, "objects").some((one) =>
    one.endsWith("*") ? id.startsWith(one.slice(0, -1)) : id === one,
  );
}

/** Whether a restricted field is allowed for this account, by its name or its parent's. */
export function passesMember(provider: Provider, name: string): boolean {
  const allowed = provider.settings["pass_members"];
  return Array.isArray(allowed) && (allowed.includes(name) || allowed.includes(name.split(".", 1)[0]));
}

/** A problem with a name that becomes part of a host or path; null if there is none. */
export function nameProblem(provider: Provider, name: string): string | null {
  const value = provider.settings[name];
  if (value === undefined) return null;
  if (typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(value)) return null;
  return `settings.${name} must be a name of letters, digits and dashes`;
}

/** A problem with two settings that need each other; null if both or none are set. */
export function pairProblem(provider: Provider, one: string, other: string): string | null {
  const isPair = (settingText(provider, one) === null) === (settingText(provider, other) === null);
  return isPair ? null : `settings.${one} and settings.${other} must be set together`;
}

/** Appends `path` to a base URL without a path. */
export function withDefaultPath(provider: Provider, path: string): string {
  return /^[a-z]+:\/\/[^/]+\/*$/.test(provider.baseUrl) ? provider.baseUrl.replace(/\/*$/, path) : provider.baseUrl;
}

/** Appends `/v1` to a base URL without a version, as Anthropic's SDKs do. */
export function withVersion(provider: Provider): string {
  const base = provider.baseUrl.replace(/\/+$/, "");
  return /\/v\d+[a-z0-9]*$/.test(base) ? base : `${base}/v1`;
}

/** Some vendors refuse queries of other dialects, such as Anthropic's `?beta=true`. */
export function withoutQuery(url: string): string {
  const at = url.indexOf("?");
  return at === -1 ? url : url.slice(0, at);
}
