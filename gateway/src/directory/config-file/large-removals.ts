import type { ConfigFile } from "@sluice/contract/config-file";
import type { Conflict } from "@sluice/contract/words";
import type { ApplyReport, ConfigChange } from "#ports/index.ts";
import type { Connection } from "#storage/tables.ts";
import { readFilePeople } from "../people/file-people.ts";

/** How many objects of each kind the config file owns. */
type Owned = Readonly<Record<Kind, number>>;

type Kind = keyof typeof words;

/** What each kind is called: in the file, and as the first words of an audit object. */
const words = {
  providers: "provider ",
  models: "model ",
  workspaces: "workspace ",
  groups: "group ",
  keys: "key ",
  users: "user ",
  tokens: "admin token ",
  oidc: "single sign-on ",
  settings: "setting ",
} as const;

const kinds = Object.keys(words) as readonly Kind[];

/** Names that a refusal lists of each kind. */
const namedMax = 5;

export async function ownedByFile(connection: Connection): Promise<Owned> {
  const count = async (table: "providers" | "models" | "workspaces" | "groups" | "api_keys" | "settings") => {
    const row = await connection
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .where("managed_by", "=", "file")
      .executeTakeFirstOrThrow();
    return Number(row.n);
  };
  const people = await readFilePeople(connection);
  return {
    providers: await count("providers"),
    models: await count("models"),
    workspaces: await count("workspaces"),
    groups: await count("groups"),
    keys: await count("api_keys"),
    users: people.users.length,
    tokens: people.tokens.length,
    oidc: people.oidc.length,
    settings: await count("settings"),
  };
}

/**
 * Removals that look like a file that was read half-written: at least two objects and more than a quarter of a kind, or all of a
 * kind of which the file declares nothing any more. A retention is one by itself: what the default deletes does not come back.
 */
export function largeRemovals(changes: ApplyReport, config: ConfigFile, owned: Owned): readonly Conflict[] {
  const gone = changes.filter(isRemoval);
  const large = kinds.flatMap((kind): string[] => {
    const names = gone.flatMap(({ object }) =>
      object.startsWith(words[kind]) ? [object.slice(words[kind].length)] : [],
    );
    const isLarge =
      (names.length >= 2 && names.length * 4 > owned[kind]) || (names.length > 0 && declared(kind, config) === 0);
    const isRetention = kind === "settings" && names.some((name) => name.endsWith(".retention_days"));
    if (!isLarge && !isRetention) return [];
    const more = names.length > namedMax ? `, and ${names.length - namedMax} more` : "";
    return [`${names.length} of ${owned[kind]} ${kind} (${names.slice(0, namedMax).join(", ")}${more})`];
  });
  if (large.length === 0) return [];
  const message = `the file no longer declares ${large.join(", ")}. If that is meant, confirm it with \`sluice apply --prune\`, or set SLUICE_CONFIG_PRUNE=allow; nothing was changed`;
  return [{ path: [], message }];
}

function isRemoval({ action }: ConfigChange): boolean {
  return action === "suspend" || action === "release" || action === "remove";
}

function declared(kind: Kind, config: ConfigFile): number {
  const workspaces = config.workspaces ?? [];
  switch (kind) {
    case "groups":
      // Each workspace has one.
      return workspaces.length;
    case "keys":
      return workspaces.reduce((sum, { keys = [] }) => sum + keys.length, 0);
    case "settings":
      return Object.keys(config.settings ?? {}).length;
    default:
      return config[kind]?.length ?? 0;
  }
}
