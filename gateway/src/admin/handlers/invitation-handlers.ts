import type { Invitation } from "@sluice/contract";
import { bounds, Failure, type Grant } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import { checkGrant, checkInvitationRevoke, noInvitation } from "#identity/index.ts";
import type { Clock, Mailer, Observer, OpenTries, Vault } from "#ports/index.ts";
import { LetterRate } from "../throttle.ts";
import { type ConsoleCall, type Handlers, oneWorkspace, requireActor } from "./handler.ts";
import { type OneTimeLinkOptions, oneTimeLink } from "./one-time-link.ts";

export interface InvitationHandlerDependencies extends OneTimeLinkOptions {
  readonly people: PeopleStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly openTries: OpenTries;
  /** null: links are handed on by whoever makes them. */
  readonly mailer: Mailer | null;
}

type InvitationRoutes =
  | "invitations.administrators"
  | "invitations.inviteAdministrator"
  | "invitations.list"
  | "invitations.create"
  | "invitations.revoke";

/** The calls that make invitations, show and take them back. */
export function invitationHandlers(dependencies: InvitationHandlerDependencies): Handlers<InvitationRoutes> {
  const { people } = dependencies;
  const inviting = { ...dependencies, letters: new LetterRate("invitation", dependencies.openTries) };
  return {
    "invitations.administrators": async () => ({ data: [...(await people.listInvitations(null))], next: null }),
    "invitations.inviteAdministrator": (call) =>
      invite(inviting, call, { email: call.body.email, grant: { administrator: true }, place: "Sluice" }),
    "invitations.list": async ({ workspace }) => ({
      data: [...(await people.listInvitations(oneWorkspace({ workspace }).id))],
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
      checkInvitationRevoke(requireActor(actor), grantOfInvitation(invitation));
      await people.revokeInvitation(invitation.id, auditSource);
      return {};
    },
  };
}

export function grantOfInvitation({ workspace, role }: Invitation): Grant {
  return workspace === null || role === null
    ? { administrator: true }
    : { administrator: false, workspaceId: workspace.id, role };
}

interface Inviting extends InvitationHandlerDependencies {
  readonly letters: LetterRate;
}

async function invite(
  dependencies: Inviting,
  call: Pick<ConsoleCall<"invitations.create">, "actor" | "auditSource" | "request">,
  { email, grant, place }: { readonly email: string; readonly grant: Grant; readonly place: string },
) {
  const { people, vault, clock } = dependencies;
  const inviter = requireActor(call.actor);
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
