import type { ConsoleWorkspace, GroupWithUsage, WorkspaceWithUsage } from "@sluice/contract";
import { type Actor, Failure, type Workspace } from "#core/index.ts";
import type { ControlStore, PeopleStore, StoredWorkspace } from "#directory/index.ts";
import type { Admission } from "#limits/index.ts";
import { budgetScope, budgetStates } from "../budgets/exhausted.ts";
import { type Handlers, oneWorkspace, requireActor } from "./handler.ts";

export interface WorkspaceHandlerDependencies {
  readonly controlStore: ControlStore;
  readonly admission: Pick<Admission, "limitUsages">;
  /** Resolves when this process has applied everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
}

type WorkspaceRoutes =
  | "workspaces.list"
  | "workspaces.create"
  | "workspaces.show"
  | "workspaces.update"
  | "workspaces.remove";
type GroupRoutes = "groups.list" | "groups.create" | "groups.update" | "groups.remove";

/** The calls about workspaces and groups. */
export function workspaceHandlers(dependencies: WorkspaceHandlerDependencies): Handlers<WorkspaceRoutes | GroupRoutes> {
  return { ...ofWorkspaces(dependencies), ...ofGroups(dependencies) };
}

function ofWorkspaces(dependencies: WorkspaceHandlerDependencies): Handlers<WorkspaceRoutes> {
  const { controlStore, changesSeen } = dependencies;
  return {
    "workspaces.list": async ({ actor, query }) => {
      const caller = requireActor(actor);
      const filter = { ids: caller.administrator ? null : [...caller.roles.keys()], search: query.search };
      const { data, next } = await controlStore.workspaces(filter, query.cursor ?? null, query.limit ?? 50);
      const seen = data.map((workspace) => seenBy(caller, workspace));
      return { data: await workspacesWithUsage(seen, dependencies), next };
    },
    "workspaces.create": async ({ actor, body, auditSource }) => {
      const made = await controlStore.addWorkspace(body, auditSource);
      await changesSeen();
      return seenBy(requireActor(actor), made);
    },
    "workspaces.show": async (call) => {
      const workspace = await controlStore.workspace(oneWorkspace(call).id);
      if (workspace === null) throw new Failure("not_found", "There is no such workspace.", { param: "workspace" });
      const [seen] = await workspacesWithUsage([seenBy(requireActor(call.actor), workspace)], dependencies);
      if (seen === undefined) throw new RangeError("A workspace has its usage.");
      return seen;
    },
    "workspaces.update": async (call) => {
      const { id } = oneWorkspace(call);
      const changed = await controlStore.updateWorkspace(id, call.body, call.auditSource);
      await changesSeen();
      return seenBy(requireActor(call.actor), changed);
    },
    "workspaces.remove": async (call) => {
      await controlStore.removeWorkspace(oneWorkspace(call).id, call.auditSource);
      await changesSeen();
      return {};
    },
  };
}

function ofGroups(dependencies: WorkspaceHandlerDependencies): Handlers<GroupRoutes> {
  const { controlStore, changesSeen } = dependencies;
  return {
    "groups.list": async (call) => ({ data: await groupsWithUsage(oneWorkspace(call), dependencies), next: null }),
    "groups.create": async (call) => {
      const group = await controlStore.addGroup(oneWorkspace(call).id, call.body, call.auditSource);
      await changesSeen();
      return group;
    },
    "groups.update": async (call) => {
      const changed = await controlStore.updateGroup(
        oneWorkspace(call).id,
        call.params.group,
        call.body,
        call.auditSource,
      );
      await changesSeen();
      return changed;
    },
    "groups.remove": async (call) => {
      await controlStore.removeGroup(oneWorkspace(call).id, call.params.group, call.auditSource);
      await changesSeen();
      return {};
    },
  };
}

async function groupsWithUsage(
  workspace: Workspace,
  { controlStore, admission }: WorkspaceHandlerDependencies,
): Promise<GroupWithUsage[]> {
  const groups = await controlStore.groups(workspace.id);
  const scopes = groups.map(({ id, name, budget }) => budgetScope("group", id, name, budget));
  const states = await budgetStates(admission, [workspace.scope, ...scopes]);
  return groups.map((group) => ({
    ...group,
    budget_used: states.used(group.id),
    exhausted_by: states.exhausted({ group: group.id, workspace: workspace.id }),
  }));
}

async function workspacesWithUsage(
  workspaces: readonly ConsoleWorkspace[],
  { admission }: WorkspaceHandlerDependencies,
): Promise<WorkspaceWithUsage[]> {
  const scopes = workspaces.map(({ id, slug, budget }) => budgetScope("workspace", id, slug, budget));
  const states = await budgetStates(admission, scopes);
  return workspaces.map((workspace) => ({
    ...workspace,
    budget_used: states.used(workspace.id),
    exhausted_by: states.exhausted({ workspace: workspace.id }),
  }));
}

/** An administrator counts as an owner of every workspace. */
function seenBy(caller: Actor, workspace: StoredWorkspace): ConsoleWorkspace {
  return { ...workspace, role: caller.administrator ? "owner" : (caller.roles.get(workspace.id) ?? "viewer") };
}

export interface WebhookHandlerDependencies {
  readonly people: Pick<PeopleStore, "note">;
  /** The secret that signs a workspace's webhooks. */
  readonly webhookSecret: (workspaceId: string) => string;
}

/** Shows the webhook secret. Each view is audited, because the secret lets its holder sign as this gateway. */
export function webhookHandlers({
  people,
  webhookSecret,
}: WebhookHandlerDependencies): Handlers<"workspaces.webhookSecret"> {
  return {
    "workspaces.webhookSecret": async (call) => {
      const { id, slug } = oneWorkspace(call);
      await people.note({ action: "view", object: `webhook secret ${slug}`, workspaceId: id }, call.auditSource);
      return { secret: webhookSecret(id) };
    },
  };
}
