import type { BudgetPolicyConfig } from "@sluice/contract/config-file";
import { withoutUndefined } from "#core/index.ts";
import type { Row } from "#storage/tables.ts";
import { namedMembers } from "../scoped-rules.ts";
import { draftOf, type PolicyRow, policyRecord } from "./policy-rows.ts";

interface ExportedNames {
  /** By workspace id. */
  readonly slugs: ReadonlyMap<string, string>;
  readonly groups: readonly Pick<Row<"groups">, "id" | "name" | "workspace_id">[];
  readonly keys: readonly Pick<Row<"api_keys">, "id" | "name" | "workspace_id">[];
  readonly users: readonly { readonly id: string; readonly email: string }[];
}

/** Budget policies in the form of the config file, by workspace id; null: of the installation. */
export function policyConfigs(
  rows: readonly PolicyRow[],
  { slugs, groups, keys, users }: ExportedNames,
): ReadonlyMap<string | null, BudgetPolicyConfig[]> {
  const named = (items: ExportedNames["groups"], isQualified: boolean) =>
    new Map(items.map(({ id, name, workspace_id: home }) => [id, isQualified ? `${slugs.get(home)}/${name}` : name]));
  const namesOf = (isQualified: boolean): Names => ({
    workspaces: slugs,
    groups: named(groups, isQualified),
    keys: named(keys, isQualified),
    people: new Map(users.map(({ id, email }) => [id, email])),
  });
  const [qualified, plain] = [namesOf(true), namesOf(false)];
  const configs = new Map<string | null, BudgetPolicyConfig[]>();
  for (const row of rows) {
    const { workspace_id: home } = row;
    configs.set(home, [...(configs.get(home) ?? []), policyConfig(row, home === null ? qualified : plain)]);
  }
  return configs;
}

type Names = Readonly<Record<(typeof namedMembers)[number], ReadonlyMap<string, string>>>;

function policyConfig(row: PolicyRow, named: Names): BudgetPolicyConfig {
  const { enabled, match = {}, split_by: split, ...draft } = draftOf(policyRecord(row));
  let isLost = false;
  const shown: NonNullable<BudgetPolicyConfig["match"]> = { ...match };
  for (const member of namedMembers) {
    const ids = match[member];
    if (ids === undefined) continue;
    const names = ids.flatMap((id) => named[member].get(id) ?? []);
    shown[member] = names;
    // Without any name it would count every call.
    if (names.length === 0) {
      delete shown[member];
      isLost = true;
    }
  }
  return withoutUndefined({
    ...draft,
    enabled: enabled !== false && !isLost ? undefined : false,
    split_by: split ?? undefined,
    match: Object.keys(shown).length === 0 ? undefined : shown,
  });
}
