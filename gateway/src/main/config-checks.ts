import type { Conflict, ProviderConfig } from "@sluice/contract";
import type { ConfigFile, ModelConfig } from "@sluice/contract/config-file";
import { type ConfigCheck, didYouMean } from "#config/index.ts";
import { declaredProvider, piecesMatch } from "#core/index.ts";
import { kindConflicts } from "#directory/index.ts";
import { hasAdminTokenFormat, hasScimTokenFormat } from "#identity/index.ts";
import {
  defaultBaseUrl,
  kindForm,
  providerKind,
  providerKinds,
  settingsProblem,
  wrongSettings,
} from "#providers/index.ts";
import { addressKind } from "#upstream/index.ts";

/**
 * Warns of settings that are valid but do not work, or not as expected. Models and providers may also be created in the console, so
 * there is no warning about objects that the file does not declare. `now` is in Unix milliseconds.
 */
export function configWarnings(now: number): ConfigCheck {
  return (config) => [
    ...providerWarnings(config),
    ...modelWarnings(config, now),
    ...unpricedWarnings(config),
    ...grantWarnings(config),
    ...expiredWarnings(config, now),
  ];
}

function providerWarnings({ providers = [] }: ConfigFile): readonly Conflict[] {
  return providers.flatMap((provider, index): Conflict[] => {
    const { base_url, allow_private_network } = provider;
    const path = base_url === undefined ? ["providers", index] : ["providers", index, "base_url"];
    const address = base_url ?? kindDefaults(provider.kind, provider)?.baseUrl ?? "";
    const host = URL.parse(address)?.hostname.replace(/^\[|\]$/g, "") ?? "";
    const kind = kindOfHost(host);
    if (kind === "forbidden")
      return [{ path, message: `${host} is never allowed as an upstream: every call will fail` }];
    if (kind === "public" || allow_private_network === true) return [];
    const message = `${host} is a private address: every call will fail without \`allow_private_network: true\``;
    return [{ path, message }];
  });
}

/** Host names are resolved at each call, so they count as public. */
function kindOfHost(host: string): "public" | "private" | "forbidden" {
  if (/^[\d.]+$/.test(host) || host.includes(":")) return addressKind(host);
  return host === "localhost" || host.endsWith(".localhost") ? "private" : "public";
}

function modelWarnings({ models = [], providers = [] }: ConfigFile, now: number): readonly Conflict[] {
  const disabled = new Set(providers.filter(({ enabled }) => enabled === false).map(({ id }) => id));
  return models.flatMap(({ deployments, next_price }, index): Conflict[] => {
    const found: Conflict[] = [];
    const enabled = deployments.filter((each) => each.enabled !== false && !disabled.has(each.provider));
    const path = ["models", index, "deployments"];
    if (enabled.length === 0) {
      found.push({ path, message: "every deployment, or its provider, is disabled: every call will fail" });
    } else if (enabled.every(({ weight }) => weight === 0)) {
      const message = "every weight is 0, so all are called equally; use `enabled: false` to disable a deployment";
      found.push({ path, message });
    }
    if (next_price !== undefined && Date.parse(next_price.from) <= now) {
      const message = "this time is in the past: the price applies now, instead of `price`";
      found.push({ path: ["models", index, "next_price", "from"], message });
    }
    return found;
  });
}

/** See docs/configuration.md, "Models without a price". */
function unpricedWarnings({ models = [], providers = [], settings, workspaces = [] }: ConfigFile): readonly Conflict[] {
  const policy = settings?.unpriced ?? "block_in_budgets";
  const lender = typeof policy === "object" ? models.find(({ name }) => name === policy.price_as) : undefined;
  const found: Conflict[] = [];
  if (typeof policy === "object" && models.length > 0 && lender?.price === undefined) {
    const message = `the model "${policy.price_as}" ${lender === undefined ? "is not in this file" : "has no price"}`;
    found.push({ path: ["settings", "unpriced", "price_as"], message: `${message}, so its price cannot be used` });
  }
  const demo = new Set(providers.filter(({ kind }) => kind === "demo").map(({ id }) => id));
  const budget = workspaces.map(budgetIn).find((path) => path !== null);
  const type = (model: ModelConfig) => model.type ?? "chat";
  models.forEach((model, index) => {
    if (model.price !== undefined || model.deployments.every(({ provider }) => demo.has(provider))) return;
    const ownPolicy = model.unpriced ?? policy;
    const isLent = lender?.price !== undefined && type(lender) === type(model);
    if (ownPolicy === "allow" || (typeof ownPolicy === "object" && isLent)) return;
    const path = ["models", index];
    if (ownPolicy !== "block_in_budgets")
      found.push({ path, message: "it has no price: all of its calls will be refused" });
    else if (budget !== undefined) {
      const message = `it has no price: calls that a budget counts (${budget}) will be refused; write \`price\` or \`unpriced: allow\``;
      found.push({ path, message });
    }
  });
  return found;
}

/** Names the owner of the first budget; null if there is none. */
function budgetIn({ slug, budget, groups = [], keys = [] }: NonNullable<ConfigFile["workspaces"]>[number]) {
  if (budget !== undefined) return `workspace ${slug}`;
  const group = groups.find((each) => each.budget !== undefined);
  if (group !== undefined) return `group ${slug}/${group.name}`;
  const key = keys.find((each) => each.budget !== undefined);
  return key === undefined ? null : `key ${slug}/${key.name}`;
}

/** Warns of empty lists of models, and of patterns that match no model of the file. */
function grantWarnings({ models, workspaces = [] }: ConfigFile): readonly Conflict[] {
  const names = models?.map(({ name }) => name) ?? null;
  const nameSet = new Set(names);
  const cache = new Map<string, boolean>();
  const matches = (pattern: string): boolean => {
    if (names === null || nameSet.has(pattern)) return true;
    const pieces = pattern.split(/\*+/);
    const found =
      cache.get(pattern) ??
      (pieces.length > 1 && (/^\*+$/.test(pattern) || names.some((name) => piecesMatch(pieces, name))));
    cache.set(pattern, found);
    return found;
  };
  const inList = (patterns: readonly string[] | undefined, owner: Conflict["path"]): readonly Conflict[] => {
    const path = [...owner, "models"];
    if (patterns?.length === 0) return [{ path, message: "the list is empty: no model can be called" }];
    return (patterns ?? []).flatMap((pattern, index) =>
      matches(pattern)
        ? []
        : [{ path: [...path, index], message: `no model of this file is called ${JSON.stringify(pattern)}` }],
    );
  };
  return workspaces.flatMap((workspace, index) => {
    const path = ["workspaces", index];
    return [
      ...inList(workspace.models, path),
      ...(workspace.groups ?? []).flatMap((group, at) => inList(group.models, [...path, "groups", at])),
      ...(workspace.keys ?? []).flatMap((key, at) => inList(key.models, [...path, "keys", at])),
    ];
  });
}

function expiredWarnings({ workspaces = [], tokens = [] }: ConfigFile, now: number): readonly Conflict[] {
  const expired = (what: string, at: string | undefined, path: Conflict["path"]): readonly Conflict[] =>
    at !== undefined && Date.parse(at) <= now
      ? [{ path: [...path, "expires_at"], message: `this time is in the past: the ${what} has expired` }]
      : [];
  return [
    ...workspaces.flatMap(({ keys = [] }, workspace) =>
      keys.flatMap((key, index) => expired("key", key.expires_at, ["workspaces", workspace, "keys", index])),
    ),
    ...tokens.flatMap((token, index) => expired("token", token.expires_at, ["tokens", index])),
  ];
}

/** The defaults of a provider kind; null if the kind is unknown. */
export function kindDefaults(
  kind: string,
  config: ProviderConfig,
): { readonly baseUrl: string | null; readonly problem: string | null } | null {
  const found = providerKind(kind);
  if (found === null) return null;
  const provider = declaredProvider(config);
  return { problem: settingsProblem(found, provider), baseUrl: defaultBaseUrl(found, provider) };
}

/** Checks that every provider has a known kind, valid settings of that kind, and an address. */
export const kindCheck: ConfigCheck = (config) => {
  const providers = config.providers ?? [];
  const wrong = providers.flatMap((provider, index) => settingConflicts(provider, index));
  const reported = new Set(wrong.map(({ path }) => path[1]));
  const others = kindConflicts(providers, kindDefaults).flatMap((conflict): Conflict[] => {
    const provider = providers[Number(conflict.path[1])];
    if (provider === undefined || providerKind(provider.kind) !== null) {
      // A missing setting may be the misspelled one.
      return reported.has(conflict.path[1] ?? "") ? [] : [conflict];
    }
    const hint = didYouMean(provider.kind, kindIds);
    return [
      { ...conflict, message: `${conflict.message}${hint === "" ? `; use one of ${kindIds.join(", ")}` : hint}` },
    ];
  });
  return [...wrong, ...others, ...secretConflicts(config)];
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

/** A secret in another format would never be accepted. */
function secretConflicts({ tokens = [] }: ConfigFile): readonly Conflict[] {
  return tokens.flatMap(({ secret, scim }, index): Conflict[] => {
    if (secret === undefined) return [];
    const path = ["tokens", index, "secret"];
    if (scim === true) {
      if (hasScimTokenFormat(secret)) return [];
      return [{ path, message: "is not a SCIM token; `sluice token secret --scim` creates one" }];
    }
    if (hasAdminTokenFormat(secret)) return [];
    return [{ path, message: "is not an admin token; `sluice token secret` creates one" }];
  });
}
