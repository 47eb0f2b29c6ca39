import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import { Secret } from "#core/index.ts";
import type { ImportDraft, ImportedKey, ImportedModel, ImportedSecret, ImportedWorkspace } from "#ports/index.ts";
import { Accounts } from "../accounts.ts";
import { budgetUsdOf, periodOf, usdOf } from "../budgets.ts";
import { isPresent, type Loose, numberIn, rowsIn, textIn, textsIn, timeIn } from "../loose.ts";
import { lineOf, slugOf, UniqueNames } from "../names.ts";
import { Notes } from "../notes.ts";
import { type Bifrost, type BifrostInput, bifrostOf, variableIn } from "./bifrost-input.ts";
import { modelsOfBifrost } from "./bifrost-models.ts";

interface Reading {
  readonly bifrost: Bifrost;
  readonly models: readonly ImportedModel[];
  readonly notes: Notes;
  readonly now: number;
}

/**
 * A customer becomes a workspace and its teams become groups, so that the budgets of all three count for a virtual key as before. A team
 * without a customer becomes a workspace.
 */
export function fromBifrost(input: BifrostInput): ImportDraft {
  const notes = new Notes();
  const bifrost = bifrostOf(input);
  const accounts = new Accounts("bifrost");
  const models = modelsOfBifrost(bifrost, accounts, notes, input);
  const reading: Reading = { bifrost, models, notes, now: input.now };
  for (const field of ["model_configs", "routing_rules", "pricing_overrides"]) {
    if (isPresent(bifrost.other[field])) notes.add(field, "it has no counterpart");
  }
  return {
    product: "bifrost",
    ...{ providers: accounts.providers, models },
    workspaces: workspacesOf(reading),
    users: [],
    budgets: [],
    notCarried: notes.list,
  };
}

function workspacesOf(reading: Reading): readonly ImportedWorkspace[] {
  const { customers, teams, virtualKeys } = reading.bifrost;
  const slugs = new UniqueNames();
  const customerIds = new Set(customers.map(idOf));
  const isOf = (row: Loose, field: string, owner: Loose) => String(row[field] ?? "") === idOf(owner);
  const workspaces = customers.map((customer): ImportedWorkspace => {
    const groupNames = new UniqueNames();
    const own = teams.filter((team) => isOf(team, "customer_id", customer));
    const groups = own.map((team) => ({
      team,
      name: groupNames.take(slugOf(textIn(team, "name") ?? "", `team-${idOf(team)}`)),
    }));
    const slug = slugs.take(slugOf(textIn(customer, "name") ?? "", `customer-${idOf(customer)}`));
    const keys = virtualKeys.flatMap((key) => {
      const group = groups.find(({ team }) => isOf(key, "team_id", team))?.name;
      return group !== undefined || isOf(key, "customer_id", customer) ? [{ key, group }] : [];
    });
    return {
      ...{
        slug,
        name: lineOf(textIn(customer, "name") ?? slug),
        ...scopeOf(reading, customer, "customer_id", `customer ${slug}`),
      },
      groups: groups.map(({ team, name }) => ({ name, ...scopeOf(reading, team, "team_id", `team ${slug}/${name}`) })),
      keys: keysOf(reading, slug, keys),
    };
  });
  const alone = teams.filter((team) => !customerIds.has(String(team["customer_id"] ?? "")));
  for (const team of alone) {
    const slug = slugs.take(slugOf(textIn(team, "name") ?? "", `team-${idOf(team)}`));
    const keys = virtualKeys.filter((key) => isOf(key, "team_id", team)).map((key) => ({ key }));
    workspaces.push({
      ...{ slug, name: lineOf(textIn(team, "name") ?? slug), ...scopeOf(reading, team, "team_id", `team ${slug}`) },
      keys: keysOf(reading, slug, keys),
    });
  }
  const owners = new Set([...customerIds, ...teams.map(idOf)]);
  const rest = virtualKeys.filter(
    (key) => ![key["team_id"], key["customer_id"]].some((id) => owners.has(String(id ?? ""))),
  );
  if (rest.length > 0) {
    const slug = slugs.take("bifrost");
    workspaces.push({
      slug,
      name: "Bifrost",
      keys: keysOf(
        reading,
        slug,
        rest.map((key) => ({ key })),
      ),
    });
  }
  return workspaces;
}

const idOf = (row: Loose): string => String(row["id"] ?? "");

interface PlacedKey {
  readonly key: Loose;
  readonly group?: string | undefined;
}

function keysOf(reading: Reading, slug: string, placed: readonly PlacedKey[]): readonly ImportedKey[] {
  const names = new UniqueNames();
  return placed.flatMap(({ key, group }): ImportedKey[] => {
    const name = names.take(lineOf(textIn(key, "name") ?? idOf(key)));
    const label = `key ${slug}/${name}`;
    const expires = timeIn(key, "expires_at");
    if (expires !== null && expires <= reading.now) {
      reading.notes.add(label, "it has expired");
      return [];
    }
    const secret = secretOf(key);
    if (secret === null) reading.notes.add(label, "its value is not in the configuration; create a new secret");
    return [
      {
        ...{ name, secret, models: grantOf(reading, key, label) },
        ...(group === undefined ? {} : { group }),
        ...(key["is_active"] === false || key["is_active"] === 0 ? { enabled: false } : {}),
        ...(expires === null ? {} : { expires_at: new Date(expires).toISOString() }),
        ...scopeOf(reading, key, "virtual_key_id", label),
      },
    ];
  });
}

function secretOf(key: Loose): ImportedSecret | null {
  const digest = textIn(key, "value_hash");
  if (digest !== null && /^[0-9a-f]{64}$/.test(digest)) return { sha256: digest, lastFour: "" };
  const value = variableIn(key, "value");
  return value === null || value.startsWith("${") ? null : new Secret(value);
}

/** Without a provider, a virtual key may call nothing. */
function grantOf({ bifrost, models, notes }: Reading, key: Loose, label: string): string[] {
  const names = new Set<string>();
  const configs = rowsIn(key, "provider_configs");
  for (const config of configs) {
    const provider = textIn(config, "provider") ?? "";
    const allowed = textsIn(config, "allowed_models");
    const isAll = allowed.includes("*") || (allowed.length === 0 && bifrost.emptyIsAll);
    if (isAll) {
      names.add(`${provider}/*`);
      const prefix = `${provider}/`;
      for (const { name } of models) if (name.startsWith(prefix)) names.add(name.slice(prefix.length));
    } else for (const model of allowed) names.add(`${provider}/${model}`).add(model);
    for (const field of ["budgets", "rate_limit", "rate_limit_id"]) {
      if (isPresent(config[field])) notes.add(label, `\`${field}\` for a provider has no counterpart`);
    }
  }
  if (configs.length === 0 && bifrost.emptyIsAll) names.add("*");
  return [...names].slice(0, 1_000);
}

/** The budget and the rate limit of a customer, team or virtual key. */
function scopeOf(
  { bifrost, notes, now }: Reading,
  row: Loose,
  ownerField: string,
  label: string,
): { readonly limits?: LimitsConfig; readonly budget?: BudgetConfig; readonly spent?: number } {
  const id = idOf(row);
  const budgets = [
    ...rowsIn(row, "budgets"),
    ...bifrost.budgets.filter(
      (each) => String(each[ownerField] ?? "") === id || idOf(each) === String(row["budget_id"] ?? ""),
    ),
  ];
  const [budget, ...more] = budgets;
  if (more.length > 0) notes.add(label, "only the first of its budgets is imported");
  const limits = rateOf(bifrost, row, label, notes);
  const found = Object.keys(limits).length === 0 ? {} : { limits };
  if (budget === undefined) return found;
  const reset = textIn(budget, "reset_duration");
  const period = periodOf(reset);
  const limit = numberIn(budget, "max_limit");
  if (limit === null || period === null) {
    notes.add(
      label,
      `a budget of ${limit} USD for ${reset}: budgets are for an hour, a day, a week, a month or in total`,
    );
    return found;
  }
  const increase = textIn(budget, "override_mode") === "forever" ? (numberIn(budget, "override_amount") ?? 0) : 0;
  if (textIn(budget, "override_mode") === "cycles") notes.add(label, "the temporary increase of its budget");
  const spent = usdOf(numberIn(budget, "current_usage") ?? 0);
  const resetAt = timeIn(budget, "last_reset");
  const isCurrent = period === "total" || resetAt === null || now - resetAt < periodMs[period];
  return {
    ...found,
    budget: { usd: budgetUsdOf(limit + increase), period },
    ...(spent > 0 && isCurrent ? { spent } : {}),
  };
}

const dayMs = 86_400_000;
const periodMs = { hour: dayMs / 24, day: dayMs, week: 7 * dayMs, month: 31 * dayMs };

/** Limits for a minute; others have no counterpart. */
function rateOf(bifrost: Bifrost, row: Loose, label: string, notes: Notes): LimitsConfig {
  const named = bifrost.rateLimits.find((each) => idOf(each) === String(row["rate_limit_id"] ?? ""));
  const [own] = rowsIn({ list: [row["rate_limit"]] }, "list");
  const rate = own ?? named ?? {};
  const limits: LimitsConfig = {};
  for (const [field, limit] of [
    ["request", "rpm"],
    ["token", "tpm"],
  ] as const) {
    const max = numberIn(rate, `${field}_max_limit`);
    const reset = textIn(rate, `${field}_reset_duration`);
    if (max === null) continue;
    if ((reset === "1m" || reset === "60s") && max >= 1) limits[limit] = Math.floor(max);
    else notes.add(label, `a limit of ${max} ${field}s for ${reset}: limits are for a minute`);
  }
  return limits;
}
