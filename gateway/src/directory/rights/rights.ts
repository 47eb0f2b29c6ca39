import type { RightsRule } from "@sluice/contract/config-file";
import { bounds, invalidRequest, sessionDigest } from "#core/index.ts";
import type { RightsSource } from "#ports/index.ts";
import { auditedWrite, tokenSealId } from "#storage/tables.ts";
import { readFilePeople, refuseFilePeople } from "../people/file-people.ts";
import { endSessions, userRow } from "../people/people-rows.ts";
import { deleteRows, findRow, findRows, not, setColumns } from "../rows.ts";
import { reapplyGroupRights } from "../scim/scim-groups.ts";
import type { SealedDirectory, SealedWrite } from "../store.ts";
import * as claimed from "./claimed-rights.ts";
import { installation, type manualSource, sourceName } from "./right-rows.ts";

/** Throws `managed_by_file`, or `invalid_request` for a rule with a missing workspace or group. Call `reapplyAllRules` afterwards. */
export async function putRules(
  context: SealedWrite,
  source: RightsSource,
  rules: readonly RightsRule[],
): Promise<void> {
  const id = accountOf(source);
  if (id !== null) await refuseFilePeople(context.transaction, "oidc", id, sourceName(source));
  const missing = await claimed.missingRuleTarget(context.transaction, rules);
  if (missing !== null) {
    const { index, field, message } = missing;
    throw invalidRequest(`rules.${index}.${field}`, `Rule ${index + 1}: ${message}.`);
  }
  await claimed.writeRules(context, source, rules);
}

/** Whether the config file declares the rules of a source. */
export async function isManagedByFile({ database }: SealedDirectory, source: RightsSource): Promise<boolean> {
  const id = accountOf(source);
  return id !== null && (await readFilePeople(database.kysely)).oidc.includes(id);
}

/** The account of single sign-on; null for another source. */
function accountOf(source: RightsSource): string | null {
  return source.startsWith("oidc:") ? source.slice("oidc:".length) : null;
}

/**
 * Applies the current rules to all users. A claim that was not stored is read at the next sign-in. Works in small transactions, so
 * that it blocks no other write for long; the next run continues one that was interrupted. Returns a message for each right that could
 * not be removed.
 */
export async function reapplyAllRules(options: SealedDirectory): Promise<readonly string[]> {
  const { database, vault } = options;
  const problems: string[] = [];
  for (const { source, rules } of await claimed.allRules(database.kysely, vault)) {
    // All groups of SCIM are stored, but of an issuer only the claims that rules have read.
    if (source === "scim") {
      await reapplyGroupRights(options);
      continue;
    }
    const digest = claimed.rulesDigest(rules);
    for (let after = ""; ; ) {
      const people = await database.kysely
        .selectFrom("person_claims")
        .select("user_id")
        .where("source", "=", source)
        .where("rules_digest", "!=", digest)
        .where("user_id", ">", after)
        .orderBy("user_id")
        .limit(bounds.rightsAtOnceMax)
        .execute();
      const last = people.at(-1);
      if (last === undefined) break;
      after = last.user_id;
      await auditedWrite(options, { actor: `rules of ${sourceName(source)}`, ip: null }, async (context) => {
        // If the rules changed meanwhile, another run applies them.
        if (claimed.rulesDigest(await claimed.rulesOf(context.transaction, vault, source)) !== digest) return;
        for (const { user_id: userId } of people)
          problems.push(...(await claimed.reapplyRulesTo(context, userId, source, rules)));
      });
    }
  }
  return problems;
}

/** The rights of a user with their sources. `workspace` null: the right of an administrator. */
export async function rightsOfUser({ database }: SealedDirectory, userId: string) {
  const rows = await database.kysely
    .selectFrom("granted_rights")
    .leftJoin("workspaces", "workspaces.id", "granted_rights.workspace_id")
    .leftJoin("groups", "groups.id", "granted_rights.group_id")
    .select(["granted_rights.source", "granted_rights.workspace_id", "granted_rights.role", "granted_rights.rules"])
    .select(["workspaces.slug as workspace", "groups.name as group"])
    .where("granted_rights.user_id", "=", userId)
    .orderBy("workspaces.slug")
    .orderBy("granted_rights.source")
    .execute();
  return rows.flatMap(({ workspace_id, source, ...row }) =>
    workspace_id === installation || row.workspace !== null
      ? [{ ...row, source: source as RightsSource | typeof manualSource }]
      : [],
  );
}

/** An issuer that can confirm a user with a refresh token. */
export type IssuerCheck = Awaited<ReturnType<typeof issuerChecks>>[number];

export async function issuerChecks({ database, vault }: SealedDirectory, userId: string) {
  const where = { user_id: userId, refresh_token: not(null) };
  const rows = await findRows(database.kysely, "person_claims", where, "source");
  return rows.map((row) => ({
    source: row.source as `oidc:${string}`,
    refreshToken: vault.open(row.refresh_token ?? "", tokenSealId(userId, row.source as RightsSource)),
    confirmedAt: row.received_at,
    checkedAt: row.checked_at,
  }));
}

/** false: another process has already begun this check. */
export async function beginIssuerCheck(
  { database, clock }: SealedDirectory,
  userId: string,
  { source, checkedAt }: Pick<IssuerCheck, "source" | "checkedAt">,
): Promise<boolean> {
  const where = { user_id: userId, source, checked_at: checkedAt };
  return (await setColumns(database.kysely, "person_claims", where, { checked_at: clock.now() })) > 0;
}

/** Ends the user's agents and sessions because the issuer rejected the refresh token. false: it was replaced by a newer one. */
export async function revokeByIssuer(
  { transaction, log, vault }: SealedWrite,
  userId: string,
  { source, refreshToken }: Pick<IssuerCheck, "source" | "refreshToken">,
): Promise<boolean> {
  const row = await findRow(transaction, "person_claims", { user_id: userId, source });
  const stored = row?.refresh_token == null ? null : vault.open(row.refresh_token, tokenSealId(userId, source));
  // The user has signed in meanwhile and has a new token.
  if (stored?.reveal() !== refreshToken.reveal()) return false;
  await setColumns(transaction, "person_claims", { user_id: userId, source }, { refresh_token: null });
  const ended = await transaction.deleteFrom("agent_sessions").where("user_id", "=", userId).returning("id").execute();
  await deleteRows(transaction, "agent_devices", { user_id: userId });
  for (const { id } of ended) log.keyChanged(sessionDigest(id));
  await endSessions(transaction, userId);
  const { email } = await userRow(transaction, userId);
  const after = { by: source, agents: ended.length };
  log.note({ action: "sessions-ended", object: `user ${email}`, workspaceId: null, after });
  return true;
}
