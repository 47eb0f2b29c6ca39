import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface PeopleCallsHouse {}

/** The calls about people. */
export function peopleCalls(
  _house: PeopleCallsHouse,
): Handlers<
  | "invitation.look"
  | "invitation.accept"
  | "reset.complete"
  | "users.list"
  | "users.update"
  | "users.remove"
  | "users.reset"
  | "members.list"
  | "members.update"
  | "members.remove"
  | "invitations.administrators"
  | "invitations.inviteAdministrator"
  | "invitations.list"
  | "invitations.create"
  | "invitations.revoke"
> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "invitation.look": missing,
    "invitation.accept": missing,
    "reset.complete": missing,
    "users.list": missing,
    "users.update": missing,
    "users.remove": missing,
    "users.reset": missing,
    "members.list": missing,
    "members.update": missing,
    "members.remove": missing,
    "invitations.administrators": missing,
    "invitations.inviteAdministrator": missing,
    "invitations.list": missing,
    "invitations.create": missing,
    "invitations.revoke": missing,
  };
}
