import type { Environment } from "#config/index.ts";
import { createMemoryTries } from "#coordination/index.ts";
import {
  type AgentStore,
  type ControlStore,
  createAgentStore,
  createControlStore,
  createPeopleStore,
  createRightsStore,
  createScimStore,
  type PeopleStore,
  type RightsStore,
  type ScimStore,
} from "#directory/index.ts";
import type { Clock, Ids, Leases, LedgerStore, OpenTries, UpstreamObjectStore } from "#ports/index.ts";
import {
  closeDatabase,
  createDatabaseTries,
  createInstances,
  createLeases,
  createLedgerStore,
  createSharedFacts,
  createUpstreamObjectStore,
  type Database,
  type DatabasePlace,
  type DatabaseVault,
  dataPaths,
  type Instances,
  openDatabaseClock,
  openInstallation,
  type SharedFacts,
  type Upgrade,
} from "#storage/index.ts";
import { createIds, systemClock, trustAuthorities } from "#system/index.ts";
import { kindDefaults } from "./kind-check.ts";

/** The control side of the gateway: what one-shot commands need, and what the server is built upon. */
export interface Control {
  /** The id of this process: `proc_…`. */
  readonly instanceId: string;
  /** On PostgreSQL the database's time of day, so that all processes have one. */
  readonly clock: Clock;
  readonly ids: Ids;
  readonly vault: DatabaseVault;
  readonly database: Database;
  readonly controlStore: ControlStore;
  readonly ledgerStore: LedgerStore;
  readonly objectStore: UpstreamObjectStore;
  readonly people: PeopleStore;
  readonly agents: AgentStore;
  readonly rights: RightsStore;
  readonly scim: ScimStore;
  readonly leases: Leases;
  readonly instances: Instances;
  readonly facts: SharedFacts;
  /** Tries at what is secret, counted by all processes together. */
  readonly openTries: OpenTries;
  /** Where `database` is, for those who open connections of their own. */
  readonly place: DatabasePlace;
  readonly journalPath: string;
  /** What was done to bring the database up to this version. */
  readonly upgrade: Upgrade;
  close(): Promise<void>;
}

export interface ControlOptions {
  /** This process holds the data directory: it may bring a database up to date that others would have to leave alone. */
  readonly held?: boolean;
}

/**
 * Opens vault and database, and brings the schema up to date. Throws when the database is of a later version or cannot be
 * reached, and DataUnusable when the data directory is not as it must be; then nothing was made in it.
 */
export async function openControl(environment: Environment, options: ControlOptions = {}): Promise<Control> {
  // Before anything is connected to.
  trustAuthorities(environment.authorities);
  const ids = createIds(systemClock);
  const paths = dataPaths(environment.dataDir);
  const place = placeOf(environment);
  const { database, vault, upgrade } = await openInstallation({
    place,
    paths,
    masterKey: environment.masterKey?.reveal() ?? null,
    now: systemClock.now(),
    held: options.held === true,
  });
  const kept = place.kind === "sqlite" ? null : await openDatabaseClock(database, systemClock);
  const clock = kept ?? systemClock;
  return {
    instanceId: ids.next("proc_"),
    clock,
    ids,
    vault,
    database,
    controlStore: createControlStore({ database, vault, ids, clock, kindDefaults }),
    ledgerStore: createLedgerStore(database),
    objectStore: createUpstreamObjectStore(database),
    people: createPeopleStore({ database, clock, ids }),
    agents: createAgentStore({ database, clock, ids }),
    rights: createRightsStore({ database, clock, ids, vault }),
    scim: createScimStore({ database, clock, ids, vault }),
    leases: createLeases(database),
    instances: createInstances(database),
    facts: createSharedFacts(database),
    openTries: place.kind === "sqlite" ? createMemoryTries(clock) : createDatabaseTries({ database, vault, clock }),
    place,
    journalPath: paths.journal,
    upgrade,
    async close() {
      kept?.stop();
      await closeDatabase(database);
    },
  };
}

/** The database that the environment names: a server's, or else the file in the data directory. */
export function placeOf({ databaseUrl, dataDir }: Environment): DatabasePlace {
  if (databaseUrl !== null) return { kind: "postgres", url: databaseUrl };
  return { kind: "sqlite", path: dataPaths(dataDir).database };
}
