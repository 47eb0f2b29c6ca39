import { createHash } from "node:crypto";
import type { RightsRule } from "@sluice/contract/config-file";
import { type Claims, canonicalJson, claimsRead, rightsFromClaims, type Secret } from "#core/index.ts";
import type { RightsSource, Vault } from "#ports/index.ts";
import { type Connection, type Row, tokenSealId } from "#storage/tables.ts";
import { findRow, putRow } from "../rows.ts";
import type { SealedDirectory, SealedWrite } from "../store.ts";
import { putSealedSetting, sealedSetting, sealedSettings } from "../system-settings.ts";
import { applyRights, type GrantedRight } from "./apply-rights.ts";
import { installation, rightRowsOf } from "./right-rows.ts";

/** The claims of a source about a user. They replace its earlier ones. */
export interface ClaimsUpdate {
  readonly userId: string;
  readonly source: RightsSource;
  readonly claims: Claims;
  /** null: the issuer sent none. Left out: the stored one stays. */
  readonly refreshToken?: Secret | null;
  /** A console session that does not end when the rights change: the one that this sign-in opened. */
  readonly sessionToKeep?: string | null;
}

/**
 * Applies the rules of a source to claims about a user. Only claims that the rules read are stored. Returns a message for each right
 * that could not be removed.
 */
export async function applyClaims(context: SealedWrite, update: ClaimsUpdate): Promise<readonly string[]> {
  const { transaction, vault, at } = context;
  const { userId, source, refreshToken } = update;
  const rules = await rulesOf(transaction, vault, source);
  const claims = claimsRead(update.claims, claimPaths(rules));
  const before = await findRow(transaction, "person_claims", { user_id: userId, source });
  const sealedToken = refreshToken == null ? refreshToken : vault.seal(refreshToken, tokenSealId(userId, source));
  const row: Row<"person_claims"> = {
    user_id: userId,
    source,
    claims: JSON.stringify(claims),
    rules_digest: rulesDigest(rules),
    refresh_token: sealedToken === undefined ? (before?.refresh_token ?? null) : sealedToken,
    received_at: at,
    checked_at: before?.checked_at ?? 0,
  };
  if (rules.length > 0 || row.refresh_token !== null || before !== undefined) await writeClaims(transaction, row);
  const { rights } = await resolveRights(transaction, rules, update.claims);
  return await applyRights(context, { userId, source, rights, sessionToKeep: update.sessionToKeep ?? null });
}

/**
 * Applies changed rules to the stored claims of a user. If a rule reads a claim that was not stored, the user keeps their rights in its
 * workspace until the source sends claims again.
 */
export async function reapplyRulesTo(
  context: SealedWrite,
  userId: string,
  source: RightsSource,
  rules: readonly RightsRule[],
): Promise<readonly string[]> {
  const { transaction } = context;
  const row = await findRow(transaction, "person_claims", { user_id: userId, source });
  const digest = rulesDigest(rules);
  if (row === undefined || row.rules_digest === digest) return [];
  const claims = JSON.parse(row.claims) as Claims;
  const stored = claimsRead(
    claims,
    claimPaths(rules).filter((path) => Object.hasOwn(claims, path)),
  );
  const { rights, targetOf } = await resolveRights(transaction, rules, stored);
  const undecided = rules.filter(({ claim }) => !Object.hasOwn(claims, claim)).flatMap((rule) => targetOf(rule) ?? []);
  const unchanged = (await rightRowsOf(transaction, userId)).filter(
    (row) => row.source === source && undecided.includes(row.workspace_id),
  );
  const places = new Set(unchanged.map((row) => row.workspace_id));
  const all = [...rights.filter((right) => !places.has(right.workspace_id)), ...unchanged];
  await writeClaims(transaction, { ...row, claims: JSON.stringify(stored), rules_digest: digest });
  return await applyRights(context, { userId, source, rights: all, sessionToKeep: null });
}

/** The rights that rules would grant for claims. Changes nothing. */
export async function tryClaims({ database }: SealedDirectory, rules: readonly RightsRule[], claims: Claims) {
  return rightsFromClaims(rules, claims, (await workspacesInRules(database.kysely, rules)).groupNames);
}

function claimPaths(rules: readonly RightsRule[]): readonly string[] {
  return [...new Set(rules.map(({ claim }) => claim))].toSorted();
}

/** The rights that rules grant for claims, with ids instead of names. `targetOf`: the workspace id of a rule, or `installation`. */
async function resolveRights(connection: Connection, rules: readonly RightsRule[], claims: Claims) {
  const { groupNames, ids } = await workspacesInRules(connection, rules);
  const claimed = rightsFromClaims(rules, claims, groupNames);
  const rights: GrantedRight[] = claimed.places.map(({ workspace, role, group, rules: names }) => ({
    workspace_id: ids.get(workspace)?.id ?? "",
    role,
    group_id: group === null ? null : (ids.get(workspace)?.groups.get(group) ?? null),
    rules: names,
  }));
  if (claimed.administrator !== null) {
    rights.push({ workspace_id: installation, role: "administrator", group_id: null, rules: claimed.administrator });
  }
  const targetOf = (rule: RightsRule) =>
    rule.administrator === true ? installation : ids.get(rule.workspace ?? "")?.id;
  return { rights, targetOf };
}

async function writeClaims(connection: Connection, row: Row<"person_claims">): Promise<void> {
  const { user_id, source, ...columns } = row;
  await putRow(connection, "person_claims", { user_id, source }, columns);
}

/** Rules are encrypted settings, so that write access to the database is not enough to become an administrator. */
const prefix = "sign-in.rules.";

export async function rulesOf(
  connection: Connection,
  vault: Vault,
  source: RightsSource,
): Promise<readonly RightsRule[]> {
  return ((await sealedSetting(connection, vault, `${prefix}${source}`)) ?? []) as RightsRule[];
}

/** Every source that has or had rules, with its rules. */
export async function allRules(connection: Connection, vault: Vault) {
  const found = (await sealedSettings(connection, vault, prefix)) as ReadonlyMap<RightsSource, RightsRule[]>;
  return [...found].map(([source, rules]) => ({ source, rules }));
}

/** If all rules of a source are deleted, its row stays, so that the rights from these rules are removed. */
export async function writeRules(
  context: SealedWrite,
  source: RightsSource,
  rules: readonly RightsRule[],
): Promise<void> {
  const { transaction, log, vault } = context;
  const before = await rulesOf(transaction, vault, source);
  if (rulesDigest(before) === rulesDigest(rules)) return;
  await putSealedSetting(context, `${prefix}${source}`, JSON.stringify(rules));
  const view = (list: readonly RightsRule[]) => (list.length === 0 ? null : { rules: list });
  log.change(`rights rules ${source}`, view(before), view(rules));
  log.configChanged();
}

export function rulesDigest(rules: readonly RightsRule[]): string {
  return createHash("sha256").update(canonicalJson(rules, rulesDepth)).digest("base64url");
}

/** The existing workspaces that rules name, by slug, with the ids and the names of their groups. */
async function workspacesInRules(connection: Connection, rules: readonly RightsRule[]) {
  const slugs = [...new Set(rules.flatMap(({ workspace }) => workspace ?? []))];
  const ids = new Map<string, { id: string; groups: Map<string, string> }>();
  if (slugs.length === 0) return { groupNames: new Map<string, Set<string>>(), ids };
  const rows = await connection
    .selectFrom("workspaces")
    .leftJoin("groups", "groups.workspace_id", "workspaces.id")
    .select(["workspaces.id", "workspaces.slug", "groups.id as group_id", "groups.name"])
    .where("workspaces.slug", "in", slugs)
    .execute();
  for (const { id, slug, group_id, name } of rows) {
    const workspace = ids.get(slug) ?? { id, groups: new Map() };
    ids.set(slug, workspace);
    if (group_id !== null && name !== null) workspace.groups.set(name, group_id);
  }
  return { ids, groupNames: new Map([...ids].map(([slug, { groups }]) => [slug, new Set(groups.keys())])) };
}

/** The first rule that names a missing workspace or group, or null. */
export async function missingRuleTarget(
  connection: Connection,
  rules: readonly RightsRule[],
): Promise<{ readonly index: number; readonly field: "workspace" | "group"; readonly message: string } | null> {
  const { groupNames } = await workspacesInRules(connection, rules);
  for (const [index, { workspace, group }] of rules.entries()) {
    if (workspace === undefined) continue;
    const groups = groupNames.get(workspace);
    if (groups === undefined) return { index, field: "workspace", message: `there is no workspace "${workspace}"` };
    if (group === undefined || groups.has(group)) continue;
    return { index, field: "group", message: `there is no group "${group}" in the workspace ${workspace}` };
  }
  return null;
}

const rulesDepth = 4;
