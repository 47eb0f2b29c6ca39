import { createHash } from "node:crypto";
import type { RightsRule } from "@sluice/contract/config-file";
import type { AuditObject } from "@sluice/contract/words";
import { canonicalJson, type PlacesThere, Secret } from "#core/index.ts";
import type { RightsSource, Vault } from "#ports/index.ts";
import { type AuditedWrite, type Connection, putSystemValue, type Row } from "#storage/tables.ts";

/** Rules are settings of the system, each source's sealed whole: nobody who writes to the database makes an administrator. */
const prefix = "sign-in.rules.";

export async function rulesOf(
  connection: Connection,
  vault: Vault,
  source: RightsSource,
): Promise<readonly RightsRule[]> {
  const row = await rowOf(connection, source);
  return row === undefined ? [] : opened(vault, row);
}

/** Every source that has rules or ever had some, with its rules. */
export async function everyRules(
  connection: Connection,
  vault: Vault,
): Promise<readonly { readonly source: RightsSource; readonly rules: readonly RightsRule[] }[]> {
  const rows = await connection
    .selectFrom("settings")
    .selectAll()
    .where("name", "like", `${prefix}%`)
    .orderBy("name")
    .execute();
  return rows.map((row) => ({ source: row.name.slice(prefix.length) as RightsSource, rules: opened(vault, row) }));
}

/** Writes nothing when they are the same. A source that has none any more keeps its row, so that what they gave is taken away. */
export async function writeRules(
  { transaction, log }: AuditedWrite,
  vault: Vault,
  source: RightsSource,
  rules: readonly RightsRule[],
): Promise<void> {
  const row = await rowOf(transaction, source);
  const before = row === undefined ? [] : opened(vault, row);
  if (rulesDigest(before) === rulesDigest(rules)) return;
  const name = `${prefix}${source}`;
  const value = vault.seal(new Secret(JSON.stringify(rules)), sealId(name));
  await putSystemValue(transaction, name, value);
  const view = (shown: readonly RightsRule[]) => (shown.length === 0 ? null : { rules: shown });
  const action = before.length === 0 ? "create" : rules.length === 0 ? "remove" : "update";
  const label: AuditObject = `rights rules ${source}`;
  log.record(action, label, view(before), view(rules));
  log.configChanged();
}

/** The same for the same rules. */
export function rulesDigest(rules: readonly RightsRule[]): string {
  return createHash("sha256").update(canonicalJson(rules, rulesDepth)).digest("base64url");
}

/** The workspaces that rules name, with their groups. */
export async function placesNamed(
  connection: Connection,
  rules: readonly RightsRule[],
): Promise<{ readonly there: PlacesThere; readonly ids: ReadonlyMap<string, PlaceIds> }> {
  const slugs = [...new Set(rules.flatMap(({ workspace }) => workspace ?? []))];
  if (slugs.length === 0) return { there: new Map(), ids: new Map() };
  const rows = await connection
    .selectFrom("workspaces")
    .leftJoin("groups", "groups.workspace_id", "workspaces.id")
    .select(["workspaces.id", "workspaces.slug", "groups.id as group_id", "groups.name"])
    .where("workspaces.slug", "in", slugs)
    .execute();
  const ids = new Map<string, { id: string; groups: Map<string, string> }>();
  for (const { id, slug, group_id, name } of rows) {
    const place = ids.get(slug) ?? { id, groups: new Map() };
    ids.set(slug, place);
    if (group_id !== null && name !== null) place.groups.set(name, group_id);
  }
  return { ids, there: new Map([...ids].map(([slug, { groups }]) => [slug, new Set(groups.keys())])) };
}

/** The first rule that names what is not there; null: all is there. */
export async function missingPlace(
  connection: Connection,
  rules: readonly RightsRule[],
): Promise<{ readonly index: number; readonly field: "workspace" | "group"; readonly message: string } | null> {
  const { there } = await placesNamed(connection, rules);
  for (const [index, { workspace, group }] of rules.entries()) {
    if (workspace === undefined) continue;
    const groups = there.get(workspace);
    if (groups === undefined) return { index, field: "workspace", message: `there is no workspace "${workspace}"` };
    if (group === undefined || groups.has(group)) continue;
    return { index, field: "group", message: `there is no group "${group}" in the workspace ${workspace}` };
  }
  return null;
}

interface PlaceIds {
  readonly id: string;
  /** Ids by name. */
  readonly groups: ReadonlyMap<string, string>;
}

const rulesDepth = 4;

async function rowOf(connection: Connection, source: RightsSource): Promise<Row<"settings"> | undefined> {
  return await connection
    .selectFrom("settings")
    .selectAll()
    .where("name", "=", `${prefix}${source}`)
    .executeTakeFirst();
}

function opened(vault: Vault, row: Row<"settings">): readonly RightsRule[] {
  return Object.freeze(JSON.parse(vault.open(row.value, sealId(row.name)).reveal()) as RightsRule[]);
}

function sealId(name: string): string {
  return `setting:${name}`;
}
