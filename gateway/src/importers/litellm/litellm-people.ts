import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { ImportedKey, ImportedUser, ImportedWorkspace } from "#ports/index.ts";
import { budgetUsdOf, limitsIn, periodOf, usdOf } from "../budgets.ts";
import { emailIn } from "../emails.ts";
import { flagIn, isPresent, type Loose, numberIn, objectIn, rowsIn, textIn, textsIn, timeIn } from "../loose.ts";
import { lineOf, slugOf, UniqueNames } from "../names.ts";
import type { Notes } from "../notes.ts";
import type { ImportedNames } from "./litellm-budgets.ts";
import type { LiteLlmTables } from "./litellm-input.ts";
import { tagsOf } from "./litellm-tags.ts";

interface People {
  readonly workspaces: readonly ImportedWorkspace[];
  readonly users: readonly ImportedUser[];
  readonly names: ImportedNames;
}

/** A user, while workspaces are added. */
interface User extends ImportedUser {
  readonly workspaces: ImportedUser["workspaces"][number][];
}

interface Directory {
  readonly tables: LiteLlmTables;
  readonly notes: Notes;
  readonly now: number;
  /** Of days, weeks and months; null: UTC. */
  readonly timeZone: string | null;
  /** Names of models by access group. */
  readonly accessGroups: ReadonlyMap<string, readonly string[]>;
  readonly budgets: ReadonlyMap<string, Loose>;
  readonly names: { readonly teams: Map<string, string>; readonly keys: Map<string, string> };
  /** Addresses by the id of the user. */
  readonly emails: ReadonlyMap<string, string>;
}

/**
 * A team becomes a workspace: both have members with roles, limits of single members, and keys that others do not see. Keys without a team
 * go to one more workspace, where the limits of a user become limits of the member.
 */
export function peopleOf(given: Omit<Directory, "budgets" | "emails" | "names">): People {
  const { tables, notes } = given;
  const budgets = new Map(tables.BudgetTable.map((row) => [textIn(row, "budget_id") ?? "", row]));
  const emails = new Map(tables.UserTable.flatMap((row) => emailOf(row, notes)));
  const directory: Directory = { ...given, budgets, emails, names: { teams: new Map(), keys: new Map() } };
  const keysByTeam = Map.groupBy(tables.VerificationToken, (row) => textIn(row, "team_id") ?? "");
  keysByTeam.delete(dashboardTeam);
  const users = new Map<string, User>();
  for (const row of tables.UserTable) {
    const email = emails.get(textIn(row, "user_id") ?? "");
    if (email !== undefined && !users.has(email)) users.set(email, { email, ...nameOf(row), workspaces: [] });
    if (textIn(row, "user_role")?.startsWith("proxy_admin") === true) {
      notes.add(`administrator ${email ?? textIn(row, "user_id")}`, "make them an administrator by hand");
    }
  }
  const slugs = new UniqueNames();
  const workspaces: ImportedWorkspace[] = tables.TeamTable.map((team) => {
    const id = textIn(team, "team_id") ?? "";
    const slug = slugs.take(slugOf(textIn(team, "team_alias") ?? id, `team-${id.slice(0, 8)}`));
    directory.names.teams.set(id, slug);
    addMembers(directory, team, slug, users);
    return workspaceOf(directory, team, slug, keysByTeam.get(id) ?? []);
  });
  const teams = new Set(tables.TeamTable.map((team) => textIn(team, "team_id") ?? ""));
  const personal = [...keysByTeam].flatMap(([team, keys]) => (teams.has(team) ? [] : keys));
  if (personal.length > 0) {
    const slug = slugs.take("litellm-personal");
    addPersonalMembers(directory, personal, slug, users);
    workspaces.push({
      slug,
      name: "LiteLLM keys without a team",
      keys: keysOf(directory, personal, slug, personalFields),
    });
  }
  return { workspaces, users: [...users.values()], names: directory.names };
}

/** Sessions of LiteLLM's own console. */
const dashboardTeam = "litellm-dashboard";

function emailOf(row: Loose, notes: Notes): readonly (readonly [string, string])[] {
  const id = textIn(row, "user_id") ?? "";
  const email = emailIn(row, "user_email");
  if (email !== null) return [[id, email]];
  if (id !== "default_user_id")
    notes.add(`user ${id}`, "a user needs an email address; the keys are imported without an owner");
  return [];
}

function nameOf(row: Loose): { readonly name?: string } {
  const name = textIn(row, "user_alias");
  return name === null ? {} : { name: lineOf(name).slice(0, 128) };
}

function workspaceOf(directory: Directory, team: Loose, slug: string, keys: readonly Loose[]): ImportedWorkspace {
  const label = `team ${slug}`;
  const organization = directory.tables.OrganizationTable.find(
    (row) => textIn(row, "organization_id") !== null && row["organization_id"] === team["organization_id"],
  );
  const models =
    grantOf(directory, textsIn(team, "models")) ?? grantOf(directory, textsIn(organization ?? {}, "models"));
  noteLost(directory, team, label, teamFields);
  return {
    slug,
    name: lineOf(textIn(team, "team_alias") ?? slug),
    ...(models === null ? {} : { models }),
    ...(flagIn(team, "blocked") ? { enabled: false } : {}),
    ...limitsAndBudget(directory, team, label),
    keys: keysOf(directory, keys, slug, teamKeyFields),
  };
}

/** A member of a team has a role, and perhaps personal limits. */
function addMembers(directory: Directory, team: Loose, slug: string, users: Map<string, User>): void {
  const { tables, budgets, emails } = directory;
  const id = textIn(team, "team_id");
  const memberships = new Map(
    tables.TeamMembership.filter((row) => row["team_id"] === id).map((row) => [textIn(row, "user_id") ?? "", row]),
  );
  const general = textIn(objectIn(team, "metadata"), "team_member_budget_id");
  for (const member of rowsIn(team, "members_with_roles")) {
    const email = emails.get(textIn(member, "user_id") ?? "") ?? textIn(member, "user_email")?.toLowerCase();
    const user = email === undefined ? undefined : users.get(email);
    if (user === undefined || user.workspaces.some(({ workspace }) => workspace === slug)) continue;
    const own = memberships.get(textIn(member, "user_id") ?? "");
    const budget = budgets.get(textIn(own ?? {}, "budget_id") ?? general ?? "");
    const role = textIn(member, "role") === "admin" ? "admin" : "member";
    const fields = budget === undefined ? {} : limitsAndBudget(directory, budget, `member ${slug}/${email}`, own ?? {});
    user.workspaces.push({ workspace: slug, role, ...fields });
  }
}

/** The limits of a user count for keys without a team only. */
function addPersonalMembers(
  directory: Directory,
  keys: readonly Loose[],
  slug: string,
  users: Map<string, User>,
): void {
  const owners = new Set(keys.map((key) => textIn(key, "user_id") ?? ""));
  for (const row of directory.tables.UserTable) {
    const id = textIn(row, "user_id") ?? "";
    const email = directory.emails.get(id);
    const user = email === undefined ? undefined : users.get(email);
    if (user === undefined || !owners.has(id)) continue;
    user.workspaces.push({ workspace: slug, role: "member", ...limitsAndBudget(directory, row, `user ${email}`) });
  }
}

function keysOf(
  directory: Directory,
  rows: readonly Loose[],
  slug: string,
  fields: readonly string[],
): readonly ImportedKey[] {
  const names = new UniqueNames();
  return rows.flatMap((row): ImportedKey[] => {
    const digest = textIn(row, "token") ?? "";
    const wanted = textIn(row, "key_alias");
    const name = names.take(lineOf(wanted ?? `key-${digest.slice(0, 8)}`));
    const label = `key ${slug}/${name}`;
    const expires = timeIn(row, "expires");
    if (!/^[0-9a-f]{64}$/.test(digest)) {
      directory.notes.add(label, "LiteLLM does not store its digest as SHA-256");
      return [];
    }
    if (expires !== null && expires <= directory.now) {
      directory.notes.add(label, "it has expired");
      return [];
    }
    noteLost(directory, row, label, fields);
    directory.names.keys.set(digest, `${slug}/${name}`);
    const owner = directory.emails.get(textIn(row, "user_id") ?? "");
    const models = grantOf(directory, textsIn(row, "models"));
    return [
      {
        name,
        secret: { sha256: digest, lastFour: lastFourOf(row) },
        ...(owner === undefined ? {} : { owner }),
        ...(models === null ? {} : { models }),
        ...(flagIn(row, "blocked") ? { enabled: false } : {}),
        ...(expires === null ? {} : { expires_at: new Date(expires).toISOString() }),
        ...limitsAndBudget(directory, row, label),
        ...tagsOf(row),
      },
    ];
  });
}

/** LiteLLM shows `sk-...abcd`. */
function lastFourOf(row: Loose): string {
  return /\.\.\.([\x21-\x7e]{4})$/.exec(textIn(row, "key_name") ?? "")?.[1] ?? "";
}

/** null: every model of the workspace. */
function grantOf({ accessGroups }: Pick<Directory, "accessGroups">, names: readonly string[]): string[] | null {
  if (names.length === 0 || names.some((name) => everyModel.has(name))) return null;
  const models = names.flatMap((name) => accessGroups.get(name) ?? (name === "no-default-models" ? [] : [name]));
  return [...new Set(models)].slice(0, 1_000);
}

const everyModel: ReadonlySet<string> = new Set(["all-proxy-models", "all-team-models", "*"]);

/** Limits and the budget of a row, or of the budget that it names. */
function limitsAndBudget(
  { budgets, notes, now, timeZone }: Directory,
  row: Loose,
  label: string,
  /** The row with the spend. */
  spender: Loose = row,
): { readonly limits?: LimitsConfig; readonly budget?: BudgetConfig; readonly spent?: number } {
  const shared = budgets.get(textIn(row, "budget_id") ?? "") ?? {};
  const merged: Loose = Object.fromEntries(
    budgetFields.map((name) => [name, isPresent(row[name]) || row[name] === 0 ? row[name] : shared[name]]),
  );
  const limits = limitsIn(merged, { rpm: "rpm_limit", tpm: "tpm_limit", concurrency: "max_parallel_requests" });
  const usd = numberIn(merged, "max_budget");
  const duration = textIn(merged, "budget_duration");
  const period = periodOf(duration);
  if (usd !== null && period === null)
    notes.add(label, `a budget of ${usd} USD for ${duration}: budgets are for a day, a week, a month or in total`);
  if (isPresent(merged["tpd_limit"])) notes.add(label, "`tpd_limit`: there is no limit of tokens per day");
  if (isPresent(merged["soft_budget"])) notes.add(label, "`soft_budget`: create an alert rule for its budget");
  if (isPresent(shared["temp_budget_increase"])) notes.add(label, "`temp_budget_increase` of its budget");
  const found = Object.keys(limits).length === 0 ? {} : { limits };
  if (usd === null || period === null || usd < 0) return found;
  const zone = timeZone !== null && ["day", "week", "month"].includes(period) ? { time_zone: timeZone } : {};
  const budget = { usd: budgetUsdOf(usd), period, ...zone };
  const resetAt = timeIn(spender, "budget_reset_at") ?? timeIn(shared, "budget_reset_at");
  const spent = usdOf(numberIn(spender, "spend") ?? 0);
  // LiteLLM resets spend some time after a period has ended.
  return { ...found, budget, ...(spent > 0 && (resetAt === null || resetAt > now) ? { spent } : {}) };
}

const budgetFields = [
  "max_budget",
  "soft_budget",
  "budget_duration",
  "rpm_limit",
  "tpm_limit",
  "tpd_limit",
  "max_parallel_requests",
] as const;

/** Fields without a counterpart. */
const commonFields = ["router_settings", "policies", "access_group_ids", "object_permission_id"] as const;
const teamFields = commonFields;
const teamKeyFields = [
  ...commonFields,
  "allowed_routes",
  "allowed_cache_controls",
  "permissions",
  "budget_fallbacks",
  "config",
  "auto_rotate",
];
const personalFields = teamKeyFields;

function noteLost({ notes }: Directory, row: Loose, label: string, fields: readonly string[]): void {
  for (const field of fields) if (isPresent(row[field])) notes.add(label, `\`${field}\` has no counterpart`);
  const metadata = objectIn(row, "metadata");
  for (const field of ["guardrails", "model_rpm_limit", "model_tpm_limit", "logging", "allowed_passthrough_routes"]) {
    if (isPresent(metadata[field])) notes.add(label, `\`metadata.${field}\` has no counterpart`);
  }
}
