import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { Secret } from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { schemaState } from "../database/migrate.ts";
import { DataUnusable } from "../disk/data-directory.ts";
import { masterKey } from "./master-key.ts";

export interface VaultOptions {
  /** The configured master key; null to use the key file. */
  readonly masterKey: string | null;
  /** Where the key file lives. */
  readonly dataDir: string;
  /** False: a missing key file is an error. */
  readonly mayMakeKey?: boolean;
}

/** The vault of a database that was never given another master key. */
export function openVault(options: VaultOptions): Vault {
  return vaultOn(masterKey(options.masterKey, options.dataDir, options.mayMakeKey));
}

/**
 * The vault of this database. Throws DataUnusable for a master key that does not open it: with that every API key would look
 * unknown and no provider secret could be opened.
 */
export async function openVaultOf(database: Database, options: VaultOptions): Promise<Vault> {
  return (await openedBy(database, masterKey(options.masterKey, options.dataDir, options.mayMakeKey))).vault;
}

/** What `master` opens. Throws DataUnusable. */
async function openedBy(
  database: Database,
  master: Uint8Array,
): Promise<{ readonly vault: Vault; readonly root: Uint8Array; readonly kept: readonly string[] }> {
  const kept = await keptRoots(database);
  const root = kept.length === 0 ? master : rootIn(kept, master);
  const vault = root === null ? null : vaultOn(root);
  const known = await fingerprintOf(database);
  if (root === null || vault === null || (known !== null && known !== vault.digest(fingerprintText))) {
    throw new DataUnusable(anotherKey);
  }
  return { vault, root, kept };
}

/**
 * Has another master key open this database too. What every other key is derived from stays: it is sealed with each master
 * key that may open it, as often as there are such. Running processes go on; those that start from now on may have either.
 * Throws DataUnusable when `options` has a key that does not open it.
 */
export async function addMasterKey(database: Database, options: VaultOptions, added: Uint8Array): Promise<void> {
  const master = masterKey(options.masterKey, options.dataDir, false);
  const { root, kept } = await openedBy(database, master);
  const before = kept.length === 0 ? [sealedRoot(root, master)] : kept;
  if (rootIn(before, added) !== null) throw new DataUnusable("That master key opens this database already.");
  if (before.length >= masterKeysMax) {
    throw new DataUnusable(`${masterKeysMax} master keys open this database already; retire the others first.`);
  }
  await keepRoots(database, kept, [...before, sealedRoot(root, added)]);
}

/** From now on only the master key of `options` opens this database. Gives how many did so beside it. */
export async function retireMasterKeys(database: Database, options: VaultOptions): Promise<number> {
  const master = masterKey(options.masterKey, options.dataDir, false);
  const { kept } = await openedBy(database, master);
  const staying = kept.filter((sealed) => rootIn([sealed], master) !== null);
  if (staying.length < kept.length) await keepRoots(database, kept, staying);
  return kept.length - staying.length;
}

/** The pepper and the sealing key are derived apart, so that neither tells anything of the other. */
function vaultOn(master: Uint8Array): Vault {
  const pepper = derive(master, "sluice api key pepper v1");
  const sealingKey = derive(master, "sluice sealing key v1");
  // Made once: each digest begins with a copy of it.
  const hasher = new Bun.CryptoHasher("sha256", pepper);
  return {
    digest: (secret) => hasher.copy().update(secret).digest("hex"),
    seal: (secret, rowId) => seal(sealingKey, secret, rowId),
    open: (sealed, rowId) => open(sealingKey, sealed, rowId),
    derive: (purpose, id) => derive(master, `sluice ${purpose} v1\n${id}`).toString("base64url"),
  };
}

/** What was sealed cannot be opened: another master key, another row, or damage. Says nothing of the content. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";

  constructor(rowId: string) {
    super(`The sealed value of ${rowId} cannot be opened: it was changed, or sealed with another master key.`);
  }
}

/** Whether a master key belongs to this database already. False for one without tables. */
export async function hasVault(database: Database): Promise<boolean> {
  if ((await schemaState(database)).state === "empty") return false;
  return (await fingerprintOf(database)) !== null;
}

/** The first call remembers the fingerprint of what this database began with; DataUnusable when it is another's. */
export async function confirmVault(database: Database, vault: Vault): Promise<void> {
  const fingerprint = vault.digest(fingerprintText);
  await database.kysely
    .insertInto("settings")
    .values({ name: "vault.fingerprint", value: fingerprint, managed_by: "system" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  if ((await fingerprintOf(database)) !== fingerprint) throw new DataUnusable(anotherKey);
}

const fingerprintOf = (database: Database) => settingOf(database, "vault.fingerprint");

async function settingOf(database: Database, name: string): Promise<string | null> {
  const { kysely } = database;
  const row = await kysely.selectFrom("settings").select("value").where("name", "=", name).executeTakeFirst();
  return row?.value ?? null;
}

const anotherKey = "This database was made with another master key. Start with that key.";
const fingerprintText = "sluice vault fingerprint";

const rootsName = "vault.roots";
const masterKeysMax = 8;

/** The root, sealed once with each master key that opens it. Empty: there is one, and it is the root itself. */
async function keptRoots(database: Database): Promise<readonly string[]> {
  const value = await settingOf(database, rootsName);
  return value === null ? [] : (JSON.parse(value) as readonly string[]);
}

function sealedRoot(root: Uint8Array, master: Uint8Array): string {
  return seal(derive(master, rootPurpose), new Secret(Buffer.from(root).toString("base64")), rootsName);
}

/** null: `master` opens none of them. */
function rootIn(kept: readonly string[], master: Uint8Array): Uint8Array | null {
  const key = derive(master, rootPurpose);
  for (const sealed of kept) {
    try {
      return Buffer.from(open(key, sealed, rootsName).reveal(), "base64");
    } catch (thrown) {
      if (!(thrown instanceof SealBroken)) throw thrown;
    }
  }
  return null;
}

const rootPurpose = "sluice root key v1";

/** Unless somebody else has changed them meanwhile. */
async function keepRoots(database: Database, before: readonly string[], roots: readonly string[]): Promise<void> {
  const value = JSON.stringify(roots);
  const { kysely } = database;
  const [result] =
    before.length === 0
      ? await kysely
          .insertInto("settings")
          .values({ name: rootsName, value, managed_by: "system" })
          .onConflict((conflict) => conflict.column("name").doNothing())
          .execute()
      : await kysely
          .updateTable("settings")
          .set({ value })
          .where("name", "=", rootsName)
          .where("value", "=", JSON.stringify(before))
          .execute();
  if (
    (result === undefined
      ? 0n
      : "numUpdatedRows" in result
        ? result.numUpdatedRows
        : result.numInsertedOrUpdatedRows) !== 1n
  ) {
    throw new DataUnusable("Somebody else has changed the master keys meanwhile; nothing was changed.");
  }
}

const version = "v1";
const ivBytes = 12;
const tagBytes = 16;

function derive(master: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", master, new Uint8Array(0), purpose, 32));
}

/** `v1.<iv>.<ciphertext and tag>`, base64url. */
function seal(key: Buffer, secret: Secret, rowId: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(Buffer.from(rowId, "utf8"));
  const sealed = Buffer.concat([cipher.update(secret.reveal(), "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${version}.${iv.toString("base64url")}.${sealed.toString("base64url")}`;
}

function open(key: Buffer, sealed: string, rowId: string): Secret {
  const [form, ivText, sealedText, ...rest] = sealed.split(".");
  const iv = Buffer.from(ivText ?? "", "base64url");
  const bytes = Buffer.from(sealedText ?? "", "base64url");
  if (form !== version || rest.length > 0 || iv.length !== ivBytes || bytes.length < tagBytes) {
    throw new SealBroken(rowId);
  }
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(rowId, "utf8"));
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    const text = Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - tagBytes)), decipher.final()]);
    return new Secret(text.toString("utf8"));
  } catch {
    throw new SealBroken(rowId);
  }
}
