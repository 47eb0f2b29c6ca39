import { join } from "node:path";
import type { Environment } from "#config/index.ts";
import { createMemoryTries } from "#coordination/index.ts";
import {
  type ConfigSnapshot,
  type Principal,
  personOf,
  policiesOf,
  policyCaller,
  scopesOf,
  type Task,
} from "#core/index.ts";
import {
  createAgentStore,
  createControlStore,
  createPeopleStore,
  createRightsStore,
  createScimStore,
} from "#directory/index.ts";
import type { BlobStore, Clock, Spool, Transport, Vault } from "#ports/index.ts";
import {
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
import { type TransportOptions, trustedWith } from "#upstream/index.ts";
import { kindDefaults } from "./config-checks.ts";

/** The parts that single commands need and that the server is built on. */
export type Control = Awaited<ReturnType<typeof openControl>>;

/**
 * Opens the vault and the database, and migrates the schema. Throws if the database is newer or unreachable, and DataUnusable, before
 * changing anything, if the data directory is invalid. `held`: this process owns the data directory, so it may run every migration.
 */
export async function openControl(environment: Environment, { held = false } = {}) {
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
  const databaseClock = place.kind === "sqlite" ? null : await openDatabaseClock(database, systemClock);
  const clock = databaseClock ?? systemClock;
  return {
    /** The id of this process: `proc_…`. */
    instanceId: ids.next("proc_"),
    /** On PostgreSQL the time of the database, so that all processes agree. */
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
    /** Counts attempts to guess secrets, over all processes. */
    openTries: place.kind === "sqlite" ? createMemoryTries(clock) : createDatabaseTries({ database, vault, clock }),
    /** The location of the database, for opening more connections. */
    place,
    journalPath: paths.journal,
    /** The migrations that ran. */
    upgrade,
    async close(): Promise<void> {
      databaseClock?.stop();
      await database.close();
    },
  };
}

/** The database server, or by default the file in the data directory. */
export function placeOf({ databaseUrl, dataDir }: Environment): DatabasePlace {
  if (databaseUrl !== null) return { kind: "postgres", url: databaseUrl };
  return { kind: "sqlite", path: dataPaths(dataDir).database };
}

/** Network settings for every outbound client. */
export function networkOf(
  environment: Environment,
): Pick<TransportOptions, "egress" | "authorities" | "webhookExemptions"> {
  const { egress, authorities, webhookExemptions } = environment;
  return { egress, webhookExemptions, authorities: authorities.length === 0 ? undefined : trustedWith(authorities) };
}

/** Blobs are in a bucket, or by default in a folder of the data directory. */
export function openBlobs(
  { bucket, dataDir }: Environment,
  { clock, transport, spool }: { readonly clock: Clock; readonly transport: Transport; readonly spool: Spool },
  folder = "",
): BlobStore {
  if (bucket === null) return createDiskBlobStore({ directory: join(dataDir, "blobs", folder), clock });
  return createBucketBlobStore({
    bucket: bucket.name,
    region: bucket.region,
    prefix: folder === "" ? bucket.prefix : `${bucket.prefix}${folder}/`,
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey.reveal(),
    endpoint: bucket.endpoint ?? `https://s3.${bucket.region}.amazonaws.com`,
    // The operator sets the endpoint, which may be in a private network.
    allowPrivateNetwork: bucket.endpoint !== null,
    transport,
    spool,
    clock,
  });
}

/**
 * Processes on other machines cannot read blobs on this machine's disk. Throws DataUnusable if the installation's blobs are in another
 * folder, unless the operator allows separate folders.
 */
export async function requireSharedBlobFolder(
  { bucket, blobs, databaseUrl, dataDir }: Environment,
  { database, ids }: Pick<Control, "database" | "ids">,
): Promise<void> {
  if (databaseUrl === null || bucket !== null || blobs === "separate") return;
  await refuseOtherBlobFolder({ directory: dataPaths(dataDir).blobs, database, ids });
}

/** Key for verifying our webhooks, in the format of Standard Webhooks (`whsec_…`). It changes with the master key. */
export function webhookSecretOf(vault: Pick<Vault, "derive">, workspaceId: string): string {
  return webhookFormat(vault.derive(purpose, workspaceId));
}

/** Includes secrets of earlier master keys that are still valid. A webhook is signed with each of them. */
export function webhookSecretsOf(vault: Pick<Vault, "deriveValid">, workspaceId: string, now: number) {
  return vault.deriveValid(purpose, workspaceId, now).map(webhookFormat);
}

const purpose = "webhook";
const webhookFormat = (secret: string) => `whsec_${Buffer.from(secret, "base64url").toString("base64")}`;

interface HolderSources {
  readonly configSnapshot: { readonly current: ConfigSnapshot };
  readonly control: Pick<Control, "controlStore">;
}

/** The principal of a task under the current configuration; null if its key, group or workspace no longer exists. */
export async function holderOf(
  { configSnapshot, control }: HolderSources,
  task: Pick<Task, "workspaceId" | "groupId" | "keyId" | "personId">,
): Promise<Principal | null> {
  const workspace = configSnapshot.current.workspaces.get(task.workspaceId);
  const group = configSnapshot.current.groups.get(task.groupId);
  const key = await control.controlStore.keyById(task.keyId);
  if (workspace === undefined || group === undefined || key === null) return null;
  const person = task.personId ?? null;
  // The key may have a new owner, whose limits do not apply.
  const { personScope, ...keyOnly } = key;
  const scopes = scopesOf(workspace, group, personOf(key) === person ? key : keyOnly);
  const holder = { key, group, workspace, person };
  const policies = policiesOf(configSnapshot.current.budgetPolicies, policyCaller(holder));
  return { ...holder, scopes, ...(policies === undefined ? {} : { policies }) };
}

/** A start error that the operator can fix; printed as one line. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}
