import { type Provider, Secret } from "#core/index.ts";
import { isReference } from "#credentials/index.ts";
import { networkProblem } from "./network-settings.ts";
import { settingIsShown } from "./setting-secrets.ts";

/** The secret references of an account, by the name of their field. */
export function referencesOf({ kind, secret, settings }: Provider): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const key = secret?.reveal().trim() ?? "";
  if (isReference(key)) found.set("api_key", key);
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "string" && isReference(value) && !settingIsShown(kind, name)) found.set(name, value);
  }
  return found;
}

/** A secret, or the reason why it cannot be read. */
export type ReadSecret = { readonly value: string } | { readonly problem: string };

/** The account with its secrets in place of their references. Without one of them, calls fail with the reason. */
export function withSecrets(provider: Provider, secretOf: (reference: string) => ReadSecret): Provider {
  const references = referencesOf(provider);
  if (references.size === 0) return provider;
  let { secret } = provider;
  let problem: string | null = null;
  const settings: Record<string, unknown> = { ...provider.settings };
  for (const [name, reference] of references) {
    const read = secretOf(reference);
    const value = "value" in read ? read.value : null;
    if ("problem" in read) problem = read.problem;
    if (name === "api_key") secret = value === null ? null : new Secret(value);
    else if (value === null) delete settings[name];
    else settings[name] = value;
  }
  const resolved = { ...provider, secret, settings: Object.freeze(settings) };
  problem ??= networkProblem(resolved);
  return Object.freeze({
    ...resolved,
    references: Object.freeze([...new Set(references.values())]),
    ...(problem === null ? {} : { unusable: problem }),
  });
}
