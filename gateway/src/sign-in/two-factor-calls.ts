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
    if (call.session !== null) throw new Failure("conflict", "You are already signed in.");
    const guess = await pendingGuess(call);
    const answer = await call.guess(guess, () => call.callLibrary("/two-factor/verify-backup-code", { body }));
    return answerJson({ user: userView(await call.openSession(answer, "second-factor")) }, answer.cookies);
  }),
  post("/two-factor/enable", "session", withPassword, async (call, { password }) => {
    const { user, twoFactor } = call.signedIn;
    if (twoFactor) throw new Failure("conflict", "Two-factor sign-in is already on. Turn it off first.");
    if (!(await call.dependencies.users.signInMethods(user.id)).password) {
      throw new Failure("conflict", "Two-factor sign-in needs a password, and this user has none.");
    }
    const { json } = await guessPassword(call, () =>
      call.callLibrary("/two-factor/enable", { body: { password, method: "totp" } }),
    );
    return answerJson({ totp_uri: json["totpURI"], backup_codes: json["backupCodes"] });
  }),
  post("/two-factor/disable", "session", withPassword, async (call, body) => {
    if (!call.signedIn.twoFactor) throw new Failure("conflict", "Two-factor sign-in is off.");
    const answer = await guessPassword(call, () => call.callLibrary("/two-factor/disable", { body }));
    call.emit("two-factor-disabled", null, call.signedIn.user);
    return await call.renewSession(answer);
  }),
  post("/two-factor/generate-backup-codes", "session", withPassword, async (call, body) => {
    const { json } = await guessPassword(call, () => call.callLibrary("/two-factor/generate-backup-codes", { body }));
    call.emit("backup-codes-made", null, call.signedIn.user);
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

/** The first code proves that the app is set up; the factor is only required from then on. */
async function finishEnabling(call: Call, code: string): Promise<Response> {
  const { user, twoFactor } = call.signedIn;
  if (twoFactor) throw new Failure("conflict", "Two-factor sign-in is already on.");
  const guess = { by: "second-factor", account: `user:${user.id}`, userId: user.id, email: user.email } as const;
  const answer = await call.guess(guess, () =>
    call.callLibrary("/two-factor/verify-totp", { body: { code }, problems: wrongFirstCode }),
  );
  // The code was visible, so it must not work again while it is valid.
  await takeCode(call, user.id, code).catch(() => undefined);
  call.emit("two-factor-enabled", null, user);
  return await call.renewSession(answer);
}

const wrongFirstCode: Problems = {
  INVALID_CODE: ["invalid_request", "This code is wrong. Is the clock of the device right?", "code"],
};

/** How long a used code is remembered. */
const usedCodeMs = 180_000;

/** The user with a correct password in this browser and a pending code. */
async function pendingGuess(call: Call): Promise<Guess> {
  const { database, clock } = call.dependencies;
  const waiting = cookieOf(call.request.headers, `${call.site.cookiePrefix}.two_factor`);
  if (waiting === null) throw failureFor(startOver);
  const row = await database
    .selectFrom("auth_verifications")
    .innerJoin("auth_users", "auth_users.id", "auth_verifications.value")
    .select(["auth_users.id", "auth_users.email"])
    .where("identifier", "=", createHash("sha256").update(waiting).digest("base64url"))
    .where("expires_at", ">", timeText(clock.now()))
    .executeTakeFirst();
  if (row === undefined) throw failureFor(startOver);
  return { by: "second-factor", account: `second:${row.id}`, userId: row.id, email: row.email };
}

/** A code works once (RFC 6238 §5.2). It is marked as used before it is checked, so that of two concurrent attempts only one succeeds. */
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
