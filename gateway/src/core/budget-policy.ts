import { oncePerObject } from "./bounded-map.ts";
import type { BudgetPolicy, LimitScope, PolicyCounter, PolicySplit } from "./limit.ts";
import { piecesMatch } from "./texts.ts";

/** The caller of a call, or the owner of an entry. */
export interface PolicyCaller {
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly personId?: string | undefined;
}

/** The parts of a call that a policy may depend on, in addition to its caller. */
export interface PolicyCall {
  readonly model: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** `model` is empty if several may serve the call: a budget without a limit for one of them must not admit the others. */
export function policyCall(models: readonly { readonly name: string }[], tags: PolicyCall["tags"]): PolicyCall {
  return { model: models.length === 1 ? (models[0]?.name ?? "") : "", tags };
}

/** An attempt or its ledger entry. */
export interface PolicyCost extends PolicyCaller, PolicyCall {
  readonly provider: string;
}

/** The value of calls without one. */
export const noPolicyValue = "-";

function coversCaller({ workspaceId, match }: BudgetPolicy, caller: PolicyCaller): boolean {
  if (workspaceId !== null && workspaceId !== caller.workspaceId) return false;
  return (
    fits(match.workspaces, caller.workspaceId) &&
    fits(match.groups, caller.groupId) &&
    fits(match.keys, caller.keyId) &&
    (match.people === undefined || (caller.personId !== undefined && match.people.includes(caller.personId)))
  );
}

/** Whether a policy of the installation may count calls of the workspace. Keys and people are ignored. */
export function coversWorkspace(
  { match }: BudgetPolicy,
  workspaceId: string,
  groups: ReadonlyMap<string, { readonly workspaceId: string }>,
): boolean {
  if (!fits(match.workspaces, workspaceId)) return false;
  return match.groups === undefined || match.groups.some((id) => groups.get(id)?.workspaceId === workspaceId);
}

/** The policies that may apply to a caller; undefined: none. */
export function policiesOf(
  policies: readonly BudgetPolicy[],
  caller: PolicyCaller,
): readonly BudgetPolicy[] | undefined {
  if (policies.length === 0) return undefined;
  const own = policies.filter((policy) => coversCaller(policy, caller));
  return own.length === 0 ? undefined : Object.freeze(own);
}

/** Whether it depends on the deployment: then it is checked before each attempt. */
export function followsAttempts({ match, splitBy }: BudgetPolicy): boolean {
  return match.models !== undefined || goesByProvider({ match, splitBy }) || splitBy === "model";
}

/** If its budget is used up, another provider may serve the call. */
export function goesByProvider({ match, splitBy }: Pick<BudgetPolicy, "match" | "splitBy">): boolean {
  return match.providers !== undefined || splitBy === "provider";
}

export function goesByTags({ match, splitBy }: BudgetPolicy): boolean {
  return match.tags !== undefined || tagOf(splitBy) !== null;
}

export function coversTags({ match }: BudgetPolicy, tags: PolicyCall["tags"]): boolean {
  if (match.tags === undefined) return true;
  return Object.entries(match.tags).every(([name, values]) => values.includes(tags[name] ?? ""));
}

export function coversModel({ match }: BudgetPolicy, model: string): boolean {
  if (match.models === undefined) return true;
  for (const pieces of piecesOf(match.models)) if (piecesMatch(pieces, model)) return true;
  return false;
}

const piecesOf = oncePerObject((models: readonly string[]) => models.map((model) => model.split(/\*+/)));

/** For a caller that the policy covers. */
export function coversAttempt(
  policy: BudgetPolicy,
  { model, provider, tags }: PolicyCall & Pick<PolicyCost, "provider">,
): boolean {
  return coversModel(policy, model) && fits(policy.match.providers, provider) && coversTags(policy, tags);
}

export function coversCost(policy: BudgetPolicy, cost: PolicyCost): boolean {
  return coversCaller(policy, cost) && coversAttempt(policy, cost);
}

/** The counter of the policy that a call or an attempt counts for. */
export function policyValue({ splitBy }: BudgetPolicy, cost: PolicyCost): string | null {
  if (splitBy === null) return null;
  const tag = tagOf(splitBy);
  if (tag !== null) return cost.tags[tag] || noPolicyValue;
  const values = {
    key: cost.keyId,
    person: cost.personId ?? noPolicyValue,
    workspace: cost.workspaceId,
    group: cost.groupId,
    model: cost.model,
    provider: cost.provider,
  };
  return values[splitBy as keyof typeof values];
}

/** The name of the tag; null: not split by a tag. */
export function tagOf(splitBy: PolicySplit | null): string | null {
  return splitBy?.startsWith("tag:") === true ? splitBy.slice("tag:".length) : null;
}

/** Another match or split counts anew. */
export function policyScopeId({ policy, value }: PolicyCounter): string {
  const id = `${policy.id}~${versionOf(policy)}`;
  return value === null ? id : `${id}/${encodeURIComponent(value)}`;
}

/** The policy's id in a `policyScopeId`. */
export function policyIdOf(scopeId: string): string {
  return scopeId.slice(0, scopeId.indexOf("~"));
}

const versionOf = oncePerObject(({ match, splitBy }: BudgetPolicy): string => {
  return Bun.hash.wyhash(JSON.stringify([match, splitBy])).toString(36);
});

/** The counter of a policy as the scope of its budget. */
export interface PolicyScope extends LimitScope {
  readonly counter: PolicyCounter;
}

/** `label`: the value as admins know it, where it is an id. */
export function policyScope(counter: PolicyCounter, label = counter.value): PolicyScope {
  const { policy, value } = counter;
  const of = value === null ? "" : ` (${policy.splitBy} ${label})`;
  return Object.freeze({
    kind: "policy",
    id: policyScopeId(counter),
    label: `policy ${policy.name}${of}`,
    limits: {},
    budget: policy.budget,
    counter,
  });
}

function fits(list: readonly string[] | undefined, value: string): boolean {
  return list === undefined || list.includes(value);
}
