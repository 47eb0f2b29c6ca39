import type { ApiKey, ConfigSnapshot } from "#core/index.ts";
import type { KeyStore } from "#ports/index.ts";
import { type CallerKeyRow, callerKeys, type Database, keyByOldSecret, keyOf } from "#storage/tables.ts";
import { isPersonDigest, personKey } from "./agents/agent-persons.ts";
import { type BoundStore, bindStore } from "./bound-store.ts";
import { applyConfig, planConfig, seedConfig } from "./config-file/apply-config.ts";
import { exportConfig } from "./config-file/config-export.ts";
import { readConfigSnapshot } from "./config-snapshot-reader.ts";
import type { ControlOptions } from "./control-options.ts";
import { addKey, endKey, hasKeys, key, keyNamed, listKeys, rotateKey, updateKey } from "./keys/keys.ts";
import { endingTokens, limitedKeys } from "./keys/limited-keys.ts";
import { importModels } from "./providers/model-import.ts";
import { modelRecord, modelRecords } from "./providers/model-rows.ts";
import { createModel, listPrices, removeModel, updateModel } from "./providers/models.ts";
import { oidcAccounts, putOidcAccount, removeOidcAccount } from "./providers/oidc-writes.ts";
import { storedPriceList, storePriceList, takePrices } from "./providers/price-list-writes.ts";
import { createProvider, listProviders, provider, removeProvider, updateProvider } from "./providers/providers.ts";
import { settingsInForce, updateSettings } from "./settings.ts";
import { addGroup, groups, removeGroup, updateGroup } from "./workspaces/groups.ts";
import {
  addWorkspace,
  listWorkspaces,
  oneWorkspace,
  removeWorkspace,
  updateWorkspace,
} from "./workspaces/workspaces.ts";

/**
 * Who may call what, and where it goes: workspaces, groups, keys, providers, models, settings, single sign-on, and the config file
 * over all of them. Each write is one transaction with its audit rows and the change notice that tells every process. A write that
 * changes nothing leaves neither. A `change` function is pure; it gets what is stored at that moment.
 *
 * Refusals are Failures: `not_found`, also for an id of another workspace than the one named; `managed_by_file` for what the config
 * file owns; `conflict` for a name that is taken or a list that is full; `invalid_request` with `param` for a wrong field.
 */
export type ControlStore = KeyStore & BoundStore<typeof functions>;

export function createControlStore(options: ControlOptions): ControlStore {
  return { ...bindStore(options, functions), find: keyFinder(options.database) };
}

const functions = {
  async keyById({ database }: ControlOptions, id: string): Promise<ApiKey | null> {
    const row = await callerKeys(database.reading).where("api_keys.id", "=", id).executeTakeFirst();
    return row === undefined ? null : keyOf(row);
  },
  /** The whole configuration of calls, as a frozen snapshot of one moment. */
  configSnapshot: ({ database, vault, clock }: ControlOptions): Promise<ConfigSnapshot> =>
    readConfigSnapshot(database, vault, clock.now()),
  limitedKeys,
  endingTokens,

  workspaces: listWorkspaces,
  workspace: ({ database }: ControlOptions, id: string) => oneWorkspace(database.kysely, "id", id),
  workspaceNamed: ({ database }: ControlOptions, slug: string) => oneWorkspace(database.kysely, "slug", slug),
  addWorkspace,
  updateWorkspace,
  removeWorkspace,
  groups,
  addGroup,
  updateGroup,
  removeGroup,

  key,
  keyNamed,
  listKeys,
  hasKeys,
  addKey,
  updateKey,
  rotateKey,
  endKey,

  listProviders,
  provider,
  createProvider,
  updateProvider,
  removeProvider,
  listModels: ({ database, clock }: ControlOptions) => modelRecords(database.kysely, clock.now()),
  model: ({ database, clock }: ControlOptions, name: string) => modelRecord(database.kysely, name, clock.now()),
  createModel,
  updateModel,
  removeModel,
  listPrices,
  importModels,
  storedPriceList,
  storePriceList,
  takePrices,

  settings: settingsInForce,
  updateSettings,
  oidcAccounts,
  putOidcAccount,
  removeOidcAccount,

  apply: applyConfig,
  plan: planConfig,
  seed: seedConfig,
  exportConfig,
};

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
