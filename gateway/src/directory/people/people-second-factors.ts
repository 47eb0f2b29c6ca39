import type { ConsoleUser } from "@sluice/contract/console";
import { sql } from "kysely";
import { Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { auditedWrite } from "#storage/tables.ts";
import type { PeopleContext } from "./people-options.ts";
import { endSessions } from "./people-sessions.ts";
import { oneUser } from "./people-users.ts";

/** All of it at once: nobody is left with a session from before, or without a row that says who did it. */
export async function resetSecondFactor(
  options: PeopleContext,
  userId: string,
  taken: { readonly passkeys: boolean },
  auditSource: AuditSource,
): Promise<ConsoleUser> {
  return await auditedWrite(options, auditSource, async ({ transaction, log }) => {
    const before = await oneUser(transaction, "id", userId);
    if (before === null) throw new Failure("not_found", "There is no such user.", { param: "user" });
    refuseNothing(before, taken.passkeys);
    await transaction.deleteFrom("auth_two_factors").where("user_id", "=", userId).execute();
    // Both databases know the word; it is 0 in one and a boolean in the other.
    const off = sql<number>`false`;
    await transaction.updateTable("auth_users").set({ two_factor_enabled: off }).where("id", "=", userId).execute();
    if (taken.passkeys) await transaction.deleteFrom("auth_passkeys").where("user_id", "=", userId).execute();
    await endSessions(transaction, userId);
    const after = { ...before, two_factor: false, passkeys: taken.passkeys ? 0 : before.passkeys };
    log.record("remove", `second factor ${before.email}`, factorsOf(before), factorsOf(after));
    return after;
  });
}

function refuseNothing({ email, two_factor: app, passkeys }: ConsoleUser, takesPasskeys: boolean): void {
  if (app || (takesPasskeys && passkeys > 0)) return;
  const rest = passkeys > 0 ? " Their passkeys go only when that is asked for." : "";
  throw new Failure("conflict", `${email} has no authenticator app to take away.${rest}`);
}

function factorsOf({ id, email, two_factor, passkeys }: ConsoleUser) {
  return { user_id: id, email, two_factor, passkeys };
}
