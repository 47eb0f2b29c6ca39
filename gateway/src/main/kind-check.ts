import type { Conflict, ProviderConfig } from "@sluice/contract";
import { type ConfigCheck, didYouMean } from "#config/index.ts";
import { defaultTimeouts, type Provider, Secret } from "#core/index.ts";
import { kindConflicts } from "#directory/index.ts";
import { looksLikeAdminToken, looksLikeScimToken } from "#identity/index.ts";
import {
  defaultBaseUrl,
  kindForm,
  providerKind,
  providerKinds,
  settingsProblem,
  wrongSettings,
} from "#providers/index.ts";

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

/** Every provider of a config file is of a kind there is, has settings of that kind and no others, and an address. */
export const kindCheck: ConfigCheck = (config) => {
  const providers = config.providers ?? [];
  const misspelt = providers.flatMap((provider, index) => settingConflicts(provider, index));
  const told = new Set(misspelt.map(({ path }) => path[1]));
  const others = kindConflicts(providers, kindDefaults).flatMap((conflict): Conflict[] => {
    const provider = providers[Number(conflict.path[1])];
    if (provider === undefined || providerKind(provider.kind) !== null) {
      // What the settings lack may be what was misspelt.
      return told.has(conflict.path[1] ?? "") ? [] : [conflict];
    }
    const hint = didYouMean(provider.kind, kindIds);
    return [{ ...conflict, message: `${conflict.message}${hint === "" ? `; there are ${kindIds.join(", ")}` : hint}` }];
  });
  return [...misspelt, ...others, ...secretConflicts(config)];
};

const kindIds = providerKinds.map(({ id }) => id);

function settingConflicts({ kind: id, settings }: ProviderConfig, index: number): readonly Conflict[] {
  const kind = providerKind(id);
  if (kind === null || settings === undefined) return [];
  const names = kindForm(kind).fields.map(({ name }) => name);
  return wrongSettings(kind, settings).map(({ name, what, problem }) => ({
    path: ["providers", index, "settings", name],
    message: what === "unknown" ? `${problem}${settingHint(name, names)}` : problem,
  }));
}

function settingHint(name: string, names: readonly string[]): string {
  const hint = didYouMean(name, names);
  if (hint !== "") return hint;
  return names.length === 0 ? "; it has none" : `; it has ${names.join(", ")}`;
}

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

/** A secret that is not of the kind that is made would never be taken. */
function secretConflicts({ tokens = [] }: Parameters<ConfigCheck>[0]): readonly Conflict[] {
  return tokens.flatMap(({ secret, scim }, index): Conflict[] =>
    secret === undefined || (scim === true ? looksLikeScimToken(secret) : looksLikeAdminToken(secret))
      ? []
      : [
          {
            path: ["tokens", index, "secret"],
            message:
              scim === true
                ? "is no secret of a token for SCIM; `sluice token secret --scim` makes one"
                : "is no secret of an admin token; `sluice token secret` makes one",
          },
        ],
  );
}
