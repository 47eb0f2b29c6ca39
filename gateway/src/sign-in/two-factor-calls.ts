import { createHash } from "node:crypto";
import { z } from "zod";
import { Failure } from "#core/index.ts";
import { givenPassword, guessPassword } from "./account-calls.ts";
import { answerJson, type Call, type CallSpec, type Guess, post, userView } from "./call.ts";
import { failureFor, type Problems, startOver, wrongCode } from "./library-problems.ts";
import { timeText } from "./sessions.ts";
import { cookieOf } from "./site.ts";

const code = z
  .string()
  .max(32)
  .transform((text) => text.replace(/\s/g, ""))
  .pipe(z.string().regex(/^\d{6}$/, "A code has six digits."));
const backupCode = z.string().trim().min(1, "The code is empty.").max(32);
const withPassword = z.strictObject({ password: givenPassword });

export const twoFactorCalls: readonly CallSpec[] = [
  post("/two-factor/verify-totp", "anybody", z.strictObject({ code }), (call, body) =>
    call.session === null ? finishSignIn(call, body.code) : finishEnabling(call, body.code),
  ),
  post("/two-factor/verify-backup-code", "anybody", z.strictObject({ code: backupCode }), async (call, body) => {
    if (call.session !== null) throw new Failure("conflict", "You are signed in already.");
    const guess = await pendingGuess(call);
    const answer = await call.guess(guess, () => call.callLibrary("/two-factor/verify-backup-code", { body }));
    return answerJson({ user: userView(await call.openSession(answer, "second-factor")) }, answer.cookies);
  }),
  post("/two-factor/enable", "session", withPassword, async (call, { password }) => {
    const { user, twoFactor } = call.signedIn;
    if (twoFactor) throw new Failure("conflict", "Two-factor sign-in is on already. Switch it off first.");
    if (!(await call.dependencies.users.signInMethods(user.id)).password) {
      throw new Failure("conflict", "A second factor goes with a password, and this user has none.");
    }
    const { json } = await guessPassword(call, () =>
      call.callLibrary("/two-factor/enable", { body: { password, method: "totp" } }),
    );
    return answerJson({ totp_uri: json["totpURI"], backup_codes: json["backupCodes"] });
  }),
  post("/two-factor/disable", "session", withPassword, async (call, body) => {
    if (!call.signedIn.twoFactor) throw new Failure("conflict", "Two-factor sign-in is off.");
    const answer = await guessPassword(call, () => call.callLibrary("/two-factor/disable", { body }));
    call.tell("two-factor-disabled", null, call.signedIn.user);
    return await call.renewSession(answer);
  }),
  post("/two-factor/generate-backup-codes", "session", withPassword, async (call, body) => {
    const { json } = await guessPassword(call, () => call.callLibrary("/two-factor/generate-backup-codes", { body }));
    call.tell("backup-codes-made", null, call.signedIn.user);
    return answerJson({ backup_codes: json["backupCodes"] });
  }),
];

async function finishSignIn(call: Call, code: string): Promise<Response> {
  const guess = await pendingGuess(call);
  const answer = await call.guess(guess, async () => {
    await takeCode(call, guess.userId ?? "", code);
    return await call.callLibrary("/two-factor/verify-totp", { body: { code } });
  });
  return answerJson({ user: userView(await call.openSession(answer, "second-factor")) }, answer.cookies);
}

/** The first code of a new authenticator app proves that it was set up; only then is it asked for. */
async function finishEnabling(call: Call, code: string): Promise<Response> {
  const { user, twoFactor } = call.signedIn;
  if (twoFactor) throw new Failure("conflict", "Two-factor sign-in is on already.");
  const guess = { by: "second-factor", account: `user:${user.id}`, userId: user.id, email: user.email } as const;
  const answer = await call.guess(guess, () =>
    call.callLibrary("/two-factor/verify-totp", { body: { code }, problems: wrongFirstCode }),
  );
  // It was shown, maybe to others too: it must not open anything while it is still valid.
  await takeCode(call, user.id, code).catch(() => undefined);
  call.tell("two-factor-enabled", null, user);
  return await call.renewSession(answer);
}

const wrongFirstCode: Problems = {
  INVALID_CODE: ["invalid_request", "This code is wrong. Is the clock of the device right?", "code"],
};

/** How long a used code is remembered. */
const usedCodeMs = 180_000;

/** Whose password was given in this browser while their code is still asked for. */
async function pendingGuess(call: Call): Promise<Guess> {
  const { database, clock } = call.dependencies;
  const waiting = cookieOf(call.request.headers, `${call.site.cookiePrefix}.two_factor`);
  if (waiting === null) throw failureFor(startOver);
  const row = await database
    .selectFrom("auth_verifications")
    .innerJoin("auth_users", "auth_users.id", "auth_verifications.value")
    .select(["auth_users.id", "auth_users.email"])
    // As the library stores it.
    .where("identifier", "=", createHash("sha256").update(waiting).digest("base64url"))
    .where("expires_at", ">", timeText(clock.now()))
    .executeTakeFirst();
  if (row === undefined) throw failureFor(startOver);
  return { by: "second-factor", account: `second:${row.id}`, userId: row.id, email: row.email };
}

/**
 * A code opens once (RFC 6238 §5.2): whoever saw it typed must not use it again while it is still shown. It is taken
 * before it is tried, so that of two at the same moment one is too late.
 */
async function takeCode(call: Call, userId: string, code: string): Promise<void> {
  const { database, clock } = call.dependencies;
  const id = `code_${createHash("sha256").update(`${userId}\n${code}`).digest("base64url")}`;
  const now = timeText(clock.now());
  const until = timeText(clock.now() + usedCodeMs);
  const taken = await database
    .insertInto("auth_verifications")
    .values({ id, identifier: id, value: "used", expires_at: until, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ expires_at: until }).where("auth_verifications.expires_at", "<", now),
    )
    .returning("id")
    .executeTakeFirst();
  if (taken === undefined) throw failureFor(wrongCode);
}
