import type { Conflict } from "@sluice/contract";
import type { ConfigFile, ModelConfig } from "@sluice/contract/config-file";
import type { ConfigCheck } from "#config/index.ts";
import { piecesMatch } from "#core/index.ts";
import { addressKind } from "#upstream/index.ts";
import { kindDefaults } from "./kind-check.ts";

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
