import { createHash } from "node:crypto";
import type { RightsRule } from "@sluice/contract/config-file";
import { type Claims, canonicalJson, claimsRead, rightsFromClaims, type Secret } from "#core/index.ts";
import type { RightsSource, Vault } from "#ports/index.ts";
import { type Connection, type Row, tokenSealId } from "#storage/tables.ts";
import { findRow, putRow } from "../rows.ts";
import type { SealedWrite } from "../store.ts";
import { putSealedSetting, sealedSetting, sealedSettings } from "../system-settings.ts";
import { type Given, giveRights } from "./given-rights.ts";
import { givenRows, installation } from "./given-rows.ts";

/** What a source says of somebody now. It takes the place of what it said before. */
export interface Said {
  readonly userId: string;
  readonly source: RightsSource;
  readonly claims: Claims;
  /** The issuer's; null: it gave none. Left out: the one there is stays. */
  readonly refreshToken?: Secret | null;
  /** The session of the console that goes on when their rights change: the one that this sign-in opened. */
  readonly keptSession?: string | null;
}

/**
 * What a source says of somebody becomes their rights, in a write of the caller's: sign-in does so, a refresh,
 * and whatever else tells of people. Of the claims only what the rules read is kept. Gives what could not be taken away, in words.
 */
export async function takeClaims(under: SealedWrite, said: Said): Promise<readonly string[]> {
  const { transaction, vault, at } = under;
  const { userId, source } = said;
  const rules = await rulesOf(transaction, vault, source);
  const claims = claimsRead(said.claims, pathsOf(rules));
  const before = await claimsRow(transaction, userId, source);
  const row: Row<"person_claims"> = {
    user_id: userId,
    source,
    claims: JSON.stringify(claims),
    rules_digest: rulesDigest(rules),
    refresh_token: tokenColumn(under, said, before),
    said_at: at,
    asked_at: before?.asked_at ?? 0,
  };
  // A source without rules has nothing to remember but how to ask it again.
  if (rules.length > 0 || row.refresh_token !== null || before !== undefined) await writeClaims(transaction, row);
  const { given } = await rightsOf(transaction, rules, said.claims);
  return await giveRights(under, { userId, source, given, keptSession: said.keptSession ?? null });
}

/**
 * Puts somebody under the rules of today by what is known of them. Of a claim that no rule read when it was said nothing is known: where
 * a rule reads one, they keep what they have in its place until the source speaks again.
 */
export async function reapplyRules(
  under: SealedWrite,
  userId: string,
  source: RightsSource,
  rules: readonly RightsRule[],
): Promise<readonly string[]> {
  const { transaction } = under;
  const row = await claimsRow(transaction, userId, source);
  const digest = rulesDigest(rules);
  if (row === undefined || row.rules_digest === digest) return [];
  const claims = JSON.parse(row.claims) as Claims;
  const known = claimsRead(
    claims,
    pathsOf(rules).filter((path) => Object.hasOwn(claims, path)),
  );
  const { given, placeOf } = await rightsOf(transaction, rules, known);
  const unknown = rules.filter(({ claim }) => !Object.hasOwn(claims, claim)).flatMap((rule) => placeOf(rule) ?? []);
  const held = (await givenRows(transaction, userId)).filter(
    (each) => each.source === source && unknown.includes(each.workspace_id),
  );
  const all = [...given.filter((each) => held.every((one) => one.workspace_id !== each.workspace_id)), ...held];
  await writeClaims(transaction, { ...row, claims: JSON.stringify(known), rules_digest: digest });
  return await giveRights(under, { userId, source, given: all, keptSession: null });
}

/** What claims would give by rules. */
export async function tryClaims(connection: Connection, rules: readonly RightsRule[], claims: Claims) {
  return rightsFromClaims(rules, claims, (await placesNamed(connection, rules)).there);
}

export async function claimsRow(connection: Connection, userId: string, source: RightsSource) {
  return await findRow(connection, "person_claims", { user_id: userId, source });
}

function pathsOf(rules: readonly RightsRule[]): readonly string[] {
  return [...new Set(rules.map(({ claim }) => claim))].toSorted();
}

/** The claims in rights, with ids for names. */
async function rightsOf(connection: Connection, rules: readonly RightsRule[], claims: Claims) {
  const { there, ids } = await placesNamed(connection, rules);
  const claimed = rightsFromClaims(rules, claims, there);
  const given: Given[] = claimed.places.map(({ workspace, role, group, rules: names }) => ({
    workspace_id: ids.get(workspace)?.id ?? "",
    role,
    group_id: group === null ? null : (ids.get(workspace)?.groups.get(group) ?? null),
    rules: names,
  }));
  if (claimed.administrator !== null) {
    given.push({ workspace_id: installation, role: "administrator", group_id: null, rules: claimed.administrator });
  }
  const placeOf = (rule: RightsRule) =>
    rule.administrator === true ? installation : ids.get(rule.workspace ?? "")?.id;
  return { given, placeOf };
}

function tokenColumn({ vault }: SealedWrite, said: Said, before: Row<"person_claims"> | undefined): string | null {
  if (said.refreshToken === undefined) return before?.refresh_token ?? null;
  return said.refreshToken === null ? null : vault.seal(said.refreshToken, tokenSealId(said.userId, said.source));
}

async function writeClaims(connection: Connection, row: Row<"person_claims">): Promise<void> {
  const { user_id, source, ...columns } = row;
  await putRow(connection, "person_claims", { user_id, source }, columns);
}

/** Rules are settings of the system, each source's sealed whole: nobody who writes to the database makes an administrator. */
const prefix = "sign-in.rules.";

export async function rulesOf(
  connection: Connection,
  vault: Vault,
  source: RightsSource,
): Promise<readonly RightsRule[]> {
  return ((await sealedSetting(connection, vault, `${prefix}${source}`)) ?? []) as RightsRule[];
}

/** Every source that has rules or ever had some, with its rules. */
export async function everyRules(connection: Connection, vault: Vault) {
  const found = (await sealedSettings(connection, vault, prefix)) as ReadonlyMap<RightsSource, RightsRule[]>;
  return [...found].map(([source, rules]) => ({ source, rules }));
}

/** Writes nothing when they are the same. A source that has none any more keeps its row, so that what they gave is taken away. */
export async function writeRules(
  under: SealedWrite,
  source: RightsSource,
  rules: readonly RightsRule[],
): Promise<void> {
  const { transaction, log, vault } = under;
  const before = await rulesOf(transaction, vault, source);
  if (rulesDigest(before) === rulesDigest(rules)) return;
  await putSealedSetting(under, `${prefix}${source}`, JSON.stringify(rules));
  const view = (shown: readonly RightsRule[]) => (shown.length === 0 ? null : { rules: shown });
  log.change(`rights rules ${source}`, view(before), view(rules));
  log.configChanged();
}

/** The same for the same rules. */
export function rulesDigest(rules: readonly RightsRule[]): string {
  return createHash("sha256").update(canonicalJson(rules, rulesDepth)).digest("base64url");
}

/** The workspaces that rules name, with their groups. */
async function placesNamed(connection: Connection, rules: readonly RightsRule[]) {
  const slugs = [...new Set(rules.flatMap(({ workspace }) => workspace ?? []))];
  const ids = new Map<string, { id: string; groups: Map<string, string> }>();
  if (slugs.length === 0) return { there: new Map<string, Set<string>>(), ids };
  const rows = await connection
    .selectFrom("workspaces")
    .leftJoin("groups", "groups.workspace_id", "workspaces.id")
    .select(["workspaces.id", "workspaces.slug", "groups.id as group_id", "groups.name"])
    .where("workspaces.slug", "in", slugs)
    .execute();
  for (const { id, slug, group_id, name } of rows) {
    const place = ids.get(slug) ?? { id, groups: new Map() };
    ids.set(slug, place);
    if (group_id !== null && name !== null) place.groups.set(name, group_id);
  }
  return { ids, there: new Map([...ids].map(([slug, { groups }]) => [slug, new Set(groups.keys())])) };
}

/** The first rule that names what is not there; null: all is there. */
export async function missingPlace(
  connection: Connection,
  rules: readonly RightsRule[],
): Promise<{ readonly index: number; readonly field: "workspace" | "group"; readonly message: string } | null> {
  const { there } = await placesNamed(connection, rules);
  for (const [index, { workspace, group }] of rules.entries()) {
    if (workspace === undefined) continue;
    const groups = there.get(workspace);
    if (groups === undefined) return { index, field: "workspace", message: `there is no workspace "${workspace}"` };
    if (group === undefined || groups.has(group)) continue;
    return { index, field: "group", message: `there is no group "${group}" in the workspace ${workspace}` };
  }
  return null;
}

const rulesDepth = 4;
