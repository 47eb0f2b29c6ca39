import { type InvitationCallsHouse, invitationCalls } from "./invitation-calls.ts";
import { type LinkCallsHouse, linkCalls } from "./link-calls.ts";
import { type MemberCallsHouse, memberCalls } from "./member-calls.ts";
import { type UserCallsHouse, userCalls } from "./user-calls.ts";

export type PeopleCallsHouse = UserCallsHouse & MemberCallsHouse & InvitationCallsHouse & LinkCallsHouse;

/** The calls about people: users, members, invitations, and the links that both are sent. */
export function peopleCalls(house: PeopleCallsHouse) {
  return { ...linkCalls(house), ...userCalls(house), ...memberCalls(house), ...invitationCalls(house) };
}
