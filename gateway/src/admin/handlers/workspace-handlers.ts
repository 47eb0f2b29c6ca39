import type { ConsoleWorkspace } from "@sluice/contract";
import { type Actor, Failure } from "#core/index.ts";
import type { StoredWorkspace } from "#directory/index.ts";
import { withBudgetUse } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { type Handlers, oneWorkspace, pageSize } from "./calls.ts";

/** The calls about workspaces and their groups. */
export function workspaceHandlers(dependencies: ConsoleDependencies) {
  const { controlStore, admission, changesSeen, people, webhookSecret } = dependencies;
  const withUse = (workspaces: readonly ConsoleWorkspace[]) =>
    withBudgetUse(admission, "workspace", workspaces, ({ id }) => ({ workspace: id }));
  return {
    "workspaces.list": async ({ actor, query }) => {
      const filter = { ids: actor.administrator ? null : [...actor.roles.keys()], search: query.search };
      const { data, next } = await controlStore.workspaces(filter, query.cursor ?? null, query.limit ?? pageSize);
      return { data: await withUse(data.map((workspace) => seenBy(actor, workspace))), next };
    },
    "workspaces.create": async ({ actor, body, auditSource }) => {
      const made = await controlStore.addWorkspace(body, auditSource);
      await changesSeen();
      return seenBy(actor, made);
    },
    "workspaces.show": async (call) => {
      const workspace = await controlStore.workspace(oneWorkspace(call).id);
      if (workspace === null) throw new Failure("not_found", "There is no such workspace.", { param: "workspace" });
      const [seen] = await withUse([seenBy(call.actor, workspace)]);
      if (seen === undefined) throw new RangeError("A workspace has its usage.");
      return seen;
    },
    "workspaces.update": async (call) => {
      const changed = await controlStore.updateWorkspace(oneWorkspace(call).id, call.body, call.auditSource);
      await changesSeen();
      return seenBy(call.actor, changed);
    },
    "workspaces.remove": async (call) => {
      await controlStore.removeWorkspace(oneWorkspace(call).id, call.auditSource);
      await changesSeen();
      return {};
    },
    // Each view of the secret is audited, because it lets its holder sign as this gateway.
    "workspaces.webhookSecret": async (call) => {
      const { id, slug } = oneWorkspace(call);
      await people.note({ action: "view", object: `webhook secret ${slug}`, workspaceId: id }, call.auditSource);
      return { secret: webhookSecret(id) };
    },
    "groups.list": async (call) => {
      const { id, scope } = oneWorkspace(call);
      const groups = await controlStore.groups(id);
      const idsOf = (group: (typeof groups)[number]) => ({ group: group.id, workspace: id });
      return { data: await withBudgetUse(admission, "group", groups, idsOf, [scope]), next: null };
    },
    "groups.create": async (call) => {
      const group = await controlStore.addGroup(oneWorkspace(call).id, call.body, call.auditSource);
      await changesSeen();
      return group;
    },
    "groups.update": async (call) => {
      const { params, body, auditSource } = call;
      const changed = await controlStore.updateGroup(oneWorkspace(call).id, params.group, body, auditSource);
      await changesSeen();
      return changed;
    },
    "groups.remove": async (call) => {
      await controlStore.removeGroup(oneWorkspace(call).id, call.params.group, call.auditSource);
      await changesSeen();
      return {};
    },
  } satisfies Partial<Handlers>;
}

/** An administrator counts as an owner of every workspace. */
function seenBy(caller: Actor, workspace: StoredWorkspace): ConsoleWorkspace {
  return { ...workspace, role: caller.administrator ? "owner" : (caller.roles.get(workspace.id) ?? "viewer") };
}
