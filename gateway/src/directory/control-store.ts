import type { ApiKey } from "#core/index.ts";
import type { ControlStore } from "#ports/index.ts";
import { type CallerKeyRow, callerKeys, type Database, keyByOldSecret, keyOf } from "#storage/tables.ts";
import { isPersonDigest, personKey } from "./agents/agent-persons.ts";
import { applyConfig, planConfig, seedConfig } from "./config-file/apply-config.ts";
import { exportConfig } from "./config-file/config-export.ts";
import { readConfigSnapshot } from "./config-snapshot-reader.ts";

import type { ControlOptions } from "./control-options.ts";
import { endingTokens, limitedKeys } from "./keys/limited-keys.ts";
import { configStore } from "./providers/config-store.ts";
import { tenantStore } from "./workspaces/tenant-store.ts";

/** Who may call what, and where it goes. Every write leaves its audit rows and its changes in the same transaction. */
export function createControlStore(options: ControlOptions): ControlStore {
  const { database, vault } = options;
  return {
    ...configStore(options),
    ...tenantStore(options),
    find: keyFinder(database),
    keyById: async (id) => {
      const row = await callerKeys(database.reading).where("api_keys.id", "=", id).executeTakeFirst();
      return row === undefined ? null : keyOf(row);
    },
    configSnapshot: () => readConfigSnapshot(database, vault, options.clock.now()),
    apply: (config, actor, applying) => applyConfig(options, config, actor, applying),
    plan: (config, actor) => planConfig(options, config, actor),
    seed: (config, actor) => seedConfig(options, config, actor),
    exportConfig: (isSecret) => exportConfig(options, isSecret),
    limitedKeys: (filter, limit) => limitedKeys(database.kysely, filter, limit),
    endingTokens: (...asked) => endingTokens(database.kysely, ...asked),
  };
}

/** Compiled once: guessed keys reach it at the rate of the guesser. */
function keyFinder(database: Database): (digest: string) => Promise<ApiKey | null> {
  const byDigest = callerKeys(database.reading).where("digest", "=", "").compile();
  const byOldDigest = callerKeys(database.reading).where("old_digest", "=", "").compile();
  return async (digest) => {
    if (isPersonDigest(digest)) return await personKey(database.reading, digest);
    const { rows } = await database.reading.executeQuery<CallerKeyRow>({ ...byDigest, parameters: [digest] });
    const [row] = rows;
    if (row !== undefined) return keyOf(row);
    const old = await database.reading.executeQuery<CallerKeyRow>({ ...byOldDigest, parameters: [digest] });
    const [rotated] = old.rows;
    return rotated === undefined ? null : keyByOldSecret(rotated);
  };
}
