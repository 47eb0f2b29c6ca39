import { bounds } from "#core/index.ts";
import { type AuditedWrite, auditedWrite, type Connection, chunksOf } from "#storage/tables.ts";
import { type RightsContext, userRow } from "../people/people-rows.ts";
import { takeClaims } from "../rights/claimed-rights.ts";
import { rulesDigest, rulesOf } from "../rights/rights-rules.ts";

type Taking = AuditedWrite & Pick<RightsContext, "ids" | "vault">;

const source = "scim";

/**
 * What the directory's groups give to those whose groups have just changed, by the rules of SCIM, in the same write. Of very many
 * only a mark is made: `settleGroups` goes on after the write, a few at a time, so that nobody waits long behind it.
 */
export async function takeGroups(under: Taking, userIds: readonly string[]): Promise<void> {
  if (userIds.length <= bounds.rightsAtOnceMax) {
    for (const userId of userIds) await takeGroupsOf(under, userId);
    return;
  }
  for (const chunk of chunksOf(userIds)) {
    await under.transaction
      .updateTable("person_claims")
      .set({ rules_digest: "" })
      .where("source", "=", source)
      .where("user_id", "in", [...chunk])
      .execute();
  }
}

/** Puts everybody whom SCIM has here under its rules who is not yet: after a change of the rules, or of large groups. */
export async function settleGroups(options: RightsContext): Promise<void> {
  const { kysely } = options.database;
  for (let after: string | null = ""; after !== null; ) {
    const rules = await rulesOf(kysely, options.vault, source);
    const people = await waiting(kysely, { digest: rulesDigest(rules), hasRules: rules.length > 0, after });
    const last: string | undefined = people.at(-1);
    after = last ?? null;
    if (last === undefined) return;
    await auditedWrite(options, { actor: "rules of SCIM", ip: null }, async (under) => {
      for (const userId of people) await takeGroupsOf(under, userId);
    });
  }
}

interface Waiting {
  readonly digest: string;
  readonly hasRules: boolean;
  readonly after: string;
}

async function waiting(connection: Connection, { digest, hasRules, after }: Waiting): Promise<readonly string[]> {
  const rows = await connection
    .selectFrom("scim_users")
    .leftJoin("person_claims", (join) =>
      join.onRef("person_claims.user_id", "=", "scim_users.user_id").on("person_claims.source", "=", source),
    )
    .select("scim_users.user_id")
    .where("scim_users.user_id", ">", after)
    .where((eb) =>
      eb.or([
        eb("person_claims.rules_digest", "!=", digest),
        ...(hasRules ? [eb("person_claims.rules_digest", "is", null)] : []),
      ]),
    )
    .orderBy("scim_users.user_id")
    .limit(bounds.rightsAtOnceMax)
    .execute();
  return rows.map((row) => row.user_id);
}

async function takeGroupsOf(under: Taking, userId: string): Promise<void> {
  const { transaction, log } = under;
  const rows = await transaction
    .selectFrom("scim_members")
    .innerJoin("scim_groups", "scim_groups.id", "scim_members.group_id")
    .select("scim_groups.display_name")
    .where("scim_members.user_id", "=", userId)
    .orderBy("scim_groups.display_name")
    .limit(bounds.scimGroupsOfUserMax)
    .execute();
  const groups = rows.map((row) => row.display_name);
  const kept = await takeClaims(under, { userId, source, claims: { groups } });
  if (kept.length === 0) return;
  const { email } = await userRow(transaction, userId);
  log.note({ action: "update", object: `user ${email}`, workspaceId: null, after: { scim: kept } });
}
