import { consoleLanguages } from "@sluice/contract/words";
import { z } from "zod";
import { bounds } from "#core/index.ts";
import { answerJson } from "./answers.ts";
import { type Call, type CallSpec, post, userView } from "./call.ts";
import type { Problems } from "./library-problems.ts";
import { emailSchema, nameSchema } from "./person-schemas.ts";

/** A password that is given: it may be wrong in any way but too long to be looked at. */
export const givenPassword = z.string().min(1, "The password is empty.").max(bounds.passwordLengthMax);
const words = `A password has ${bounds.passwordLengthMin} to ${bounds.passwordLengthMax} characters.`;
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

export const passwordCalls: readonly CallSpec[] = [
  post(
    "/sign-in/email",
    "anybody",
    z.strictObject({ email: emailSchema, password: givenPassword }),
    async (call, { email, password }) => {
      const answer = await call.guess({ by: "password", account: `account:${email}`, userId: null, email }, () =>
        call.ask("/sign-in/email", { body: { email, password } }),
      );
      if (answer.json["twoFactorRedirect"] === true) {
        // The answer takes the session's cookie away, so its session must not stay behind.
        await call.leave();
        return answerJson({ two_factor: true, user: null }, answer.cookies);
      }
      const session = await call.welcome(answer, "password");
      return answerJson({ two_factor: false, user: userView(session) }, answer.cookies);
    },
  ),
  post(
    "/change-password",
    "session",
    z.strictObject({ current_password: givenPassword, new_password: newPassword }),
    async (call, body) => {
      const answer = await guessPassword(call, () =>
        call.ask("/change-password", {
          body: {
            currentPassword: body.current_password,
            newPassword: body.new_password,
            revokeOtherSessions: true,
          },
          problems: wrongCurrent,
        }),
      );
      await call.dependencies.users.dropResetLinks(call.signedIn.user.id);
      call.tell("password-changed", "password", call.signedIn.user);
      return await call.renewed(answer);
    },
  ),
  post("/update-user", "session", changeOfUser, async (call, change) => {
    await call.ask("/update-user", { body: change });
    return answerJson({
      user: { ...userView(call.signedIn), ...(change.name === undefined ? {} : { name: change.name }) },
    });
  }),
];

/** The password of whoever is signed in: a stolen session must not become a place to guess it. */
export function guessPassword<Result>(call: Call, work: () => Promise<Result>): Promise<Result> {
  const { id, email } = call.signedIn.user;
  return call.guess({ by: "password", account: `user:${id}`, userId: id, email }, work);
}

const wrongCurrent: Problems = {
  INVALID_PASSWORD: ["invalid_request", "The current password is wrong.", "current_password"],
};
