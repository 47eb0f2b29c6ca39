import type { ConfigFile, GroupConfig, KeyConfig, ProviderConfig, WorkspaceConfig } from "@sluice/contract/config-file";
import type { ProviderBilling } from "@sluice/contract/console";
import { priceConfigOf, withoutUndefined } from "#core/index.ts";
import type { ModelRecord } from "#ports/index.ts";
import { budgetOf, inSnapshot, limitsOf, nonDefaultFields, type Row, type ScopeColumns } from "#storage/tables.ts";
import { policyConfigs } from "../budgets/policy-export.ts";
import { guardrailConfigs } from "../guardrails/guardrail-export.ts";
import { modelRecords } from "../providers/models.ts";
import { type ProviderRecord, providerRecord } from "../providers/providers.ts";
import { findRows, not } from "../rows.ts";
import { settingsOf } from "../settings.ts";
import type { ControlDirectory } from "../store.ts";

const keysMax = 10_000;

/**
 * Providers, models, workspaces and settings as a config file, without suspended objects, and the names that the config file manages.
 * Secrets are replaced by names of variables. `isSecret`: which settings of a provider type are secrets. `keysLeftOut`: there are more
 * than 10,000 keys.
 */
export async function exportConfig(
  { database, vault, clock }: Pick<ControlDirectory, "database" | "vault" | "clock">,
  isSecret: (kind: string, setting: string) => boolean,
) {
  return await inSnapshot(database, async (snapshot) => {
    const providers = await findRows(snapshot, "providers", { managed_by: not("suspended") }, "id");
    const models = (await modelRecords(snapshot, clock.now())).filter(({ managed_by }) => managed_by !== "suspended");
    const workspaces = await findRows(snapshot, "workspaces", { managed_by: not("suspended") }, "slug");
    const groups = await findRows(snapshot, "groups", { managed_by: not("suspended") }, "name");
    const keys = await snapshot
      .selectFrom("api_keys")
      .selectAll()
      .where("revoked_at", "is", null)
      .where("managed_by", "!=", "suspended")
      // The keys of agent sign-ins belong to their users.
      .where("person_id", "is", null)
      .orderBy("name")
      .limit(keysMax + 1)
      .execute();
    const guardrails = await findRows(snapshot, "guardrails", { managed_by: not("suspended") }, "name");
    const settings = await findRows(snapshot, "settings", { managed_by: not("system") });
    const slugs = new Map(workspaces.map((row) => [row.id, row.slug]));
    const configs = guardrailConfigs(guardrails, { slugs, groups, keys: keys.slice(0, keysMax) }, variable);
    const policies = await findRows(snapshot, "budget_policies", { managed_by: not("suspended") }, "name");
    const users = policies.length === 0 ? [] : await findRows(snapshot, "auth_users", {});
    const budgets = policyConfigs(policies, { slugs, groups, keys: keys.slice(0, keysMax), users });
    const config: ConfigFile = {
      providers: providers.map((row) => providerConfig(providerRecord(row, vault), isSecret)),
      models: models.map(modelConfig),
      workspaces: workspaces.map((row) =>
        withoutUndefined({
          ...workspaceConfig(row, groups, keys.slice(0, keysMax), providers),
          guardrails: configs.get(row.id),
          budgets: budgets.get(row.id),
        }),
      ),
      ...(configs.has(null) ? { guardrails: configs.get(null) } : {}),
      ...(budgets.has(null) ? { budgets: budgets.get(null) } : {}),
      settings: settingsOf(settings),
    };
    const manages = [
      { kind: "providers", names: namesFromFile(providers, (row) => row.id) },
      { kind: "models", names: namesFromFile(models, (model) => model.name) },
      { kind: "workspaces", names: namesFromFile(workspaces, (row) => row.slug) },
      { kind: "groups", names: namesFromFile(groups, (row) => `${slugs.get(row.workspace_id)}/${row.name}`) },
      { kind: "keys", names: namesFromFile(keys, (row) => `${slugs.get(row.workspace_id)}/${row.name}`) },
      {
        kind: "guardrails",
        names: namesFromFile(guardrails, ({ workspace_id: id, name }) =>
          id === null ? name : `${slugs.get(id)}/${name}`,
        ),
      },
      {
        kind: "budgets",
        names: namesFromFile(policies, ({ workspace_id: id, name }) =>
          id === null ? name : `${slugs.get(id)}/${name}`,
        ),
      },
      { kind: "settings", names: namesFromFile(settings, (row) => row.name) },
    ];
    return { config, manages, keysLeftOut: keys.length > keysMax };
  });
}

function namesFromFile<Item extends { readonly managed_by: string }>(
  rows: readonly Item[],
  nameOf: (row: Item) => string,
): readonly string[] {
  return rows.filter((row) => row.managed_by === "file").map(nameOf);
}

function providerConfig(
  provider: ProviderRecord,
  isSecret: (kind: string, setting: string) => boolean,
): ProviderConfig {
  const { id, kind, has_api_key, allow_private_network, timeouts, disconnect, enabled, billing } = provider;
  const settings = Object.entries(provider.settings).map(([name, value]) => [
    name,
    isSecret(kind, name) ? variable(`${id}_${name}`) : value,
  ]);
  return withoutUndefined({
    ...{ id, kind, base_url: provider.base_url },
    api_key: has_api_key ? variable(`${id}_api_key`) : undefined,
    allow_private_network: allow_private_network || undefined,
    timeouts: orUndefined(timeouts),
    disconnect: disconnect ?? undefined,
    enabled: enabled && undefined,
    settings: orUndefined(Object.fromEntries(settings)),
    billing: billing === null ? undefined : billingConfig(id, billing),
  });
}

function billingConfig(id: string, { has_admin_key, ...billing }: ProviderBilling) {
  return withoutUndefined({
    kind: billing.kind,
    admin_key: has_admin_key ? variable(`${id}_admin_key`) : undefined,
    base_url: billing.base_url ?? undefined,
    account: orUndefined(billing.account),
    tolerance_percent: billing.tolerance_percent ?? undefined,
    lag_days: billing.lag_days ?? undefined,
  });
}

function modelConfig({ managed_by: _owner, created_at: _at, price, next_price: next, ...model }: ModelRecord) {
  return withoutUndefined({
    ...model,
    deployments: model.deployments.map(({ id: _id, enabled, capabilities, ...deployment }) =>
      withoutUndefined({ ...deployment, enabled: enabled && undefined, capabilities: capabilities ?? undefined }),
    ),
    price: price === null ? undefined : priceConfigOf(price),
    next_price:
      next === null ? undefined : { from: new Date(next.effectiveFrom).toISOString(), price: priceConfigOf(next) },
    max_output_tokens: model.max_output_tokens ?? undefined,
    context_window: model.context_window ?? undefined,
    unpriced: model.unpriced ?? undefined,
    fallbacks: model.fallbacks.length === 0 ? undefined : [...model.fallbacks],
  });
}

function workspaceConfig(
  row: Row<"workspaces">,
  groups: readonly Row<"groups">[],
  keys: readonly Row<"api_keys">[],
  providers: readonly Row<"providers">[],
): WorkspaceConfig {
  const providerIds = new Set(providers.map(({ id }) => id));
  const own = groups.filter((group) => group.workspace_id === row.id);
  const names = new Map(own.map((group) => [group.id, group.name]));
  const ownKeys = keys.filter((key) => key.workspace_id === row.id);
  return withoutUndefined({
    slug: row.slug,
    name: row.name,
    models: JSON.parse(row.models),
    enforce_models: row.enforce_models === 1 ? undefined : false,
    pass_through: grantedProviders(row.pass_through, providerIds),
    enabled: row.enabled === 1 ? undefined : false,
    ...scopeConfig(row),
    groups: own.map(
      (group): GroupConfig =>
        withoutUndefined({
          name: group.name,
          models: JSON.parse(group.models),
          enforce_models: group.enforce_models === 1 ? undefined : false,
          pass_through: grantedProviders(group.pass_through, providerIds),
          ...scopeConfig(group),
        }),
    ),
    keys:
      ownKeys.length === 0
        ? undefined
        : ownKeys.map((key) => keyConfig(row.slug, key, names.get(key.group_id), providerIds)),
  });
}

function keyConfig(
  slug: string,
  row: Row<"api_keys">,
  group: string | undefined,
  providerIds: ReadonlySet<string>,
): KeyConfig {
  const { expires_at, ...fields } = nonDefaultFields(row);
  return withoutUndefined({
    ...fields,
    name: row.name,
    group,
    secret: row.digest === null ? undefined : variable(`${slug}_${row.name}_key`),
    pass_through: grantedProviders(row.pass_through, providerIds),
    expires_at: expires_at === undefined ? undefined : new Date(expires_at).toISOString(),
  });
}

/** Without deleted providers; undefined for an empty list. */
function grantedProviders(text: string, providerIds: ReadonlySet<string>): string[] | undefined {
  const names = (JSON.parse(text) as string[]).filter((id) => providerIds.has(id));
  return names.length === 0 ? undefined : names;
}

function scopeConfig(row: ScopeColumns) {
  const budget = budgetOf(row);
  return { limits: orUndefined(limitsOf(row)), budget: budget ?? undefined };
}

/** The variable for a secret: `${ACME_CI_KEY}`. */
function variable(name: string): string {
  return `\${${name.replaceAll(/[^A-Za-z0-9]+/g, "_").toUpperCase()}}`;
}

function orUndefined<Fields extends object>(fields: Fields) {
  const rest = withoutUndefined(fields);
  return Object.keys(rest).length === 0 ? undefined : rest;
}
