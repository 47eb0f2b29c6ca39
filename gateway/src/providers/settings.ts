import type { Provider } from "#core/index.ts";

/** A setting that is a text; null when it is absent or empty. */
export function settingText({ settings }: Pick<Provider, "settings">, name: string): string | null {
  const value = settings[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** The texts of a setting that is a list; none when it is absent. */
export function settingList({ settings }: Provider, name: string): readonly string[] {
  const value = settings[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : none;
}

const none: readonly string[] = [];

/**
 * Whether addresses that callers name may be left for this upstream to fetch. One in a private network would reach what
 * its callers must not, unless its operator says that it cannot; of any other its operator may say that it does not fetch.
 */
export function mayFetch({ settings, allowPrivateNetwork }: Provider): boolean {
  const said = settings["fetches_urls"];
  return typeof said === "boolean" ? said : !allowPrivateNetwork;
}

/** Whether the operator lets every workspace that reaches this account name this object. */
export function allowsObject(provider: Provider, id: string): boolean {
  return settingList(provider, "objects").some((one) =>
    one.endsWith("*") ? id.startsWith(one.slice(0, -1)) : id === one,
  );
}

/** Whether the operator lets this member through to this account, by its own name or that of the object that holds it. */
export function passesMember(provider: Provider, name: string): boolean {
  const passed = provider.settings["pass_members"];
  return Array.isArray(passed) && (passed.includes(name) || passed.includes(name.split(".", 1)[0]));
}

/** What is wrong with a name that becomes part of a host or a path; null when nothing is. */
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
