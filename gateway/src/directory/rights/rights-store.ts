import type { RightsRule } from "@sluice/contract/config-file";
import type { WorkspaceRole } from "@sluice/contract/words";
import { bounds, type Claims, Failure, type Secret, sessionDigest } from "#core/index.ts";
import type { AuditSource, RightsSource } from "#ports/index.ts";
import { auditedWrite, tokenSealId } from "#storage/tables.ts";
import { type BoundStore, bindStore } from "../bound-store.ts";
import { readFilePeople, refuseFilePeople } from "../people/file-people.ts";
import { endSessions, type PeopleOptions, peopleContext, type RightsContext, userRow } from "../people/people-rows.ts";
import { settleGroups } from "../scim/scim-rights.ts";
import { claimsRow, reapplyRules, type Said, takeClaims, tryClaims } from "./claimed-rights.ts";
import { sourceName } from "./given-rows.ts";
import { everyRules, missingPlace, rulesDigest, rulesOf, writeRules } from "./rights-rules.ts";

/**
 * Rules that turn what sources say of people into rights, and the rights that they gave. A right has a source: what one gave, one
 * takes away again when its rules or claims give it no more; what was given by hand (`manual`) none touches. Somebody holds the
 * highest of what all give. The last administrator and the last owner of a workspace stay. Users of the config file hold what the
 * file says, and nothing else.
 */
export type RightsStore = BoundStore<typeof functions>;

export function createRightsStore({ vault, ...options }: PeopleOptions & Pick<RightsContext, "vault">): RightsStore {
  return bindStore({ ...peopleContext(options), vault }, functions);
}

const functions = {
  rules: ({ database, vault }: RightsContext, source: RightsSource) => rulesOf(database.kysely, vault, source),
  /** Whether the config file says them. */
  async ownedByFile({ database }: RightsContext, source: RightsSource): Promise<boolean> {
    const id = accountOf(source);
    return id !== null && (await readFilePeople(database.kysely)).oidc.includes(id);
  },
  putRules,
  /** Keeps what the rules read of the claims, and puts it into rights. Gives what could not be taken away, in words. */
  take: (options: RightsContext, said: Said, auditSource: AuditSource) =>
    auditedWrite(options, auditSource, (under) => takeClaims(under, said)),
  settle,
  /** What claims would give by these rules; changes nothing. */
  tryClaims: ({ database }: RightsContext, rules: readonly RightsRule[], claims: Claims) =>
    tryClaims(database.kysely, rules, claims),
  given,
  issuersToAsk,
  beginAsking,
  refuse,
};

/** Throws `managed_by_file`, and `invalid_request` for a rule that names what is not there. Call `settle` afterwards. */
async function putRules(
  options: RightsContext,
  source: RightsSource,
  rules: readonly RightsRule[],
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async (under) => {
    const id = accountOf(source);
    if (id !== null) await refuseFilePeople(under.transaction, "oidc", id, sourceName(source));
    const missing = await missingPlace(under.transaction, rules);
    if (missing !== null) {
      const { index, field, message } = missing;
      throw new Failure("invalid_request", `Rule ${index + 1}: ${message}.`, { param: `rules.${index}.${field}` });
    }
    await writeRules(under, options.vault, source, rules);
  });
}

/** The account of single sign-on that a source is; null: it is none. */
function accountOf(source: RightsSource): string | null {
  return source.startsWith("oidc:") ? source.slice("oidc:".length) : null;
}

/**
 * Puts everybody under the rules as they are now; a claim that was not read before waits for the next sign-in. Each write takes a few
 * people, so that nobody waits long behind it; where it ends in the middle, the next one goes on.
 */
async function settle(options: RightsContext): Promise<readonly string[]> {
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
        for (const { user_id: userId } of people) kept.push(...(await reapplyRules(under, { userId, source, rules })));
      });
    }
  }
  return kept;
}

/** Who changed it, where nobody is there: the audit log names the rules. */
function rulesSource(source: RightsSource): AuditSource {
  return { actor: `rules of ${sourceName(source)}`, ip: null };
}

/** What somebody holds in one place, and by whom. `workspace` null: the installation. */
interface GivenRight {
  readonly source: RightsSource | "manual";
  readonly workspace: string | null;
  readonly role: WorkspaceRole | "administrator" | null;
  readonly group: string | null;
  readonly rules: string;
}

async function given({ database }: RightsContext, userId: string): Promise<readonly GivenRight[]> {
  const rows = await database.kysely
    .selectFrom("given_rights")
    .leftJoin("workspaces", "workspaces.id", "given_rights.workspace_id")
    .leftJoin("groups", "groups.id", "given_rights.group_id")
    .select(["given_rights.source", "given_rights.workspace_id", "given_rights.role", "given_rights.rules"])
    .select(["workspaces.slug", "groups.name as group_name"])
    .where("given_rights.user_id", "=", userId)
    .orderBy("workspaces.slug")
    .orderBy("given_rights.source")
    .execute();
  return rows
    .filter((row) => row.workspace_id === "" || row.slug !== null)
    .map((row) => ({
      source: row.source as GivenRight["source"],
      workspace: row.slug,
      role: row.role,
      group: row.group_name,
      rules: row.rules,
    }));
}

/** An issuer to be asked again about somebody. */
export interface IssuerToAsk {
  readonly source: `oidc:${string}`;
  readonly refreshToken: Secret;
  readonly saidAt: number;
  readonly askedAt: number;
}

async function issuersToAsk({ database, vault }: RightsContext, userId: string): Promise<readonly IssuerToAsk[]> {
  const rows = await database.kysely
    .selectFrom("person_claims")
    .selectAll()
    .where("user_id", "=", userId)
    .where("refresh_token", "is not", null)
    .orderBy("source")
    .execute();
  return rows.map((row) => ({
    source: row.source as IssuerToAsk["source"],
    refreshToken: vault.open(row.refresh_token ?? "", tokenSealId(userId, row.source as RightsSource)),
    saidAt: Number(row.said_at),
    askedAt: Number(row.asked_at),
  }));
}

/** false: another process asks already. */
async function beginAsking(
  { database, clock }: RightsContext,
  userId: string,
  { source, askedAt }: Pick<IssuerToAsk, "source" | "askedAt">,
): Promise<boolean> {
  const { numUpdatedRows } = await database.kysely
    .updateTable("person_claims")
    .set({ asked_at: clock.now() })
    .where("user_id", "=", userId)
    .where("source", "=", source)
    .where("asked_at", "=", askedAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The issuer knows the refresh token no more: agents and sessions of the person end. false: there is another token by now. */
async function refuse(
  options: RightsContext,
  userId: string,
  { source, refreshToken }: Pick<IssuerToAsk, "source" | "refreshToken">,
  auditSource: AuditSource,
): Promise<boolean> {
  return await auditedWrite(options, auditSource, async ({ transaction, log, vault }) => {
    const row = await claimsRow(transaction, userId, source);
    const known = row?.refresh_token == null ? null : vault.open(row.refresh_token, tokenSealId(userId, source));
    // Whoever signed in meanwhile has another token, and the issuer knows them.
    if (known?.reveal() !== refreshToken.reveal()) return false;
    await transaction
      .updateTable("person_claims")
      .set({ refresh_token: null })
      .where("user_id", "=", userId)
      .where("source", "=", source)
      .execute();
    const ended = await transaction
      .deleteFrom("agent_sessions")
      .where("user_id", "=", userId)
      .returning("id")
      .execute();
    await transaction.deleteFrom("agent_devices").where("user_id", "=", userId).execute();
    for (const { id } of ended) log.keyChanged(sessionDigest(id));
    await endSessions(transaction, userId);
    const { email } = await userRow(transaction, userId);
    const after = { by: source, agents: ended.length };
    log.note({ action: "sessions-ended", object: `user ${email}`, workspaceId: null, after });
    return true;
  });
}
