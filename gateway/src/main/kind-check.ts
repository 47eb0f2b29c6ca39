import type { ProviderConfig } from "@sluice/contract";
import type { ConfigCheck } from "#config/index.ts";
import { defaultTimeouts, type Provider, Secret } from "#core/index.ts";
import { defaultBaseUrl, providerKind, settingsProblem } from "#providers/index.ts";
import { kindConflicts } from "#storage/index.ts";

/** What a provider of a kind has unless it is told otherwise; null when there is no such kind. */
export function kindDefaults(
  kind: string,
  config: ProviderConfig,
): { readonly baseUrl: string | null; readonly problem: string | null } | null {
  const known = providerKind(kind);
  if (known === null) return null;
  const provider = providerOf(config);
  const problem = settingsProblem(known, provider);
  return { problem, baseUrl: defaultBaseUrl(known, provider) };
}

/** Every provider of a config file is of a kind there is, has settings of that kind, and an address. */
export const kindCheck: ConfigCheck = (config) => kindConflicts(config.providers ?? [], kindDefaults);

function providerOf(config: ProviderConfig): Provider {
  return {
    id: config.id,
    kind: config.kind,
    baseUrl: config.base_url ?? "",
    secret: config.api_key === undefined ? null : new Secret(config.api_key),
    allowPrivateNetwork: config.allow_private_network ?? false,
    timeouts: defaultTimeouts,
    disconnect: config.disconnect ?? "cancel",
    settings: config.settings ?? {},
    enabled: config.enabled ?? true,
  };
}
