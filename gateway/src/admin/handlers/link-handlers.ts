import type { ConsoleUser, Invitation } from "@sluice/contract";
import { type Actor, Failure } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import { mayInvite } from "#identity/index.ts";
import type { OpenTries, SignIn, User, Vault } from "#ports/index.ts";
import { Throttle } from "../throttle.ts";
import type { ConsoleCall, Handlers } from "./handler.ts";
import { grantOfInvitation } from "./invitation-handlers.ts";

export interface LinkHandlerDependencies {
  readonly people: PeopleStore;
  readonly signIn: SignIn;
  readonly vault: Vault;
  readonly openTries: OpenTries;
}

/** The calls of those who open a link: whoever has its secret, and has not signed in yet. */
export function linkHandlers(
  dependencies: LinkHandlerDependencies,
): Handlers<"invitation.look" | "invitation.accept" | "reset.complete"> {
  const { people, signIn, vault } = dependencies;
  const throttle = new Throttle("link", dependencies.openTries);
  return {
    "invitation.look": async ({ body, ip }) => {
      const invitation = await openInvitation(dependencies, throttle, body.token, ip);
      return { ...invitation, has_account: (await people.userByEmail(invitation.email)) !== null };
    },
    "invitation.accept": async ({ body, actor, ip, request }) => {
      const invitation = await openInvitation(dependencies, throttle, body.token, ip);
      const account = await people.userByEmail(invitation.email);
      if (account !== null) checkIsThem(account, actor);
      const sessionId = account === null ? null : ((await signIn.session(request))?.sessionId ?? null);
      const user = account ?? (await newUser(signIn, invitation, body));
      const accepted = await people.acceptInvitation(
        invitation.id,
        { userId: user.id, sessionId, worth: mayInvite },
        { actor: invitation.email, ip },
      );
      if (!accepted) {
        // It was taken back a moment ago: nobody whom an invitation no longer stands for stays.
        if (account === null) await signIn.removeUser(user.id);
        throw linkGone();
      }
      return { email: user.email };
    },
    "reset.complete": async ({ body, ip }) => {
      await throttle.take(ip);
      const digest = vault.digest(body.token);
      const reset = await people.takeReset(digest);
      const user = reset === null ? null : await people.user(reset.userId);
      if (reset === null || user === null || user.disabled) throw linkGone();
      await throttle.forgive(ip);
      const auditSource = { actor: user.email, ip };
      try {
        await signIn.setPassword(user.id, body.password);
      } catch (thrown) {
        // Used up before it is used, so that it works once; but not for nothing.
        await people.createReset(user.id, digest, reset.expiresAt, auditSource);
        throw thrown;
      }
      await people.note({ action: "reset-password", object: `user ${user.email}`, workspaceId: null }, auditSource);
      return { email: user.email };
    },
  };
}

/** The invitation of a link. One that was used, taken back, is too old, or never was looks the same. */
async function openInvitation(
  { people, vault }: LinkHandlerDependencies,
  throttle: Throttle,
  token: string,
  ip: string,
): Promise<Invitation> {
  await throttle.take(ip);
  const invitation = await people.invitationByDigest(vault.digest(token));
  const inviterId = invitation?.invited_by?.id;
  // It is worth what its maker may do now: who lost the right to invite leaves no invitations behind.
  const inviter = inviterId === undefined ? null : await people.rightsOf(inviterId);
  if (invitation === null || inviter === null || !mayInvite(inviter, grantOfInvitation(invitation))) throw linkGone();
  await throttle.forgive(ip);
  return invitation;
}

/** The link alone must not be enough to put somebody else's account anywhere. */
function checkIsThem(account: ConsoleUser, actor: Actor | null): void {
  if (actor?.kind === "user" && actor.userId === account.id) {
    if (actor.fresh) return;
    // What is accepted is given to whoever holds this session, and it may have been left open or taken.
    throw new Failure("confirm_sign_in", "Sign in again to do this: your last sign-in was a while ago.");
  }
  if (actor === null) {
    throw new Failure("not_signed_in", `${account.email} has an account here. Sign in, then open the link again.`);
  }
  throw new Failure("forbidden", `This invitation is for ${account.email}, and you are signed in as somebody else.`);
}

async function newUser(
  signIn: SignIn,
  { email }: Invitation,
  { name, password }: ConsoleCall<"invitation.accept">["body"],
): Promise<User> {
  if (name === undefined) throw missing("name");
  if (password === undefined) throw missing("password");
  try {
    return await signIn.createUser({ email, name, password });
  } catch (thrown) {
    // Somebody used the same link at the same moment.
    if (thrown instanceof Failure && thrown.param === "email") {
      throw new Failure("conflict", `${email} has an account here by now. Sign in, then open the link again.`);
    }
    throw thrown;
  }
}

function missing(param: string): Failure {
  return new Failure("missing_required_parameter", `\`${param}\` is needed for a new account.`, { param });
}

function linkGone(): Failure {
  return new Failure("not_found", "This link does not hold: it was used, taken back or replaced, or it is too old.");
}
