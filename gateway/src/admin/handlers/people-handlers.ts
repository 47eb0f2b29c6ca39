import type { AnswerOf, ConsoleUser, Member, MemberWithUsage, WorkspaceRole } from "@sluice/contract";
import { meets, workspaceRoles } from "@sluice/contract/words";
import { type Actor, bounds, Failure, orNotFound, periodStart, personScopeId, withoutUndefined } from "#core/index.ts";
import type { MemberChange, PeopleStore } from "#directory/index.ts";
import { checkMemberRemoval, checkRoleChange } from "#identity/index.ts";
import type { AuditSource, ConsoleSession } from "#ports/index.ts";
import { withBudgetUse } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { agentRow } from "./agent-handlers.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import { applier, type ConsoleCall, type Handlers, oneWorkspace, pageSize } from "./calls.ts";
import { oneTimeLink } from "./origins.ts";

/** Calls for users (administrators only) and for members of a workspace. */
export function peopleHandlers(dependencies: ConsoleDependencies) {
  const { people, vault, clock, admission, reports } = dependencies;
  const applied = applier(dependencies);
  return {
    "users.list": async ({ query: { cursor = null, limit = pageSize, unseen_since: unseenSince, ...filter } }) => {
      // If the report fails, only the figures are missing, unless the list is sorted by them.
      const spends = await reports.personSpend(periodStart("month", clock.now())).catch((problem: unknown) => {
        if (filter.sort?.endsWith("spend") === true || !(problem instanceof Failure)) throw problem;
        return null;
      });
      const spend = new Map(spends?.map(({ personId, usd }) => [personId, usd]));
      const page = await people.listUsers({ ...filter, unseenSince, spend }, cursor, limit);
      const spendOf = (id: string) => (spends === null ? null : (spend.get(id) ?? 0));
      return { ...page, data: page.data.map((user) => ({ ...user, spend_usd: spendOf(user.id) })) };
    },
    "users.update": async ({ params, body, auditSource }) => {
      const before = await userNamed(people, params.user);
      const { administrator, disabled, keys } = body;
      return await applied(
        people.updateUser(before.id, { ...withoutUndefined({ administrator, disabled }), keys }, auditSource),
      );
    },
    "users.remove": async ({ params, body, auditSource }) => {
      const user = await userNamed(people, params.user);
      await applied(people.removeUser(user.id, body.keys ?? null, auditSource));
    },
    "users.reset": async ({ params, request, auditSource }) => {
      const user = await userNamed(people, params.user);
      if (user.disabled) throw new Failure("conflict", `${user.email} is disabled. Enable them first.`);
      const { secret, link } = oneTimeLink("reset", request, dependencies);
      const expiresAt = clock.now() + bounds.passwordResetMs;
      await people.createReset(user.id, vault.digest(secret), expiresAt, auditSource);
      return { link, expires_at: expiresAt };
    },
    "users.resetSecondFactor": async ({ params, body, actor, auditSource }) => {
      // The profile page asks for the password for this; a stolen session must not get around that.
      if (actor.userId === params.user) {
        throw new Failure("conflict", "You cannot reset your own second factor here. Use your profile page.");
      }
      return await people.resetSecondFactor(params.user, { passkeys: body.passkeys ?? false }, auditSource);
    },
    "people.show": (call) => personDetail(call, dependencies),
    "members.list": async (call) => {
      const { id, scope } = oneWorkspace(call);
      const idsOf = (member: Member) => ({ person: personScopeId(id, member.id), workspace: id });
      const members = await withBudgetUse(admission, "person", await people.listMembers(id), idsOf, [scope]);
      const own = visiblePerson(call);
      // Budget use reveals what a user spends.
      const seen = (member: MemberWithUsage) =>
        own === null || member.id === own ? member : { ...member, budget_used: null, exhausted_by: null };
      return { data: members.map(seen), next: null };
    },
    "members.update": async ({ workspace, params, body, actor, auditSource }) => {
      const change = { workspaceId: oneWorkspace({ workspace }).id, userId: params.user, change: body };
      return await changeMember(dependencies, { ...change, actor, auditSource });
    },
    "members.remove": async ({ workspace, params, body, actor, held, auditSource }) => {
      const { id } = oneWorkspace({ workspace });
      const leaving = {
        keys: body.keys ?? null,
        refusesSpendTransfer: !meets(held, "admin"),
        allow: (role: WorkspaceRole) => checkMemberRemoval(actor, id, { id: params.user, role }),
      };
      await applied(people.removeMember(id, params.user, leaving, auditSource));
    },
  } satisfies Partial<Handlers>;
}

/**
 * Admins of a workspace see only its members, and only what concerns the workspace. Administrators and the person see everything.
 */
async function personDetail(
  call: ConsoleCall<"people.show">,
  { people, agents, signIn }: ConsoleDependencies,
): Promise<AnswerOf<"people.show">> {
  const { actor, workspace, params } = call;
  checkPerson(call, params.user);
  const user = await userNamed(people, params.user);
  // A token may be limited to a workspace.
  const isWhole = actor.administrator || (actor.kind === "user" && actor.userId === user.id);
  const workspaces = isWhole ? user.workspaces : user.workspaces.filter(({ id }) => id === workspace?.id);
  orNotFound(isWhole || workspaces.length > 0 || null, "user");
  const sessions = await agents.sessions({ userId: user.id });
  const { id, email, name, administrator, disabled, created_at, two_factor, passkeys, last_seen_at, sources } = user;
  return {
    ...{ id, email, name, administrator, disabled, created_at, workspaces },
    agents: sessions.filter(({ workspaceId }) => isWhole || workspaceId === workspace?.id).map(agentRow),
    sign_in: isWhole
      ? { two_factor, passkeys, last_seen_at, sources, sessions: (await signIn.sessionsOf(user.id)).map(sessionRow) }
      : null,
  };
}

function sessionRow({ createdAt, seenAt, endsAt, ip, userAgent }: ConsoleSession) {
  return {
    created_at: createdAt,
    seen_at: seenAt,
    ends_at: endsAt,
    ip: ip === "" ? null : ip,
    user_agent: userAgent === "" ? null : userAgent,
  };
}

interface ChangedMember {
  readonly workspaceId: string;
  readonly userId: string;
  readonly change: MemberChange;
  readonly actor: Actor;
  readonly auditSource: AuditSource;
}

/** Throws `not_found` for a non-member, and `forbidden` for a member above the caller. */
export async function changeMember(
  dependencies: Pick<ConsoleDependencies, "people" | "changesSeen">,
  { workspaceId, userId, change, actor, auditSource }: ChangedMember,
): Promise<Member> {
  // Checked inside the transaction, since an owner may promote the member at the same time.
  const allow = (role: WorkspaceRole | null) => {
    // Administrators see every user, so they can add one without an invitation.
    if (!actor.administrator) orNotFound(role, "member in this workspace", "user");
    checkRoleChange(actor, workspaceId, { role }, change.role ?? role ?? lowestRole);
  };
  const { people } = dependencies;
  return await applier(dependencies)(people.updateMember(workspaceId, userId, { ...change, allow }, auditSource));
}

/** Below the role of every user who may manage members. */
const lowestRole = workspaceRoles[0];

async function userNamed(people: PeopleStore, id: string): Promise<ConsoleUser> {
  return orNotFound(await people.user(id), "user", "user");
}
