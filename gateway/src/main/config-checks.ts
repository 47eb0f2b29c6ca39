import type { Conflict, ProviderConfig } from "@sluice/contract";
import type { ConfigFile, ModelConfig } from "@sluice/contract/config-file";
import { type ConfigCheck, didYouMean } from "#config/index.ts";
import { defaultTimeouts, type Provider, piecesMatch, Secret } from "#core/index.ts";
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
import { addressKind } from "#upstream/index.ts";

/**
 * What is valid in a config file and cannot work, or not as somebody will expect. `now`: Unix milliseconds. Models and providers
 * may also be made in the console, so nothing is said of a kind that the file does not declare.
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
    if (kind === "forbidden") return [{ path, message: `${host} is refused to every provider: every call will fail` }];
    if (kind === "public" || allow_private_network === true) return [];
    const message = `${host} is a private address: every call will fail without \`allow_private_network: true\``;
    return [{ path, message }];
  });
}

/** A name with a dot is looked up when it is called. */
function kindOfHost(host: string): "public" | "private" | "forbidden" {
  if (/^[\d.]+$/.test(host) || host.includes(":")) return addressKind(host);
  return host === "localhost" || host.endsWith(".localhost") ? "private" : "public";
}

function modelWarnings({ models = [], providers = [] }: ConfigFile, now: number): readonly Conflict[] {
  const stopped = new Set(providers.filter(({ enabled }) => enabled === false).map(({ id }) => id));
  return models.flatMap(({ deployments, next_price }, index): Conflict[] => {
    const found: Conflict[] = [];
    const on = deployments.filter(({ enabled, provider }) => enabled !== false && !stopped.has(provider));
    const path = ["models", index, "deployments"];
    if (on.length === 0) {
      found.push({ path, message: "every deployment, or its provider, is disabled: every call will fail" });
    } else if (on.every(({ weight }) => weight === 0)) {
      const message = "every weight is 0, so all of them are called alike; `enabled: false` takes a deployment out";
      found.push({ path, message });
    }
    if (next_price !== undefined && Date.parse(next_price.from) <= now) {
      const message = "this time is over: the price counts from now on, instead of `price`";
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
    found.push({ path: ["settings", "unpriced", "price_as"], message: `${message}, so no price is borrowed` });
  }
  const demo = new Set(providers.filter(({ kind }) => kind === "demo").map(({ id }) => id));
  const budget = workspaces.map(budgetIn).find((path) => path !== null);
  const type = (model: ModelConfig) => model.type ?? "chat";
  models.forEach((model, index) => {
    if (model.price !== undefined || model.deployments.every(({ provider }) => demo.has(provider))) return;
    const said = model.unpriced ?? policy;
    const lent = lender?.price !== undefined && type(lender) === type(model);
    if (said === "allow" || (typeof said === "object" && lent)) return;
    const path = ["models", index];
    if (said !== "block_in_budgets") found.push({ path, message: "it has no price: all of its calls will be refused" });
    else if (budget !== undefined) {
      const message = `it has no price: calls that a budget counts (${budget}) will be refused; write \`price\` or \`unpriced: allow\``;
      found.push({ path, message });
    }
  });
  return found;
}

/** Whose budget is the first one, for a message. */
function budgetIn({ slug, budget, groups = [], keys = [] }: NonNullable<ConfigFile["workspaces"]>[number]) {
  if (budget !== undefined) return `workspace ${slug}`;
  const group = groups.find((each) => each.budget !== undefined);
  if (group !== undefined) return `group ${slug}/${group.name}`;
  const key = keys.find((each) => each.budget !== undefined);
  return key === undefined ? null : `key ${slug}/${key.name}`;
}

/** Lists of models that let nothing be called, and patterns in them that no model of the file has. */
function grantWarnings({ models, workspaces = [] }: ConfigFile): readonly Conflict[] {
  const names = models?.map(({ name }) => name) ?? null;
  const known = new Set(names);
  const matched = new Map<string, boolean>();
  const matches = (pattern: string): boolean => {
    if (names === null || known.has(pattern)) return true;
    let found = matched.get(pattern);
    if (found === undefined) {
      const pieces = pattern.split(/\*+/);
      found = pieces.length > 1 && (/^\*+$/.test(pattern) || names.some((name) => piecesMatch(pieces, name)));
      matched.set(pattern, found);
    }
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

/** Keys and admin tokens whose time is over. */
function expiredWarnings({ workspaces = [], tokens = [] }: ConfigFile, now: number): readonly Conflict[] {
  const isOver = (at: string | undefined): boolean => at !== undefined && Date.parse(at) <= now;
  const ofTokens = tokens.flatMap(({ expires_at }, index): Conflict[] =>
    isOver(expires_at)
      ? [{ path: ["tokens", index, "expires_at"], message: "this time is over: the token has expired" }]
      : [],
  );
  const ofKeys = workspaces.flatMap(({ keys = [] }, workspace) =>
    keys.flatMap(({ expires_at }, index): Conflict[] => {
      const path = ["workspaces", workspace, "keys", index, "expires_at"];
      return isOver(expires_at) ? [{ path, message: "this time is over: the key has expired" }] : [];
    }),
  );
  return [...ofKeys, ...ofTokens];
}

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
