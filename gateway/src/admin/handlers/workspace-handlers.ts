import type { ConsoleWorkspace } from "@sluice/contract";
import { type Actor, Failure } from "#core/index.ts";
import type { ControlStore, StoredWorkspace } from "#ports/index.ts";
import type { Handlers } from "./handler.ts";
import { oneWorkspace } from "./one-workspace.ts";
import { requireActor } from "./require-actor.ts";

export interface WorkspaceHandlerDependencies {
  readonly controlStore: ControlStore;
  /** Resolves when this process goes by everything that was written until now. */
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

function ofWorkspaces({ controlStore, changesSeen }: WorkspaceHandlerDependencies): Handlers<WorkspaceRoutes> {
  return {
    "workspaces.list": async ({ actor, query }) => {
      const caller = requireActor(actor);
      const filter = { ids: caller.administrator ? null : [...caller.roles.keys()], search: query.search };
      const { data, next } = await controlStore.workspaces(filter, query.cursor ?? null, query.limit ?? 50);
      return { data: data.map((workspace) => seenBy(caller, workspace)), next };
    },
    "workspaces.create": async ({ actor, body, auditSource }) => {
      const made = await controlStore.addWorkspace(body, auditSource);
      await changesSeen();
      return seenBy(requireActor(actor), made);
    },
    "workspaces.show": async (call) => {
      const workspace = await controlStore.workspace(oneWorkspace(call).id);
      if (workspace === null) throw new Failure("not_found", "There is no such workspace.", { param: "workspace" });
      return seenBy(requireActor(call.actor), workspace);
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

function ofGroups({ controlStore, changesSeen }: WorkspaceHandlerDependencies): Handlers<GroupRoutes> {
  return {
    "groups.list": async (call) => ({ data: [...(await controlStore.groups(oneWorkspace(call).id))], next: null }),
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

/** An administrator is an owner everywhere. */
function seenBy(caller: Actor, workspace: StoredWorkspace): ConsoleWorkspace {
  return { ...workspace, role: caller.administrator ? "owner" : (caller.roles.get(workspace.id) ?? "viewer") };
}
