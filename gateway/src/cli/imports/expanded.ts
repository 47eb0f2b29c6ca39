import { isIP } from "node:net";
import type { ImportDraft } from "#ports/index.ts";
import { addressKind } from "#upstream/index.ts";

type Provider = ImportDraft["providers"][number];

/**
 * Replaces `${NAME}`, if it is the whole value of a field of a provider. `missing`: variables that are not set, and this gateway's own,
 * which must not be sent to an address of the other gateway's data. For a plan their fields keep the name, and a base URL gets a
 * placeholder, so that everything else can be checked. Allows private addresses where a base URL is one.
 */
export function expanded(
  draft: ImportDraft,
  variables: Readonly<Record<string, string | undefined>>,
  forPlan: boolean,
): { readonly draft: ImportDraft; readonly missing: readonly string[] } {
  const missing = new Set<string>();
  const expand = <Value>(value: Value): Value | string => {
    const name = typeof value === "string" ? /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value)?.[1] : undefined;
    if (name === undefined) return value;
    const found = Object.hasOwn(variables, name) && !name.startsWith("SLUICE_") ? variables[name] : undefined;
    if (found === undefined || found === "") missing.add(name);
    return found ?? value;
  };
  const providers = draft.providers.map((provider): Provider => {
    const { api_key, base_url, settings } = provider;
    const found = base_url === undefined ? undefined : expand(base_url);
    const address = forPlan && found === base_url && found?.startsWith("${") === true ? placeholder : found;
    return {
      ...provider,
      ...(api_key === undefined ? {} : { api_key: expand(api_key) }),
      ...(address === undefined ? {} : { base_url: address }),
      ...(address === undefined || !isPrivate(address) ? {} : { allow_private_network: true }),
      ...(settings === undefined
        ? {}
        : { settings: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, expand(value)])) }),
    };
  });
  return { draft: { ...draft, providers }, missing: [...missing] };
}

const placeholder = "https://not-set.invalid";

/** A private or loopback address, or a name of the own network. */
function isPrivate(address: string): boolean {
  const host = URL.parse(address)?.hostname.replaceAll(/^\[|\]$/g, "");
  if (host === undefined || host === "") return false;
  if (isIP(host) !== 0) return addressKind(host) === "private";
  return !host.includes(".") || /\.(local|internal|lan|svc|localhost)$/.test(host);
}
