import { consoleLanguages } from "@sluice/contract/words";
import { z } from "zod";
import { bounds, columnsOf, Failure } from "#core/index.ts";
import { answerJson, type Call, type CallSpec, get, post, userView } from "./call.ts";
import type { Problems } from "./library-problems.ts";
import { emailSchema, nameSchema } from "./schemas.ts";
import type { Session } from "./sessions.ts";

/** A password to check: only its length is limited. */
export const givenPassword = z.string().min(1, "The password is empty.").max(bounds.passwordLengthMax);
const words = `A password must have ${bounds.passwordLengthMin} to ${bounds.passwordLengthMax} characters.`;
const newPassword = z.string().min(bounds.passwordLengthMin, words).max(bounds.passwordLengthMax, words);

const changeOfUser = z
  .strictObject({
    name: nameSchema.optional(),
    language: z
      .enum(consoleLanguages.map(({ id }) => id))
      .nullable()
      .optional(),
  })
  .refine((change) => Object.keys(change).length > 0, "There is nothing to change.");

const nothing = z.strictObject({});

export const accountCalls: readonly CallSpec[] = [
  post(
    "/sign-in/email",
    "anybody",
    z.strictObject({ email: emailSchema, password: givenPassword }),
    async (call, { email, password }) => {
      const answer = await call.guess({ by: "password", account: `account:${email}`, userId: null, email }, () =>
        call.callLibrary("/sign-in/email", { body: { email, password } }),
      );
      if (answer.json["twoFactorRedirect"] === true) {
        // The answer deletes the cookie, so the session must be deleted too.
        await call.endSession();
        return answerJson({ two_factor: true, user: null }, answer.cookies);
      }
      const session = await call.openSession(answer, "password");
      return answerJson({ two_factor: false, user: userView(session) }, answer.cookies);
    },
  ),
  post(
    "/change-password",
    "session",
    z.strictObject({ current_password: givenPassword, new_password: newPassword }),
    async (call, body) => {
      const answer = await guessPassword(call, () =>
        call.callLibrary("/change-password", {
          body: {
            currentPassword: body.current_password,
            newPassword: body.new_password,
            revokeOtherSessions: true,
          },
          problems: wrongCurrent,
        }),
      );
      await call.dependencies.users.deleteResetLinks(call.signedIn.user.id);
      call.emit("password-changed", "password", call.signedIn.user);
      return await call.renewSession(answer);
    },
  ),
  post("/update-user", "session", changeOfUser, async (call, change) => {
    await call.callLibrary("/update-user", { body: change });
    return answerJson({
      user: { ...userView(call.signedIn), ...(change.name === undefined ? {} : { name: change.name }) },
    });
  }),
  // The library's session calls return tokens; ours use ids.
  post("/sign-out", "anybody", nothing, async (call) => {
    const { cookies } = await call.callLibrary("/sign-out", { body: {} });
    if (call.session !== null) call.emit("signed-out", null, call.session.user);
    return answerJson({}, cookies);
  }),
  get("/account", "session", async (call) => {
    const session = call.signedIn;
    const ways = await call.dependencies.users.signInMethods(session.user.id);
    return answerJson({
      user: userView(session),
      password: ways.password,
      two_factor: session.twoFactor,
      passkeys: ways.passkeys,
      oidc: ways.oidc,
      connections: (await call.dependencies.users.connectionsOf(session.user.id)).map((connection) => ({
        ...columnsOf(connection),
        name: call.dependencies.issuers.account(connection.provider)?.name ?? null,
      })),
      session: sessionView(session, session.id),
    });
  }),
  get("/sessions", "session", async (call) => {
    const session = call.signedIn;
    const list = await call.dependencies.sessions.list(session.user.id);
    return answerJson({ data: list.map((each) => sessionView(each, session.id)), next: null });
  }),
  post("/sessions/end", "session", z.strictObject({ id: z.string().min(1).max(128) }), async (call, { id }) => {
    const { user } = call.signedIn;
    if (!(await call.dependencies.sessions.end(user.id, id))) throw new Failure("not_found", "Session not found.");
    call.emit("sessions-ended", null, user);
    return answerJson({ ended: 1 });
  }),
  post("/sessions/end-others", "session", nothing, async (call) => {
    const { user, id } = call.signedIn;
    const ended = await call.dependencies.sessions.endAll(user.id, id);
    call.emit("sessions-ended", null, user);
    return answerJson({ ended });
  }),
];

/** Checks the signed-in user's password with limited attempts, so that a stolen session cannot guess it. */
export function guessPassword<Result>(call: Call, work: () => Promise<Result>): Promise<Result> {
  const { id, email } = call.signedIn.user;
  return call.guess({ by: "password", account: `user:${id}`, userId: id, email }, work);
}

const wrongCurrent: Problems = {
  INVALID_PASSWORD: ["invalid_request", "The current password is wrong.", "current_password"],
};

function sessionView(session: Session, currentId: string): object {
  const { id, fresh, createdAt, seenAt, endsAt, ip, userAgent } = session;
  return { ...columnsOf({ id, fresh, createdAt, seenAt, endsAt, ip, userAgent }), current: id === currentId };
}
