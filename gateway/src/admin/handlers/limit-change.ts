import type { AnswerOf, BudgetConfig, LimitsConfig } from "@sluice/contract";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import {
  type Budget,
  type ConfigSnapshot,
  configOfBudget,
  Failure,
  type LimitedObject,
  type LimitScope,
  orNotFound,
  personScopeId,
} from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { needText } from "./callers.ts";
import { type ConsoleCall, oneWorkspace } from "./calls.ts";
import { keyHandlers } from "./key-handlers.ts";
import { peopleHandlers } from "./people-handlers.ts";
import { workspaceHandlers } from "./workspace-handlers.ts";

/** The role that a change of the object's limits needs. Only administrators change the limits of a workspace. */
const needs = {
  workspace: "administrator",
  group: consoleRoutes["groups.update"].needs,
  person: consoleRoutes["members.update"].needs,
  key: consoleRoutes["keys.update"].needs,
} as const;

/** Changes one limit through the route of its object, which checks the rights and writes the audit row. */
export async function changeLimit(
  call: ConsoleCall<"limits.update">,
  dependencies: ConsoleDependencies,
): Promise<AnswerOf<"limits.update">> {
  const { body, held, params } = call;
  const { scope: kind, scope_id: id, change } = body;
  if (!meets(held, needs[kind])) throw new Failure("forbidden", `This needs ${needText(needs[kind])}.`);
  const workspace = oneWorkspace(call);
  const before = await scopeNamed(kind, id, workspace.id, dependencies);
  const changed = change.kind === "budget" ? budgetWith(before, change) : { limits: limitsWith(before, change) };
  const path = { workspace: params.workspace };
  const { limits, budget } = await {
    workspace: () => workspaceHandlers(dependencies)["workspaces.update"]({ ...call, body: changed }),
    group: () =>
      workspaceHandlers(dependencies)["groups.update"]({ ...call, params: { ...path, group: id }, body: changed }),
    person: () =>
      peopleHandlers(dependencies)["members.update"]({ ...call, params: { ...path, user: id }, body: changed }),
    key: () => keyHandlers(dependencies)["keys.update"]({ ...call, params: { ...path, key: id }, body: changed }),
  }[kind]();
  return { limits, budget };
}

type Change = ConsoleCall<"limits.update">["body"]["change"];

function budgetWith(
  { budget }: LimitScope,
  { limit, period = budget?.period ?? "month" }: Extract<Change, { readonly kind: "budget" }>,
): { budget: BudgetConfig | null } {
  if (limit === null) return { budget: null };
  if (budget === null || budget.period !== period) return { budget: { ...withoutWindow(budget), usd: limit, period } };
  return { budget: { ...configOfBudget(budget), usd: limit } };
}

/** Another period may not allow the time zone or the rolling window. */
function withoutWindow(budget: Budget | null): Partial<BudgetConfig> {
  if (budget === null) return {};
  const { time_zone: _zone, rolling: _rolling, ...others } = configOfBudget(budget);
  return others;
}

function limitsWith(
  { limits }: LimitScope,
  { kind, limit }: Exclude<Change, { readonly kind: "budget" }>,
): LimitsConfig {
  const { [kind]: _before, ...others } = limits;
  return limit === null ? others : { ...others, [kind]: limit };
}

/** Throws `not_found` for an object of another workspace. */
async function scopeNamed(
  kind: LimitedObject,
  id: string,
  workspaceId: string,
  { configSnapshot, controlStore, people }: ConsoleDependencies,
): Promise<LimitScope> {
  const { workspaces, groups }: ConfigSnapshot = configSnapshot();
  const find = {
    workspace: () => (id === workspaceId ? workspaces.get(id)?.scope : undefined),
    group: () => {
      const group = groups.get(id);
      return group?.workspaceId === workspaceId ? group.scope : undefined;
    },
    person: async (): Promise<LimitScope> => {
      const [person] = await people.limitedPeople({ workspaceId, userIds: [id] }, 1);
      const none = { kind, id: personScopeId(workspaceId, id), label: `person ${id}`, limits: {}, budget: null };
      return person?.scope ?? none;
    },
    key: async () => {
      const key = await controlStore.keyById(id);
      return key?.workspaceId === workspaceId ? key.scope : undefined;
    },
  };
  return orNotFound(await find[kind](), kind, "scope_id");
}
