import type { ConfigSnapshot } from "#core/index.ts";
import type { Database } from "#storage/tables.ts";
import { type Path, unknownName } from "./change-fault.ts";

/** The ids of names in a change, which may also be ids. Each throws with its path if there is no such object. */
export interface ObjectIds {
  readonly workspace: (slug: string, path: Path) => string;
  /** `home`: the workspace that names belong to; null: names are written as `acme/ci`. */
  readonly group: (text: string, home: string | null, path: Path) => string;
  readonly key: (text: string, home: string | null, path: Path) => Promise<string>;
}

export function objectIds(
  { workspaces, groups }: Pick<ConfigSnapshot, "workspaces" | "groups">,
  { kysely }: Database,
): ObjectIds {
  const workspace = (slug: string, path: Path): string => {
    if (workspaces.has(slug)) return slug;
    const found = [...workspaces.values()].find((each) => each.slug === slug);
    return found?.id ?? unknownName(path, "workspace", slug);
  };
  const placed = (text: string, home: string | null, path: Path): readonly [workspaceId: string, name: string] => {
    if (home !== null) return [home, text];
    const slash = text.indexOf("/");
    return [workspace(text.slice(0, slash), path), text.slice(slash + 1)];
  };
  return {
    workspace,
    group: (text, home, path) => {
      const withId = groups.get(text);
      if (withId !== undefined && (home === null || withId.workspaceId === home)) return text;
      const [workspaceId, name] = placed(text, home, path);
      const found = [...groups.values()].find((group) => group.workspaceId === workspaceId && group.name === name);
      return found?.id ?? unknownName(path, "group", text);
    },
    key: async (text, home, path) => {
      const withId = kysely.selectFrom("api_keys").select("id").where("id", "=", text);
      const here = home === null ? withId : withId.where("workspace_id", "=", home);
      if ((await here.executeTakeFirst()) !== undefined) return text;
      const [workspaceId, name] = placed(text, home, path);
      const keys = kysely.selectFrom("api_keys").select("id").where("workspace_id", "=", workspaceId);
      const row = await keys.where("name", "=", name).executeTakeFirst();
      return row?.id ?? unknownName(path, "key", text);
    },
  };
}
