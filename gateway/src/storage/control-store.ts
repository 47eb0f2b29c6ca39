import type { ApiKey } from "#core/index.ts";
import type { ControlStore } from "#ports/index.ts";
import { administratorExists, createFirstAdministrator } from "./administrators.ts";
import { applyConfig, type ControlOptions } from "./apply-config.ts";
import { readCatalog } from "./catalog-reader.ts";
import type { Database } from "./database.ts";
import { keyOf, listingOf, type NamedKeyRow, namedKeys } from "./key-rows.ts";
import { createKey, revokeKey } from "./key-writes.ts";
import { seedConfig } from "./seed-config.ts";
import { createWorkspace, listWorkspaces } from "./workspace-writes.ts";

/** Who may call what, and where it goes. Every write leaves its audit rows and its changes in the same transaction. */
export function createControlStore(options: ControlOptions): ControlStore {
  const { database, vault } = options;
  return {
    find: keyFinder(database),
    keyById: async (id) => {
      const row = await namedKeys(database.kysely).where("api_keys.id", "=", id).executeTakeFirst();
      return row === undefined ? null : keyOf(row);
    },
    catalog: () => readCatalog(database, vault),
    apply: (config, actor) => applyConfig(options, config, actor),
    seed: (config, actor) => seedConfig(options, config, actor),
    createKey: (key, actor) => createKey(options, key, actor),
    revokeKey: (idOrPrefix, actor) => revokeKey(options, idOrPrefix, actor),
    listKeys: async (workspace) => {
      let query = namedKeys(database.kysely).orderBy("workspaces.slug").orderBy("api_keys.name");
      if (workspace !== null) query = query.where("workspaces.slug", "=", workspace);
      return (await query.execute()).map(listingOf);
    },
    listWorkspaces: () => listWorkspaces(database.kysely),
    createWorkspace: (slug, name, actor) => createWorkspace(options, slug, name, actor),
    administratorExists: () => administratorExists(database.kysely),
    createFirstAdministrator: (email, passwordHash) => createFirstAdministrator(options, email, passwordHash),
  };
}

/** Compiled once: guessed keys reach it at the rate of the guesser. */
function keyFinder(database: Database): (digest: string) => Promise<ApiKey | null> {
  const query = namedKeys(database.kysely).where("digest", "=", "").compile();
  return async (digest) => {
    const { rows } = await database.kysely.executeQuery<NamedKeyRow>({ ...query, parameters: [digest] });
    const [row] = rows;
    return row === undefined ? null : keyOf(row);
  };
}
