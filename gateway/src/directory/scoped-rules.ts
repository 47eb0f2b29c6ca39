import type { Connection } from "#storage/tables.ts";
import { type Problem, refuseSuspended } from "./refusals.ts";
import { findRow, findRows } from "./rows.ts";
import { workspaceOf } from "./workspaces/workspace-rows.ts";

// Guardrails and budget policies are rules: they belong to the installation (null) or to one workspace, and name objects they apply to.

/** Members of a rule that name objects. They are stored as ids. */
export const namedMembers = ["workspaces", "groups", "keys", "people"] as const;
type NamedMember = (typeof namedMembers)[number];
type NamedObjects = { readonly [Member in NamedMember]?: readonly string[] | undefined };

interface RulePlace {
  readonly workspace_id: string | null;
}

/** The slug of the workspace; "" for the installation. Throws for a suspended workspace. */
export async function ruleSlug(connection: Connection, workspaceId: string | null): Promise<string> {
  if (workspaceId === null) return "";
  const workspace = await workspaceOf(connection, workspaceId);
  refuseSuspended(workspace, `workspace ${workspace.slug}`);
  return workspace.slug;
}

/** A name that no rule of another workspace has. */
export function fullRuleName({ workspace_id, name }: RulePlace & { readonly name: string }): string {
  return `${workspace_id ?? ""}/${name}`;
}

/** Each call is matched with the rules of the installation and of its workspace. `plural` names the rules. */
export function ruleCountProblems(rows: readonly RulePlace[], plural: string, max: number): readonly Problem[] {
  const places = Map.groupBy(rows, (row) => row.workspace_id);
  const inherited = places.get(null)?.length ?? 0;
  const most = Math.max(0, ...[...places].map(([id, own]) => (id === null ? 0 : own.length)));
  if (inherited + most <= max) return [];
  const message = `A workspace and the installation can have at most ${max} ${plural} together.`;
  return [{ path: [], message, code: "conflict" }];
}

/** Ids that do not exist or belong to another workspace, except those in `unchecked`. */
export async function unknownIds(
  connection: Connection,
  workspaceId: string | null,
  named: NamedObjects,
  unchecked: readonly string[] = [],
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const member of namedMembers) {
    const wanted = named[member] ?? [];
    if (wanted.length === 0) continue;
    const rows = await rowsOf(connection, member, wanted, workspaceId);
    const ids = new Set([...unchecked, ...rows.map(({ id }) => id)]);
    const missing = wanted.findIndex((id) => !ids.has(id));
    if (missing === -1) continue;
    problems.push({ path: [member, missing], message: `${singular(member)} not found` });
  }
  return problems;
}

async function rowsOf(
  connection: Connection,
  member: NamedMember,
  id: readonly string[],
  workspaceId: string | null,
): Promise<readonly { readonly id: string }[]> {
  const home = workspaceId === null ? {} : { workspace_id: workspaceId };
  switch (member) {
    case "workspaces":
      return await findRows(connection, "workspaces", { id });
    case "groups":
      return await findRows(connection, "groups", { id, ...home });
    case "keys":
      return await findRows(connection, "api_keys", { id, ...home });
    case "people":
      return await findRows(connection, "auth_users", { id });
  }
}

/** The ids of the names in the config file. A rule of the installation names groups and keys as `acme/ci`. */
export async function idsOfNames(
  connection: Connection,
  named: NamedObjects,
  workspaceId: string | null,
  workspaceIds: { get(slug: string): string | undefined },
) {
  const problems: Problem[] = [];
  const ids: Partial<Record<NamedMember, string[]>> = {};
  for (const member of namedMembers) {
    for (const [index, text] of (named[member] ?? []).entries()) {
      const id = await idOfName(connection, member, text, workspaceId, workspaceIds);
      if (id === undefined) {
        problems.push({ path: [member, index], message: `there is no ${singular(member)} "${text}"` });
      } else ids[member] = [...(ids[member] ?? []), id];
    }
  }
  return { ids, problems };
}

async function idOfName(
  connection: Connection,
  member: NamedMember,
  text: string,
  workspaceId: string | null,
  workspaceIds: { get(slug: string): string | undefined },
): Promise<string | undefined> {
  if (member === "workspaces") return workspaceIds.get(text);
  if (member === "people") return (await findRow(connection, "auth_users", { email: text.toLowerCase() }))?.id;
  const slash = text.indexOf("/");
  const home = workspaceId ?? workspaceIds.get(text.slice(0, slash)) ?? "";
  const place = { workspace_id: home, name: workspaceId === null ? text.slice(slash + 1) : text };
  return (await findRow(connection, member === "groups" ? "groups" : "api_keys", place))?.id;
}

function singular(member: NamedMember): string {
  return member === "people" ? "user" : member.slice(0, -1);
}
