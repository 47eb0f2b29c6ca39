import type { ConsoleUser, Invitation } from "@sluice/contract";
import { type Actor, bounds, Failure, type Grant } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import { checkGrant, checkInvitationRevoke, mayInvite, noInvitation } from "#identity/index.ts";
import type { SignIn, User } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { letterRate, linkTries } from "../throttle.ts";
import { grantIn } from "./callers.ts";
import { type ConsoleCall, type Handlers, oneWorkspace } from "./calls.ts";
import { oneTimeLink } from "./origins.ts";

/** The calls that make, show and take back invitations, and those of whoever opens such a link or one to a new password. */
export function invitationHandlers(dependencies: ConsoleDependencies) {
  const { people, signIn, vault } = dependencies;
  // Whoever has a link's secret may not have signed in yet.
  const throttle = linkTries("link", dependencies.openTries);
  const inviting = { ...dependencies, letters: letterRate("invitation", dependencies.openTries) };
  return {
    "invitations.administrators": async () => ({ data: await people.listInvitations(null), next: null }),
    "invitations.inviteAdministrator": (call) =>
      invite(inviting, call, { email: call.body.email, grant: { administrator: true }, place: "Sluice" }),
    "invitations.list": async ({ workspace }) => ({
      data: await people.listInvitations(oneWorkspace({ workspace }).id),
      next: null,
    }),
    "invitations.create": (call) => {
      const { id, name } = oneWorkspace(call);
      const { email, role } = call.body;
      return invite(inviting, call, { email, grant: { administrator: false, workspaceId: id, role }, place: name });
    },
    "invitations.revoke": async ({ params, actor, auditSource }) => {
      const invitation = await people.invitation(params.invitation);
      if (invitation === null) throw noInvitation();
      checkInvitationRevoke(actor, grantIn(invitation));
      await people.revokeInvitation(invitation.id, auditSource);
      return {};
    },
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
        { userId: user.id, sessionId, mayInvite },
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
  } satisfies Partial<Handlers>;
}

interface Inviting extends ConsoleDependencies {
  readonly letters: ReturnType<typeof letterRate>;
}

async function invite(
  dependencies: Inviting,
  call: Pick<ConsoleCall<"invitations.create">, "actor" | "auditSource" | "request">,
  { email, grant, place }: { readonly email: string; readonly grant: Grant; readonly place: string },
) {
  const { people, vault, clock } = dependencies;
  const inviter = call.actor;
  checkGrant(inviter, grant);
  await refuseKnown(people, email, grant);
  const { secret, link } = oneTimeLink("invite", call.request, dependencies);
  const digest = vault.digest(secret);
  const expiresAt = clock.now() + bounds.invitationMs;
  const invitation = await people.invite(
    { email, grant, invitedBy: inviter.userId, digest, expiresAt },
    call.auditSource,
  );
  return { ...invitation, link, mailed: await mail(dependencies, invitation, place, link) };
}

async function refuseKnown(people: PeopleStore, email: string, grant: Grant): Promise<void> {
  const user = await people.userByEmail(email);
  if (grant.administrator) {
    if (user?.administrator !== true) return;
    throw new Failure("conflict", `${user.email} is an administrator already.`, { param: "email" });
  }
  const here = user?.workspaces.find(({ id }) => id === grant.workspaceId);
  if (user === null || here === undefined) return;
  throw new Failure("conflict", `${user.email} is a member already, as ${here.role}. Change the role instead.`, {
    param: "email",
  });
}

/** The invitation stands whether it could be mailed or not: whoever made it has the link. */
async function mail(
  { mailer, observer, letters }: Inviting,
  invitation: Invitation,
  place: string,
  link: string,
): Promise<boolean> {
  if (mailer === null) return false;
  const inviter = invitation.invited_by?.email ?? "Somebody";
  const as = invitation.administrator ? "as an administrator" : `as ${invitation.role}`;
  const until = new Date(invitation.expires_at).toUTCString();
  const text = [
    `${oneLine(inviter)} invites you to ${oneLine(place)}, ${as}.`,
    "",
    `Open this link to accept: ${link}`,
    "",
    `It works once, until ${until}. If you did not expect it, do nothing.`,
    "",
  ].join("\n");
  try {
    await letters.take(invitation.workspace?.id ?? null);
    await mailer.send({ to: [invitation.email], subject: `Invitation to ${oneLine(place)}`, text });
    return true;
  } catch (thrown) {
    observer.log("warn", "An invitation could not be mailed.", {
      invitation: invitation.id,
      problem: thrown instanceof Error ? thrown.message : String(thrown),
    });
    return false;
  }
}

/** A name must not write lines of its own into a message. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

/** The invitation of a link. One that was used, taken back, is too old, or never was looks the same. */
async function openInvitation(
  { people, vault }: ConsoleDependencies,
  throttle: ReturnType<typeof linkTries>,
  token: string,
  ip: string,
): Promise<Invitation> {
  await throttle.take(ip);
  const invitation = await people.invitationByDigest(vault.digest(token));
  const inviterId = invitation?.invited_by?.id;
  // It is worth what its maker may do now: who lost the right to invite leaves no invitations behind.
  const inviter = inviterId === undefined ? null : await people.rightsOf(inviterId);
  if (invitation === null || inviter === null || !mayInvite(inviter, grantIn(invitation))) throw linkGone();
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
