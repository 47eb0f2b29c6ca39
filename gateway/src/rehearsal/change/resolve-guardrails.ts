import type { RehearsedChange, WorkspaceGuardrailConfig } from "@sluice/contract/config-file";
import type { ConfigSnapshot } from "#core/index.ts";
import type { Database } from "#storage/tables.ts";
import { type Path, unknownName } from "./change-fault.ts";
import type { RehearsedGuardrail } from "./rehearsed-changes.ts";

interface Named extends WorkspaceGuardrailConfig {
  readonly workspaces?: readonly string[] | undefined;
}

/** Finds what guardrails of a change apply to. A guardrail of the installation names groups and keys as `acme/ci`. */
export async function resolveGuardrails(
  change: RehearsedChange,
  { workspaces, groups }: Pick<ConfigSnapshot, "workspaces" | "groups">,
  { kysely }: Database,
): Promise<readonly RehearsedGuardrail[]> {
  const idOf = (slug: string, path: Path): string => {
    const found = [...workspaces.values()].find((workspace) => workspace.slug === slug);
    return found?.id ?? unknownName(path, "workspace", slug);
  };
  const placed = (text: string, home: string | null, path: Path): readonly [workspaceId: string, name: string] => {
    if (home !== null) return [home, text];
    const slash = text.indexOf("/");
    return [idOf(text.slice(0, slash), path), text.slice(slash + 1)];
  };
  const groupId = (text: string, home: string | null, path: Path): string => {
    const [workspaceId, name] = placed(text, home, path);
    const found = [...groups.values()].find((group) => group.workspaceId === workspaceId && group.name === name);
    return found?.id ?? unknownName(path, "group", text);
  };
  const keyId = async (text: string, home: string | null, path: Path): Promise<string> => {
    const [workspaceId, name] = placed(text, home, path);
    const keys = kysely.selectFrom("api_keys").select("id").where("workspace_id", "=", workspaceId);
    const row = await keys.where("name", "=", name).executeTakeFirst();
    return row?.id ?? unknownName(path, "key", text);
  };
  const resolve = async (config: Named, home: string | null, path: Path): Promise<RehearsedGuardrail> => {
    const { workspaces: slugs = [], groups: groupNames = [], keys: keyNames = [], ...fields } = config;
    const keys: string[] = [];
    for (const [at, text] of keyNames.entries()) keys.push(await keyId(text, home, [...path, "keys", at]));
    return {
      ...{ workspaceId: home, config: fields, keys },
      workspaces: slugs.map((slug, at) => idOf(slug, [...path, "workspaces", at])),
      groups: groupNames.map((text, at) => groupId(text, home, [...path, "groups", at])),
    };
  };
  const resolved: RehearsedGuardrail[] = [];
  for (const [at, config] of (change.guardrails ?? []).entries()) {
    resolved.push(await resolve(config, null, ["guardrails", at]));
  }
  for (const [at, { slug, guardrails = [] }] of (change.workspaces ?? []).entries()) {
    for (const [index, config] of guardrails.entries()) {
      const path = ["workspaces", at, "guardrails", index];
      resolved.push(await resolve(config, idOf(slug, ["workspaces", at, "slug"]), path));
    }
  }
  return resolved;
}
