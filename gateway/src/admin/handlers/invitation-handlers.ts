import type { ConsoleUser, Invitation } from "@sluice/contract";
import { productName } from "@sluice/contract/words";
import { type Actor, bounds, Failure, type Grant, messageOf, oneLine } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import { checkGrant, checkInvitationRevoke, invitationNotFound, mayInvite } from "#identity/index.ts";
import type { PreparedUser, SignIn } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { linkRateLimit, mailRateLimit } from "../throttle.ts";
import { grantOf } from "./callers.ts";
import { type ConsoleCall, type Handlers, oneWorkspace } from "./calls.ts";
import { oneTimeLink } from "./origins.ts";

/** Invitations and one-time links: invite, list and revoke; accept an invitation; set a password with a reset link. */
export function invitationHandlers(dependencies: ConsoleDependencies) {
  const { people, signIn, vault } = dependencies;
  const throttle = linkRateLimit("link", dependencies.openTries);
  const inviting = { ...dependencies, mailRate: mailRateLimit("invitation", dependencies.openTries) };
  return {
    "invitations.administrators": async () => ({ data: await people.listInvitations(null), next: null }),
    "invitations.inviteAdministrator": (call) =>
      invite(inviting, call, {
        email: call.body.email,
        grant: { administrator: true },
        place: productName(dependencies.configSnapshot().settings),
      }),
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
      if (invitation === null) throw invitationNotFound();
      checkInvitationRevoke(actor, grantOf(invitation));
      await people.revokeInvitation(invitation.id, auditSource);
    },
    "invitation.find": async ({ body, ip }) => {
      const invitation = await openInvitation(dependencies, throttle, body.token, ip);
      return { ...invitation, has_account: (await people.userByEmail(invitation.email)) !== null };
    },
    "invitation.accept": async ({ body, actor, ip, request }) => {
      const invitation = await openInvitation(dependencies, throttle, body.token, ip);
      const account = await people.userByEmail(invitation.email);
      if (account !== null) checkInvitedUser(account, actor);
      const sessionId = account === null ? null : ((await signIn.session(request))?.sessionId ?? null);
      const user = account ?? (await newUser(signIn, invitation, body));
      const accepted = await people.acceptInvitation(
        invitation.id,
        { user, sessionId, mayInvite },
        { actor: invitation.email, ip },
      );
      if (!accepted) throw invalidLink();
      return { email: invitation.email };
    },
    "reset.complete": async ({ body, ip }) => {
      await throttle.take(ip);
      const digest = vault.digest(body.token);
      const reset = await people.takeReset(digest);
      const user = reset === null ? null : await people.user(reset.userId);
      if (reset === null || user === null || user.disabled) throw invalidLink();
      await throttle.forgive(ip);
      const auditSource = { actor: user.email, ip };
      try {
        await people.setPassword(user.id, await signIn.hashPassword(body.password), auditSource);
      } catch (thrown) {
        // The link is used up first, so that it works only once. After a failure it works again.
        await people.createReset(user.id, digest, reset.expiresAt, auditSource);
        throw thrown;
      }
      return { email: user.email };
    },
  } satisfies Partial<Handlers>;
}

interface Inviting extends ConsoleDependencies {
  readonly mailRate: ReturnType<typeof mailRateLimit>;
}

async function invite(
  dependencies: Inviting,
  call: Pick<ConsoleCall<"invitations.create">, "actor" | "auditSource" | "request">,
  { email, grant, place }: { readonly email: string; readonly grant: Grant; readonly place: string },
) {
  const { people, vault, clock } = dependencies;
  const inviter = call.actor;
  checkGrant(inviter, grant);
  await refuseExisting(people, email, grant);
  const { secret, link } = oneTimeLink("invite", call.request, dependencies);
  const digest = vault.digest(secret);
  const expiresAt = clock.now() + bounds.invitationMs;
  const invitation = await people.invite(
    { email, grant, invitedBy: inviter.userId, digest, expiresAt },
    call.auditSource,
  );
  return { ...invitation, link, mailed: await mail(dependencies, invitation, place, link) };
}

async function refuseExisting(people: PeopleStore, email: string, grant: Grant): Promise<void> {
  const user = await people.userByEmail(email);
  if (grant.administrator) {
    if (user?.administrator !== true) return;
    throw new Failure("conflict", `${user.email} is already an administrator.`, { param: "email" });
  }
  const here = user?.workspaces.find(({ id }) => id === grant.workspaceId);
  if (user === null || here === undefined) return;
  throw new Failure("conflict", `${user.email} is already a member, as ${here.role}. Change the role instead.`, {
    param: "email",
  });
}

/** A failure is only logged, since the inviter gets the link too. */
async function mail(
  { mailer, observer, mailRate }: Inviting,
  invitation: Invitation,
  place: string,
  link: string,
): Promise<boolean> {
  if (mailer === null) return false;
  const inviter = invitation.invited_by?.email ?? "A user";
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
    await mailRate.take(invitation.workspace?.id ?? null);
    await mailer.send({ to: [invitation.email], subject: `Invitation to ${oneLine(place)}`, text });
    return true;
  } catch (thrown) {
    observer.log("warn", "failed to mail an invitation", { invitation: invitation.id, problem: messageOf(thrown) });
    return false;
  }
}

/** The invitation of a link. Every invalid link gives the same failure. */
async function openInvitation(
  { people, vault }: ConsoleDependencies,
  throttle: ReturnType<typeof linkRateLimit>,
  token: string,
  ip: string,
): Promise<Invitation> {
  await throttle.take(ip);
  const invitation = await people.invitationByDigest(vault.digest(token));
  const inviterId = invitation?.invited_by?.id;
  // An inviter who lost the right to invite leaves no valid invitations.
  const inviter = inviterId === undefined ? null : await people.rightsOf(inviterId);
  if (invitation === null || inviter === null || !mayInvite(inviter, grantOf(invitation))) throw invalidLink();
  await throttle.forgive(ip);
  return invitation;
}

/** The link alone must not be enough to add another user's account to a workspace. */
function checkInvitedUser(account: ConsoleUser, actor: Actor | null): void {
  if (actor?.kind === "user" && actor.userId === account.id) {
    if (actor.fresh) return;
    // The session gains rights, and it may have been left open or stolen.
    throw new Failure("confirm_sign_in", "Your last sign-in is too old for this. Sign in again.");
  }
  if (actor === null) {
    throw new Failure("not_signed_in", `${account.email} has an account here. Sign in, then open the link again.`);
  }
  throw new Failure("forbidden", `This invitation is for ${account.email}, but you are signed in as another user.`);
}

async function newUser(
  signIn: SignIn,
  { email }: Invitation,
  { name, password }: ConsoleCall<"invitation.accept">["body"],
): Promise<PreparedUser> {
  if (name === undefined) throw missing("name");
  if (password === undefined) throw missing("password");
  return await signIn.prepareUser({ email, name, password });
}

function missing(param: string): Failure {
  return new Failure("missing_required_parameter", `\`${param}\` is required for a new account.`, { param });
}

function invalidLink(): Failure {
  return new Failure("not_found", "This link is invalid. It was used, revoked or replaced, or it has expired.");
}
