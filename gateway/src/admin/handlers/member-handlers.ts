import type { Member, MemberWithUsage, WorkspaceRole } from "@sluice/contract";
import { meets, workspaceRoles } from "@sluice/contract/words";
import { type Actor, Failure, personScopeId, type Workspace } from "#core/index.ts";
import type { MemberChange, PeopleStore } from "#directory/index.ts";
import { checkMemberRemoval, checkRoleChange } from "#identity/index.ts";
import type { Admission } from "#limits/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { budgetScope, budgetStates } from "../budgets/exhausted.ts";
import { type Handlers, oneWorkspace, requireActor } from "./handler.ts";
import { seenPerson } from "./seen-people.ts";

export interface MemberHandlerDependencies {
  readonly people: PeopleStore;
  readonly admission: Pick<Admission, "limitUsages">;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
}

/** The calls about the members of a workspace. */
export function memberHandlers({
  people,
  admission,
  changesSeen,
}: MemberHandlerDependencies): Handlers<"members.list" | "members.update" | "members.remove"> {
  return {
    "members.list": async (call) => {
      const workspace = oneWorkspace(call);
      const members = await withUsage(await people.listMembers(workspace.id), workspace, admission);
      const own = seenPerson(call);
      // How far the budget of somebody else is used tells what they spend.
      const seen = (member: MemberWithUsage) =>
        own === null || member.id === own ? member : { ...member, budget_used: null, exhausted_by: null };
      return { data: members.map(seen), next: null };
    },
    "members.update": async ({ workspace, params, body, actor, auditSource }) => {
      const change = { workspaceId: oneWorkspace({ workspace }).id, userId: params.user, change: body };
      return await changeMember({ people, changesSeen }, { ...change, actor: requireActor(actor), auditSource });
    },
    "members.remove": async ({ workspace, params, body, actor, held, auditSource }) => {
      const { id } = oneWorkspace({ workspace });
      const remover = requireActor(actor);
      const leaving = {
        keys: body.keys ?? null,
        keepsSpend: !meets(held, "admin"),
        allow: (role: WorkspaceRole) => checkMemberRemoval(remover, id, { id: params.user, role }),
      };
      await people.removeMember(id, params.user, leaving, auditSource);
      await changesSeen();
      return {};
    },
  };
}

interface ChangedMember {
  readonly workspaceId: string;
  readonly userId: string;
  readonly change: MemberChange;
  readonly actor: Actor;
  readonly auditSource: AuditSource;
}

/** Throws `not_found` for who is no member, and `forbidden` for one who stands above the actor. */
export async function changeMember(
  { people, changesSeen }: Pick<MemberHandlerDependencies, "people" | "changesSeen">,
  { workspaceId, userId, change, actor, auditSource }: ChangedMember,
): Promise<Member> {
  // Asked in the write: somebody whom an owner raises at this moment stands above the actor.
  const allow = (role: WorkspaceRole | null) => {
    // An administrator sees every user, and so can make one a member without an invitation.
    if (role === null && !actor.administrator) throw noMember();
    checkRoleChange(actor, workspaceId, { role }, change.role ?? role ?? lowestRole);
  };
  const member = await people.updateMember(workspaceId, userId, { ...change, allow }, auditSource);
  await changesSeen();
  return member;
}

/** Whoever may manage members stands above it. */
const lowestRole = workspaceRoles[0];

/** Where the budgets stand that count for each member. */
async function withUsage(
  members: readonly Member[],
  workspace: Workspace,
  admission: Pick<Admission, "limitUsages">,
): Promise<MemberWithUsage[]> {
  const idOf = (member: Member) => personScopeId(workspace.id, member.id);
  const scopes = members.map((member) => budgetScope("person", idOf(member), member.email, member.budget));
  const states = await budgetStates(admission, [workspace.scope, ...scopes]);
  return members.map((member) => ({
    ...member,
    budget_used: states.used(idOf(member)),
    exhausted_by: states.exhausted({ person: idOf(member), workspace: workspace.id }),
  }));
}

function noMember(): Failure {
  return new Failure("not_found", "There is no such member in this workspace.", { param: "user" });
}
