import { createHash } from "node:crypto";
import type { Call, Guess } from "./call.ts";
import { failureFor, startOver, wrongCode } from "./library-problems.ts";
import { cookieOf } from "./site.ts";

/** How long a used code is remembered. */
const usedCodeMs = 180_000;

/** Whose password was given in this browser while their code is still asked for. */
export async function pendingGuess(call: Call): Promise<Guess> {
  const { database, clock } = call.dependencies;
  const waiting = cookieOf(call.request.headers, `${call.site.cookiePrefix}.two_factor`);
  if (waiting === null) throw failureFor(startOver);
  const row = await database.kysely
    .selectFrom("auth_verifications")
    .innerJoin("auth_users", "auth_users.id", "auth_verifications.value")
    .select(["auth_users.id", "auth_users.email"])
    // As the library stores it.
    .where("identifier", "=", createHash("sha256").update(waiting).digest("base64url"))
    .where("expires_at", ">", database.time(clock.now()))
    .executeTakeFirst();
  if (row === undefined) throw failureFor(startOver);
  return { by: "second-factor", account: `second:${row.id}`, userId: row.id, email: row.email };
}

/**
 * A code opens once (RFC 6238 §5.2): whoever saw it typed must not use it again while it is still shown. It is taken
 * before it is tried, so that of two at the same moment one is too late.
 */
export async function takeCode(call: Call, userId: string, code: string): Promise<void> {
  const { database, clock } = call.dependencies;
  const id = `code_${createHash("sha256").update(`${userId}\n${code}`).digest("base64url")}`;
  const now = database.time(clock.now());
  const until = database.time(clock.now() + usedCodeMs);
  const taken = await database.kysely
    .insertInto("auth_verifications")
    .values({ id, identifier: id, value: "used", expires_at: until, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ expires_at: until }).where("auth_verifications.expires_at", "<", now),
    )
    .returning("id")
    .executeTakeFirst();
  if (taken === undefined) throw failureFor(wrongCode);
}
