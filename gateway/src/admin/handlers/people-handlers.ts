import { type InvitationHandlerDependencies, invitationHandlers } from "./invitation-handlers.ts";
import { type LinkHandlerDependencies, linkHandlers } from "./link-handlers.ts";
import { type MemberHandlerDependencies, memberHandlers } from "./member-handlers.ts";
import { type UserHandlerDependencies, userHandlers } from "./user-handlers.ts";

export type PeopleHandlerDependencies = UserHandlerDependencies &
  MemberHandlerDependencies &
  InvitationHandlerDependencies &
  LinkHandlerDependencies;

/** The calls about people: users, members, invitations, and the links that both are sent. */
export function peopleHandlers(dependencies: PeopleHandlerDependencies) {
  return {
    ...linkHandlers(dependencies),
    ...userHandlers(dependencies),
    ...memberHandlers(dependencies),
    ...invitationHandlers(dependencies),
  };
}
