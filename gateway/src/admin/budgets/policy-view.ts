import type { ConsoleBudgetPolicy } from "@sluice/contract";
import {
  type BudgetPolicy,
  budgetAmount,
  configOfBudget,
  nanoToUsd,
  noPolicyValue,
  type PolicyMatch,
  policyScope,
  type Workspace,
  windowStart,
} from "#core/index.ts";
import type { PolicyRecord } from "#directory/index.ts";
import { isExhausted, type ScopeLimitUsage } from "#limits/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";

/** Values of a split policy that are shown. */
const policyValuesMax = 20;

type Sources = Pick<
  ConsoleDependencies,
  "admission" | "reports" | "clock" | "configSnapshot" | "controlStore" | "people"
>;

interface Viewer {
  /** null: the installation. */
  readonly workspace: Workspace | null;
  /** The amounts of other workspaces are visible to administrators. */
  readonly isAdministrator: boolean;
}

export async function policyView(
  sources: Sources,
  { workspace, isAdministrator }: Viewer,
  record: PolicyRecord,
): Promise<ConsoleBudgetPolicy> {
  const { id, name, workspaceId, budget, match, splitBy, enabled, managed_by, created_at } = record;
  const inherited = workspaceId === null && workspace !== null;
  // Usage is counted by the policies of calls.
  const policy = sources.configSnapshot().budgetPolicies.find((each) => each.id === id);
  const isShown = policy !== undefined && (!inherited || isAdministrator);
  const [total] = isShown && splitBy === null ? await usagesOf(sources, policy, [null]) : [];
  const counters = isShown && splitBy !== null ? await countersOf(sources, policy) : [];
  const own = inherited && !isAdministrator ? ownMatch(sources, match, workspace.id) : match;
  return {
    ...{ id, name, inherited, enabled, split_by: splitBy, managed_by, created_at },
    workspace: workspaceId === null || workspace === null ? null : { id: workspace.id, slug: workspace.slug },
    budget: configOfBudget(budget),
    match: own as ConsoleBudgetPolicy["match"],
    ...(total === undefined ? noUsage : usageView(total)),
    // The policies of calls may be a moment older.
    limit: nanoToUsd(budgetAmount(budget, sources.clock.now())),
    counters,
  };
}

const noUsage = { used: null, held: null, exhausted: false, resets_at: null };

function usageView(usage: ScopeLimitUsage) {
  const { limit, used, held, resetsAt } = usage;
  return {
    ...{ limit, used, held: held ?? null, exhausted: isExhausted(usage) },
    resets_at: resetsAt === null ? null : resetsAt * 1_000,
  };
}

function usagesOf({ admission }: Pick<Sources, "admission">, policy: BudgetPolicy, values: readonly (string | null)[]) {
  return admission.limitUsages(values.map((value) => policyScope({ policy, value })));
}

/** The usage of a policy: as a whole, or of the values that spent the most. `name`: of the policy and the value. */
export async function policyUsages(
  sources: Sources,
  policy: BudgetPolicy,
  isListed: (usage: ScopeLimitUsage) => boolean,
): Promise<readonly { readonly usage: ScopeLimitUsage; readonly name: string }[]> {
  const { name, splitBy } = policy;
  const values = splitBy === null ? [null] : await valuesOf(sources, policy);
  const usages = await usagesOf(sources, policy, values);
  const listed = [];
  for (const [index, usage] of usages.entries()) {
    if (!isListed(usage)) continue;
    const value = values[index] ?? null;
    const label = value === null ? name : `${name} (${splitBy} ${await labelOf(sources, policy, value)})`;
    listed.push({ usage, name: label });
  }
  return listed;
}

async function valuesOf({ reports, clock }: Pick<Sources, "reports" | "clock">, policy: BudgetPolicy) {
  const from = windowStart(policy.budget, clock.now());
  const found = await reports.policyValues({ policy, value: null }, from - (from % 3_600_000), policyValuesMax);
  return found.map(({ value }) => (value === "" ? noPolicyValue : value));
}

async function countersOf(sources: Sources, policy: BudgetPolicy): Promise<ConsoleBudgetPolicy["counters"]> {
  const values = await valuesOf(sources, policy);
  const usages = await usagesOf(sources, policy, values);
  const counters = [];
  for (const [index, usage] of usages.entries()) {
    const value = values[index] ?? "";
    counters.push({ value, label: await labelOf(sources, policy, value), ...usageView(usage) });
  }
  return counters;
}

/** The name of an object that a value is the id of. */
async function labelOf(
  { configSnapshot, controlStore, people }: Sources,
  { splitBy }: BudgetPolicy,
  value: string,
): Promise<string> {
  const { workspaces, groups } = configSnapshot();
  const slugOf = (workspaceId: string) => workspaces.get(workspaceId)?.slug ?? workspaceId;
  if (splitBy === "workspace") return slugOf(value);
  if (splitBy === "group") {
    const group = groups.get(value);
    return group === undefined ? value : `${slugOf(group.workspaceId)}/${group.name}`;
  }
  if (splitBy === "key") {
    const key = await controlStore.keyById(value);
    return key === null ? value : `${slugOf(key.workspaceId)}/${key.name}`;
  }
  if (splitBy !== "person" || value === noPolicyValue) return value;
  return (await people.emailsOf([value])).get(value) ?? value;
}

/** Objects of other workspaces are not visible in this one. */
function ownMatch({ configSnapshot }: Sources, match: PolicyMatch, workspaceId: string): PolicyMatch {
  const { groups } = configSnapshot();
  const { workspaces, groups: named, keys: _keys, people: _people, ...others } = match;
  const own = named?.filter((id) => groups.get(id)?.workspaceId === workspaceId) ?? [];
  return {
    ...others,
    ...(workspaces === undefined ? {} : { workspaces: [workspaceId] }),
    ...(own.length === 0 ? {} : { groups: own }),
  };
}
