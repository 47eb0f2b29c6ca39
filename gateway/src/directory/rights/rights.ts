import type { RightsRule } from "@sluice/contract/config-file";
import { bounds, Failure, sessionDigest } from "#core/index.ts";
import type { AuditSource, RightsSource } from "#ports/index.ts";
import { auditedWrite, tokenSealId } from "#storage/tables.ts";
import { readFilePeople, refuseFilePeople } from "../people/file-people.ts";
import { endSessions, userRow } from "../people/people-rows.ts";
import { deleteRows, findRows, not, setColumns } from "../rows.ts";
import { settleGroups } from "../scim/scim-groups.ts";
import type { SealedDirectory, SealedWrite } from "../store.ts";
import {
  claimsRow,
  everyRules,
  missingPlace,
  reapplyRules,
  rulesDigest,
  rulesOf,
  writeRules,
} from "./claimed-rights.ts";
import { type byHand, installation, sourceName } from "./given-rows.ts";

/** Throws `managed_by_file`, and `invalid_request` for a rule that names what is not there. Call `settle` afterwards. */
export async function putRules(under: SealedWrite, source: RightsSource, rules: readonly RightsRule[]): Promise<void> {
  const id = accountOf(source);
  if (id !== null) await refuseFilePeople(under.transaction, "oidc", id, sourceName(source));
  const missing = await missingPlace(under.transaction, rules);
  if (missing !== null) {
    const { index, field, message } = missing;
    throw new Failure("invalid_request", `Rule ${index + 1}: ${message}.`, { param: `rules.${index}.${field}` });
  }
  await writeRules(under, source, rules);
}

/** Whether the config file says the rules of a source. */
export async function ownedByFile({ database }: SealedDirectory, source: RightsSource): Promise<boolean> {
  const id = accountOf(source);
  return id !== null && (await readFilePeople(database.kysely)).oidc.includes(id);
}

/** The account of single sign-on that a source is; null: it is none. */
function accountOf(source: RightsSource): string | null {
  return source.startsWith("oidc:") ? source.slice("oidc:".length) : null;
}

/**
 * Puts everybody under the rules as they are now; a claim that was not read before waits for the next sign-in. Each write takes a few
 * people, so that nobody waits long behind it; where it ends in the middle, the next one goes on.
 */
export async function settle(options: SealedDirectory): Promise<readonly string[]> {
  const { database, vault } = options;
  const kept: string[] = [];
  for (const { source, rules } of await everyRules(database.kysely, vault)) {
    // What a directory says is all there; an issuer's claims are not.
    if (source === "scim") {
      await settleGroups(options);
      continue;
    }
    const digest = rulesDigest(rules);
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
      await auditedWrite(options, rulesSource(source), async (under) => {
        // Rules that changed meanwhile are another turn's.
        if (rulesDigest(await rulesOf(under.transaction, vault, source)) !== digest) return;
        for (const { user_id: userId } of people) kept.push(...(await reapplyRules(under, userId, source, rules)));
      });
    }
  }
  return kept;
}

/** Who changed it, where nobody is there: the audit log names the rules. */
function rulesSource(source: RightsSource): AuditSource {
  return { actor: `rules of ${sourceName(source)}`, ip: null };
}

/** What somebody holds in each place, and by whom. `workspace` null: the installation. */
export async function given({ database }: SealedDirectory, userId: string) {
  const rows = await database.kysely
    .selectFrom("given_rights")
    .leftJoin("workspaces", "workspaces.id", "given_rights.workspace_id")
    .leftJoin("groups", "groups.id", "given_rights.group_id")
    .select(["given_rights.source", "given_rights.workspace_id", "given_rights.role", "given_rights.rules"])
    .select(["workspaces.slug as workspace", "groups.name as group"])
    .where("given_rights.user_id", "=", userId)
    .orderBy("workspaces.slug")
    .orderBy("given_rights.source")
    .execute();
  return rows.flatMap(({ workspace_id, source, ...row }) =>
    workspace_id === installation || row.workspace !== null
      ? [{ ...row, source: source as RightsSource | typeof byHand }]
      : [],
  );
}

/** An issuer to be asked again about somebody. */
export type IssuerToAsk = Awaited<ReturnType<typeof issuersToAsk>>[number];

export async function issuersToAsk({ database, vault }: SealedDirectory, userId: string) {
  const where = { user_id: userId, refresh_token: not(null) };
  const rows = await findRows(database.kysely, "person_claims", where, "source");
  return rows.map((row) => ({
    source: row.source as `oidc:${string}`,
    refreshToken: vault.open(row.refresh_token ?? "", tokenSealId(userId, row.source as RightsSource)),
    saidAt: row.said_at,
    askedAt: row.asked_at,
  }));
}

/** false: another process asks already. */
export async function beginAsking(
  { database, clock }: SealedDirectory,
  userId: string,
  { source, askedAt }: Pick<IssuerToAsk, "source" | "askedAt">,
): Promise<boolean> {
  const where = { user_id: userId, source, asked_at: askedAt };
  return (await setColumns(database.kysely, "person_claims", where, { asked_at: clock.now() })) > 0;
}

/** The issuer knows the refresh token no more: agents and sessions of the person end. false: there is another token by now. */
export async function refuse(
  { transaction, log, vault }: SealedWrite,
  userId: string,
  { source, refreshToken }: Pick<IssuerToAsk, "source" | "refreshToken">,
): Promise<boolean> {
  const row = await claimsRow(transaction, userId, source);
  const known = row?.refresh_token == null ? null : vault.open(row.refresh_token, tokenSealId(userId, source));
  // Whoever signed in meanwhile has another token, and the issuer knows them.
  if (known?.reveal() !== refreshToken.reveal()) return false;
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
