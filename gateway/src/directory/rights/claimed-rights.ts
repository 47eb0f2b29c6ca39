import type { RightsRule } from "@sluice/contract/config-file";
import { type Claims, claimsRead, type RightsClaimed, rightsFromClaims, type Secret } from "#core/index.ts";
import type { RightsSource } from "#ports/index.ts";
import { type AuditedWrite, type Connection, type Row, tokenSealId } from "#storage/tables.ts";
import type { RightsContext } from "../people/people-rows.ts";
import { type Given, giveRights } from "./given-rights.ts";
import { givenRows, installation } from "./given-rows.ts";
import { placesNamed, rulesDigest, rulesOf } from "./rights-rules.ts";

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

/** A write under way that holds the lock of people. */
type Taking = AuditedWrite & Pick<RightsContext, "ids" | "vault">;

/**
 * What a source says of somebody becomes their rights, in a write of the caller's that holds the lock of people: sign-in does so, a refresh,
 * and whatever else tells of people. Of the claims only what the rules read is kept. Gives what could not be taken away, in words.
 */
export async function takeClaims(under: Taking, said: Said): Promise<readonly string[]> {
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
    asked_at: Number(before?.asked_at ?? 0),
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
  under: Taking,
  {
    userId,
    source,
    rules,
  }: { readonly userId: string; readonly source: RightsSource; readonly rules: readonly RightsRule[] },
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
export async function tryClaims(
  connection: Connection,
  rules: readonly RightsRule[],
  claims: Claims,
): Promise<RightsClaimed> {
  return rightsFromClaims(rules, claims, (await placesNamed(connection, rules)).there);
}

export async function claimsRow(
  connection: Connection,
  userId: string,
  source: RightsSource,
): Promise<Row<"person_claims"> | undefined> {
  return await connection
    .selectFrom("person_claims")
    .selectAll()
    .where("user_id", "=", userId)
    .where("source", "=", source)
    .executeTakeFirst();
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

function tokenColumn({ vault }: Taking, said: Said, before: Row<"person_claims"> | undefined): string | null {
  if (said.refreshToken === undefined) return before?.refresh_token ?? null;
  return said.refreshToken === null ? null : vault.seal(said.refreshToken, tokenSealId(said.userId, said.source));
}

async function writeClaims(connection: Connection, row: Row<"person_claims">): Promise<void> {
  const { user_id: _user, source: _source, ...columns } = row;
  await connection
    .insertInto("person_claims")
    .values(row)
    .onConflict((conflict) => conflict.columns(["user_id", "source"]).doUpdateSet(columns))
    .execute();
}
