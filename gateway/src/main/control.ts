import { join } from "node:path";
import type { Environment } from "#config/index.ts";
import { createMemoryTries } from "#coordination/index.ts";
import { type ConfigSnapshot, type Principal, personOf, scopesOf, type Task } from "#core/index.ts";
import {
  createAgentStore,
  createControlStore,
  createPeopleStore,
  createRightsStore,
  createScimStore,
} from "#directory/index.ts";
import type { BlobStore, Clock, Spool, Transport, Vault } from "#ports/index.ts";
import {
  closeDatabase,
  createBucketBlobStore,
  createDatabaseTries,
  createDiskBlobStore,
  createInstances,
  createLeases,
  createLedgerStore,
  createSharedFacts,
  createUpstreamObjectStore,
  type DatabasePlace,
  dataPaths,
  openDatabaseClock,
  openInstallation,
  refuseOtherBlobFolder,
} from "#storage/index.ts";
import { createIds, systemClock, trustAuthorities } from "#system/index.ts";
import { believedBeside, type TransportOptions } from "#upstream/index.ts";
import { kindDefaults } from "./config-checks.ts";

/** The control side of the gateway: what one-shot commands need, and what the server is built upon. */
export type Control = Awaited<ReturnType<typeof openControl>>;

/**
 * Opens vault and database, and brings the schema up to date. Throws when the database is of a later version or cannot be
 * reached, and DataUnusable when the data directory is not as it must be; then nothing was made in it.
 * `held`: this process holds the data directory, so it may bring a database up to date that others would have to leave alone.
 */
export async function openControl(environment: Environment, { held = false } = {}) {
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
    held,
  });
  const kept = place.kind === "sqlite" ? null : await openDatabaseClock(database, systemClock);
  const clock = kept ?? systemClock;
  return {
    /** The id of this process: `proc_…`. */
    instanceId: ids.next("proc_"),
    /** On PostgreSQL the database's time of day, so that all processes have one. */
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
    /** Tries at what is secret, counted by all processes together. */
    openTries: place.kind === "sqlite" ? createMemoryTries(clock) : createDatabaseTries({ database, vault, clock }),
    /** Where `database` is, for those who open connections of their own. */
    place,
    journalPath: paths.journal,
    /** What was done to bring the database up to this version. */
    upgrade,
    async close(): Promise<void> {
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

/** What the environment says of how this process reaches others, for every client that it makes. */
export function networkOf({
  egress,
  authorities,
  webhookPlaces,
}: Environment): Pick<TransportOptions, "egress" | "authorities" | "webhookPlaces"> {
  return {
    egress,
    webhookPlaces,
    authorities: authorities.length === 0 ? undefined : believedBeside(authorities),
  };
}

/** Where the environment says that blobs are: a bucket, or else a folder of the data directory. */
export function openBlobs(
  { bucket, dataDir }: Environment,
  { clock, transport, spool }: { readonly clock: Clock; readonly transport: Transport; readonly spool: Spool },
): BlobStore {
  if (bucket === null) return createDiskBlobStore({ directory: join(dataDir, "blobs"), clock });
  return createBucketBlobStore({
    bucket: bucket.name,
    region: bucket.region,
    prefix: bucket.prefix,
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey.reveal(),
    endpoint: bucket.endpoint ?? `https://s3.${bucket.region}.amazonaws.com`,
    // Whoever names an address of its own for the bucket is the operator, and may mean a machine of its own network.
    allowPrivateNetwork: bucket.endpoint !== null,
    transport,
    spool,
    clock,
  });
}

/**
 * On a server's database there may be processes of other machines, which would not find what is kept on this one's disk.
 * Throws DataUnusable where the installation's blobs are elsewhere and nobody said that each machine may have its own.
 */
export async function keepToOneBlobFolder(
  { bucket, blobs, databaseUrl, dataDir }: Environment,
  { database, ids }: Pick<Control, "database" | "ids">,
): Promise<void> {
  if (databaseUrl === null || bucket !== null || blobs === "separate") return;
  await refuseOtherBlobFolder({ directory: dataPaths(dataDir).blobs, database, ids });
}

/** What a workspace checks our messages with, in the form of Standard Webhooks: `whsec_` and base64. It changes with the master key. */
export function webhookSecretOf(vault: Pick<Vault, "derive">, workspaceId: string): string {
  return shown(vault.derive(purpose, workspaceId));
}

/** The same, and those of earlier master keys until their end: a message is signed with each of them. */
export function webhookSecretsOf(
  vault: Pick<Vault, "deriveValid">,
  workspaceId: string,
  now: number,
): readonly string[] {
  return vault.deriveValid(purpose, workspaceId, now).map(shown);
}

const purpose = "webhook";
const shown = (secret: string) => `whsec_${Buffer.from(secret, "base64url").toString("base64")}`;

/** Who made a task, under the config snapshot in force; null when the key or what it stands in is gone. */
export async function holderOf(
  {
    configSnapshot,
    control,
  }: {
    readonly configSnapshot: { readonly current: ConfigSnapshot };
    readonly control: Pick<Control, "controlStore">;
  },
  holder: Pick<Task, "workspaceId" | "groupId" | "keyId" | "personId">,
): Promise<Principal | null> {
  const workspace = configSnapshot.current.workspaces.get(holder.workspaceId);
  const group = configSnapshot.current.groups.get(holder.groupId);
  const key = await control.controlStore.keyById(holder.keyId);
  if (workspace === undefined || group === undefined || key === null) return null;
  const person = holder.personId ?? null;
  // A key that has changed hands since has what limits another.
  const { personScope, ...own } = key;
  const scopes = scopesOf(workspace, group, personOf(key) === person ? key : own);
  return { key, group, workspace, person, scopes };
}

/** A reason not to start that the operator can mend; shown as one line. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
