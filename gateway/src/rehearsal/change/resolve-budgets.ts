import { budgetSchema, type PolicyMatchConfig, type RehearsedChange } from "@sluice/contract/config-file";
import {
  type BudgetPolicy,
  budgetOfConfig,
  type ConfigSnapshot,
  configOfBudget,
  type PolicyMatch,
  type PolicySplit,
  withoutUndefined,
} from "#core/index.ts";
import type { Database } from "#storage/tables.ts";
import { type Path, refuse, unknownName } from "./change-fault.ts";
import { memberNamed } from "./members.ts";
import type { ObjectIds } from "./object-ids.ts";
import { countsWithin } from "./rehearsed-changes.ts";

type PolicyChange = NonNullable<RehearsedChange["budgets"]>[number];

interface Parts {
  readonly config: Pick<ConfigSnapshot, "budgetPolicies" | "models" | "groups">;
  readonly database: Database;
  readonly ids: ObjectIds;
  /** Only calls of these workspaces are replayed; null: all calls. */
  readonly workspaceIds: readonly string[] | null;
}

/** All budget policies, with the change. */
export async function resolveBudgets(change: RehearsedChange, parts: Parts): Promise<readonly BudgetPolicy[]> {
  const policies = [...parts.config.budgetPolicies];
  const apply = async (config: PolicyChange, workspaceId: string | null, path: Path): Promise<void> => {
    const at = policies.findIndex((each) => each.workspaceId === workspaceId && each.name === config.name);
    const before = policies[at];
    if (config.enabled !== false) policies.push(await policyOf(config, workspaceId, before, path, parts));
    else if (before === undefined) unknownName([...path, "name"], "enabled budget", config.name);
    if (before !== undefined) policies.splice(at, 1);
  };
  await applyEach(change.budgets, ["budgets"], (config, path) => apply(config, null, path));
  for (const [index, { slug, budgets }] of (change.workspaces ?? []).entries()) {
    const path = ["workspaces", index];
    const workspaceId = parts.ids.workspace(slug, [...path, "slug"]);
    await applyEach(budgets, [...path, "budgets"], (config, own) => apply(config, workspaceId, own));
  }
  // As the configuration is read: the first that is used up refuses the call.
  return policies.toSorted((one, other) => compare(one.name, other.name) || compare(one.id, other.id));
}

async function applyEach(
  configs: readonly PolicyChange[] = [],
  path: Path,
  apply: (config: PolicyChange, path: Path) => Promise<void>,
): Promise<void> {
  const named = new Set<string>();
  for (const [index, config] of configs.entries()) {
    const own = [...path, index];
    if (named.has(config.name)) refuse([...own, "name"], `"${config.name}" is in the change twice`);
    named.add(config.name);
    await apply(config, own);
  }
}

/** `before` undefined: a new policy. */
async function policyOf(
  { name, enabled: _, match, split_by: splitBy, ...fields }: PolicyChange,
  workspaceId: string | null,
  before: BudgetPolicy | undefined,
  path: Path,
  parts: Parts,
): Promise<BudgetPolicy> {
  if (before === undefined && (fields.usd === undefined || fields.period === undefined)) {
    refuse([...path, "name"], `there is no enabled budget "${name}"; a new one needs \`usd\` and \`period\``);
  }
  const merged = { ...(before === undefined ? {} : configOfBudget(before.budget)), ...withoutUndefined(fields) };
  const parsed = budgetSchema.safeParse(withoutNull(merged));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse([...path, ...((issue?.path ?? []) as Path)], issue?.message ?? "is not valid");
  }
  const { over } = parsed.data;
  if (typeof over === "object" && !parts.config.models.has(over.fallback)) {
    unknownName([...path, "over", "fallback"], "model", over.fallback);
  }
  const matched =
    match === undefined ? before?.match : await matchOf(match ?? {}, workspaceId, [...path, "match"], parts);
  const policy: BudgetPolicy = {
    id: before?.id ?? `rehearsed ${workspaceId ?? ""}/${name}`,
    ...{ name, workspaceId },
    budget: budgetOfConfig(parsed.data),
    match: matched ?? {},
    splitBy: splitBy === undefined ? (before?.splitBy ?? null) : (splitBy as PolicySplit | null),
  };
  if (parts.workspaceIds !== null && !countsWithin(policy, parts.workspaceIds, parts.config.groups)) {
    refuse(path, "it may count calls of other workspaces. Rehearse it for all workspaces, or set `match.workspaces`");
  }
  return policy;
}

/** In the order of stored policies: another order would count anew. */
async function matchOf(
  { workspaces, groups, keys, people, models, providers, tags }: PolicyMatchConfig,
  home: string | null,
  path: Path,
  { ids, database }: Parts,
): Promise<PolicyMatch> {
  if (home !== null && workspaces !== undefined) {
    refuse([...path, "workspaces"], "can only be set for budgets of the installation");
  }
  const each = <Id>(
    member: string,
    texts: readonly string[] | undefined,
    idOf: (text: string, at: Path) => Id,
  ): Promise<readonly Awaited<Id>[]> | undefined =>
    texts && Promise.all(texts.map((text, index) => idOf(text, [...path, member, index])));
  const userId = async (email: string, at: Path): Promise<string> =>
    (await memberNamed(email, home, database)) ?? unknownName(at, "user", email);
  const values = tags && Object.entries(tags).map(([name, value]) => [name, [value].flat()] as const);
  return withoutUndefined({
    workspaces: await each("workspaces", workspaces, ids.workspace),
    groups: await each("groups", groups, (text, at) => ids.group(text, home, at)),
    keys: await each("keys", keys, (text, at) => ids.key(text, home, at)),
    people: await each("people", people, userId),
    ...{ models, providers, tags: values && Object.fromEntries(values.toSorted()) },
  });
}

function withoutNull(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
