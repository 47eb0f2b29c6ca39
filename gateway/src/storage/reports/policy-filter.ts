import { type RawBuilder, type SqlBool, sql } from "kysely";
import { noPolicyValue, type PolicyCounter, tagOf } from "#core/index.ts";
import type { Flavour } from "../database/database.ts";
import type { ScopeColumn } from "../ledger/ledger-grains.ts";
import { tagValueIn } from "../ledger/ledger-rollup.ts";

type Filter = RawBuilder<SqlBool>;

const splitColumns = {
  key: "key_id",
  person: "person_id",
  workspace: "workspace_id",
  group: "group_id",
  model: "model",
  provider: "provider",
} as const;

/** SQL for the value that splits a policy, in a rollup or an entry; "" without a value. null: the policy is not split. */
export function splitOf(flavour: Flavour, { policy: { splitBy } }: PolicyCounter): RawBuilder<string> | null {
  if (splitBy === null) return null;
  const tag = tagOf(splitBy);
  if (tag !== null) return tagValueIn(flavour, tag);
  return sql<string>`coalesce(${sql.ref(splitColumns[splitBy as keyof typeof splitColumns])}, '')`;
}

/** The rollups or entries that a counter of a policy counts; `value` null: all values. */
export function policyFilter(flavour: Flavour, counter: PolicyCounter): readonly Filter[] {
  const { workspaceId, match } = counter.policy;
  const split = splitOf(flavour, counter);
  const { value } = counter;
  // Callers may also send a tag with this value.
  const values = value === noPolicyValue ? ["", noPolicyValue] : [value ?? ""];
  return [
    ...(workspaceId === null ? [] : isIn(sql.ref("workspace_id"), [workspaceId])),
    ...isIn(sql.ref("workspace_id"), match.workspaces),
    ...isIn(sql.ref("group_id"), match.groups),
    ...isIn(sql.ref("key_id"), match.keys),
    ...isIn(sql.ref("person_id"), match.people),
    ...isIn(sql.ref("provider"), match.providers),
    ...(match.models === undefined ? [] : [anyOf(match.models.map((model) => modelFits(flavour, model)))]),
    ...Object.entries(match.tags ?? {}).flatMap(([name, values]) => isIn(tagValueIn(flavour, name), values)),
    ...(split === null || value === null ? [] : isIn(split, values)),
  ];
}

export function policyColumns({ policy: { workspaceId, match, splitBy } }: PolicyCounter): readonly ScopeColumn[] {
  const columns = {
    workspace_id: workspaceId !== null || match.workspaces !== undefined || splitBy === "workspace",
    group_id: match.groups !== undefined || splitBy === "group",
    key_id: match.keys !== undefined || splitBy === "key",
    person_id: match.people !== undefined || splitBy === "person",
    model: match.models !== undefined || splitBy === "model",
    provider: match.providers !== undefined || splitBy === "provider",
    tags: match.tags !== undefined || tagOf(splitBy) !== null,
  } as const;
  return Object.entries(columns).flatMap(([name, needed]) => (needed ? [name as keyof typeof columns] : []));
}

function isIn(column: RawBuilder<unknown>, values: readonly string[] | undefined): readonly Filter[] {
  return values === undefined ? [] : [sql<SqlBool>`${column} in (${sql.join(values)})`];
}

function anyOf(filters: readonly Filter[]): Filter {
  return sql<SqlBool>`(${sql.join(filters, sql` or `)})`;
}

/** `*` is the only wildcard of a pattern. */
function modelFits({ name }: Flavour, pattern: string): Filter {
  const model = sql.ref("model");
  if (!pattern.includes("*")) return sql<SqlBool>`${model} = ${pattern}`;
  if (name === "sqlite") return sql<SqlBool>`${model} glob ${pattern.replace(/[?[]/g, "[$&]")}`;
  return sql<SqlBool>`${model} like ${pattern.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%")}`;
}
