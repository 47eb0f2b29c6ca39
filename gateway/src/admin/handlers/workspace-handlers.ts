import type { ConsoleWorkspace } from "@sluice/contract";
import { type Actor, orNotFound } from "#core/index.ts";
import type { StoredWorkspace } from "#directory/index.ts";
import { withBudgetUse } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { applier, type Handlers, oneWorkspace, pageSize } from "./calls.ts";

export function workspaceHandlers(dependencies: ConsoleDependencies) {
  const { controlStore, admission, people, webhookSecret } = dependencies;
  const applied = applier(dependencies);
  const withUse = (workspaces: readonly ConsoleWorkspace[]) =>
    withBudgetUse(admission, "workspace", workspaces, ({ id }) => ({ workspace: id }));
  return {
    "workspaces.list": async ({ actor, query }) => {
      const filter = {
        ids: actor.administrator ? null : [...actor.roles.keys()],
        search: query.search,
        sort: query.sort,
      };
      const { data, ...rest } = await controlStore.workspaces(filter, query.cursor ?? null, query.limit ?? pageSize);
      return { data: await withUse(data.map((workspace) => withRole(actor, workspace))), ...rest };
    },
    "workspaces.create": async ({ actor, body, auditSource }) =>
      withRole(actor, await applied(controlStore.addWorkspace(body, auditSource))),
    "workspaces.show": async (call) => {
      const stored = await controlStore.workspace(oneWorkspace(call).id);
      const workspace = orNotFound(stored, "workspace", "workspace");
      const [seen] = await withUse([withRole(call.actor, workspace)]);
      if (seen === undefined) throw new RangeError("A workspace has its usage.");
      return seen;
    },
    "workspaces.update": async (call) => {
      const { id } = oneWorkspace(call);
      return withRole(call.actor, await applied(controlStore.updateWorkspace(id, call.body, call.auditSource)));
    },
    "workspaces.remove": (call) => applied(controlStore.removeWorkspace(oneWorkspace(call).id, call.auditSource)),
    // Each view of the secret is audited, because it lets its holder sign as this gateway.
    "workspaces.webhookSecret": async (call) => {
      const { workspace, auditSource } = call;
      const object = `webhook secret ${workspace?.slug ?? "of the installation"}` as const;
      await people.note({ action: "view", object, workspaceId: workspace?.id ?? null }, auditSource);
      return { secret: webhookSecret(workspace?.id ?? null) };
    },
    "groups.list": async (call) => {
      const { id, scope } = oneWorkspace(call);
      const groups = await controlStore.groups(id);
      const idsOf = (group: (typeof groups)[number]) => ({ group: group.id, workspace: id });
      return { data: await withBudgetUse(admission, "group", groups, idsOf, [scope]), next: null };
    },
    "groups.create": (call) => applied(controlStore.addGroup(oneWorkspace(call).id, call.body, call.auditSource)),
    "groups.update": (call) =>
      applied(controlStore.updateGroup(oneWorkspace(call).id, call.params.group, call.body, call.auditSource)),
    "groups.remove": (call) =>
      applied(controlStore.removeGroup(oneWorkspace(call).id, call.params.group, call.auditSource)),
  } satisfies Partial<Handlers>;
}

/** An administrator counts as an owner of every workspace. */
function withRole(caller: Actor, workspace: StoredWorkspace): ConsoleWorkspace {
  return { ...workspace, role: caller.administrator ? "owner" : (caller.roles.get(workspace.id) ?? "viewer") };
}
