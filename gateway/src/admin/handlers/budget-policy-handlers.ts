import { coversWorkspace, orNotFound } from "#core/index.ts";
import type { PolicyDraft, PolicyRecord } from "#directory/index.ts";
import { policyView } from "../budgets/policy-view.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { applier, type ConsoleCall, type Handlers } from "./calls.ts";

type Caller = Pick<ConsoleCall<"budgets.list">, "workspace" | "held" | "actor">;

export function budgetPolicyHandlers(dependencies: ConsoleDependencies) {
  const { controlStore, configSnapshot } = dependencies;
  const applied = applier(dependencies);
  const viewOf = ({ workspace, actor }: Caller, record: PolicyRecord) =>
    policyView(dependencies, { workspace, isAdministrator: actor.administrator }, record);
  const visible = async ({ workspace }: Caller): Promise<readonly PolicyRecord[]> => {
    const own = await controlStore.budgetPolicies(workspace?.id ?? null);
    if (workspace === null) return own;
    const { groups } = configSnapshot();
    const inherited = (await controlStore.budgetPolicies(null)).filter(
      (policy) => policy.enabled && policy.managed_by !== "suspended" && coversWorkspace(policy, workspace.id, groups),
    );
    return [...inherited, ...own];
  };
  return {
    "budgets.list": async (call) => {
      const data = [];
      for (const record of await visible(call)) data.push(await viewOf(call, record));
      return { data, next: null };
    },
    "budgets.show": async (call) => {
      const found = (await visible(call)).find(({ id }) => id === call.params.budget);
      return await viewOf(call, orNotFound(found ?? null, "budget"));
    },
    "budgets.create": async (call) => {
      const home = call.workspace?.id ?? null;
      return await viewOf(call, await applied(controlStore.createBudgetPolicy(home, call.body, call.auditSource)));
    },
    "budgets.update": async (call) => {
      const home = call.workspace?.id ?? null;
      const change = changeOf(call.body);
      return await viewOf(
        call,
        await applied(controlStore.updateBudgetPolicy(home, call.params.budget, change, call.auditSource)),
      );
    },
    "budgets.remove": ({ workspace, params, auditSource }) =>
      applied(controlStore.removeBudgetPolicy(workspace?.id ?? null, params.budget, auditSource)),
  } satisfies Partial<Handlers>;
}

/** A null removes a member. */
function changeOf(body: ConsoleCall<"budgets.update">["body"]): Partial<PolicyDraft> {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? undefined]));
}
