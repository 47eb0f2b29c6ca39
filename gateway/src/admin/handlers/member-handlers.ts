import type { WorkspaceRole } from "@sluice/contract";
import { Failure, type Workspace } from "#core/index.ts";
import { checkMemberRemoval, checkRoleChange } from "#identity/index.ts";
import type { PeopleStore } from "#ports/index.ts";
import type { Handlers } from "./handler.ts";
import { oneWorkspace } from "./one-workspace.ts";
import { requireActor } from "./require-actor.ts";

export interface MemberHandlerDependencies {
  readonly people: PeopleStore;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
}

/** The calls about the members of a workspace. */
export function memberHandlers({
  people,
  changesSeen,
}: MemberHandlerDependencies): Handlers<"members.list" | "members.update" | "members.remove"> {
  return {
    "members.list": async ({ workspace }) => ({
      data: [...(await people.listMembers(oneWorkspace({ workspace }).id))],
      next: null,
    }),
    "members.update": async ({ workspace, params, body, actor, auditSource }) => {
      const { id } = oneWorkspace({ workspace });
      const caller = requireActor(actor);
      const role = await roleOf(people, id, params.user);
      // An administrator sees every user, and so can make one a member without an invitation.
      if (role === undefined || (role === null && !caller.administrator)) throw noMember();
      checkRoleChange(caller, id, { role }, body.role);
      return await people.setMember(id, params.user, body.role, auditSource);
    },
    "members.remove": async ({ workspace, params, body, actor, auditSource }) => {
      const { id } = oneWorkspace({ workspace });
      const role = await roleOf(people, id, params.user);
      if (role === undefined || role === null) throw noMember();
      checkMemberRemoval(requireActor(actor), id, { id: params.user, role });
      await people.removeMember(id, params.user, body.keys ?? null, auditSource);
      await changesSeen();
      return {};
    },
  };
}

/** null: a user, but no member here. undefined: no user at all. */
async function roleOf(
  people: PeopleStore,
  workspaceId: Workspace["id"],
  userId: string,
): Promise<WorkspaceRole | null | undefined> {
  const user = await people.user(userId);
  return user === null ? undefined : (user.workspaces.find(({ id }) => id === workspaceId)?.role ?? null);
}

function noMember(): Failure {
  return new Failure("not_found", "There is no such member in this workspace.", { param: "user" });
}
