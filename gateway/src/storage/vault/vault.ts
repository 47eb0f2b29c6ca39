import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { Secret } from "#core/index.ts";
import type { Vault, VersionedSecret } from "#ports/index.ts";
import type { Connection, Database } from "../database/database.ts";
import { schemaState } from "../database/migrate.ts";
import { firstSystemValue, systemValue } from "../database/system-values.ts";
import { DataUnusable } from "../disk/data-directory.ts";
import { masterKey } from "./master-key.ts";

export interface VaultOptions {
  /** null: use the key file. */
  readonly masterKey: string | null;
  /** Location of the key file. */
  readonly dataDir: string;
  /** False: a missing key file is an error. */
  readonly mayMakeKey?: boolean;
}

/**
 * The vault of a database. Digests use a permanent pepper. The current root seals and signs; it changes with the master key. Earlier
 * roots still open what they sealed, and verify what they signed until a set end.
 */
export interface DatabaseVault extends Vault {
  /** Reads which root is current. Throws DataUnusable if this process's master key no longer opens the database. */
  refresh(): Promise<void>;
  /** Reseals with the current root; null: it already is. Throws SealBroken. */
  reseal(sealed: string, rowId: string): string | null;
}

/** For a database with its first master key. */
export function openVault(options: VaultOptions): Vault {
  return new RootedVault(firstKeys(masterKey(options.masterKey, options.dataDir, options.mayMakeKey)), firstState);
}

/** Throws DataUnusable if the master key does not open the database: all API keys would look unknown. */
export async function openVaultOf(database: Database, options: VaultOptions): Promise<DatabaseVault> {
  const master = masterKey(options.masterKey, options.dataDir, options.mayMakeKey);
  const { keys, state } = await unlock(database, master);
  const vault = new RootedVault(keys, state);
  return Object.assign(vault, {
    refresh: async () => {
      const now = await readState(database);
      // Also for a retired master key: ended signatures must end here too.
      vault.use(keysFor(now, master), now);
      if (keysFor(now, master) === null) throw new DataUnusable(anotherKey);
    },
  });
}

/** Throws DataUnusable if `master` opens nothing. */
async function unlock(
  database: Database,
  master: Uint8Array,
): Promise<{ readonly keys: Keys; readonly state: RootState }> {
  const state = await readState(database);
  const keys = keysFor(state, master);
  const known = await fingerprintOf(database);
  if (keys === null || (known !== null && known !== new RootedVault(keys, state).digest(fingerprintText))) {
    throw new DataUnusable(anotherKey);
  }
  return { keys, state };
}

/**
 * Adds a master key with a new root, which becomes current when the others are retired. Running processes continue; new ones may use
 * either key. `now`: Unix milliseconds. Throws DataUnusable if the key of `options` does not open the database.
 */
export async function addMasterKey(
  database: Database,
  options: VaultOptions,
  added: Uint8Array,
  now: number,
): Promise<void> {
  const master = masterKey(options.masterKey, options.dataDir, false);
  const { keys, state } = await unlock(database, master);
  const sealed = state.sealed.length === 0 ? [{ keys: sealedKeys(keys, master), addedAt: null }] : state.sealed;
  if (keysFor({ ...state, sealed }, added) !== null) {
    throw new DataUnusable("That master key opens this database already.");
  }
  if (sealed.length >= masterKeysMax) {
    throw new DataUnusable(`${masterKeysMax} master keys open this database already; retire the others first.`);
  }
  const number = (keys.roots.at(-1)?.number ?? 0) + 1;
  const more = { ...keys, roots: [...keys.roots, { number, key: randomBytes(rootBytes) }] };
  const after = { ...state, sealed: [...sealed, { keys: sealedKeys(more, added), addedAt: now }] };
  await database.kysely.transaction().execute((transaction) => writeState(transaction, state, after));
}

export interface Retired {
  /** Number of other master keys that were retired. */
  readonly count: number;
  /** When the remaining key was added: earlier backups need a retired key. null: it is the first. */
  readonly addedAt: number | null;
}

export async function opensDatabase(database: Database, master: Uint8Array): Promise<boolean> {
  return await unlock(database, master).then(
    () => true,
    (thrown: unknown) => {
      if (thrown instanceof DataUnusable) return false;
      throw thrown;
    },
  );
}

/** null: it is the first. */
export async function masterKeyAddedAt(database: Database, options: VaultOptions): Promise<number | null> {
  const master = masterKey(options.masterKey, options.dataDir, false);
  const { state } = await unlock(database, master);
  return state.sealed.find((one) => keysFor({ ...state, sealed: [one] }, master) !== null)?.addedAt ?? null;
}

/**
 * Retires all other master keys and makes the root of this one current. Signatures of the previous root are valid until `until` (Unix
 * milliseconds). Ends all console sessions; running processes follow with the next change. Use `sealAllAgain` to reseal old values.
 */
export async function retireMasterKeys(
  database: Database,
  options: VaultOptions,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<Retired> {
  const master = masterKey(options.masterKey, options.dataDir, false);
  const { keys, state } = await unlock(database, master);
  const staying = state.sealed.filter((one) => keysFor({ ...state, sealed: [one] }, master) !== null);
  const count = state.sealed.length - staying.length;
  const addedAt = staying[0]?.addedAt ?? null;
  const current = keys.roots.at(-1)?.number ?? state.current;
  // Repeated with an earlier end, as after a leak: the earlier end counts.
  const ends = Object.fromEntries(Object.entries(state.ends).map(([root, end]) => [root, Math.min(end, until)]));
  if (current !== state.current) ends[state.current] = until;
  const after = { sealed: staying, current, ends };
  if (JSON.stringify(after) === JSON.stringify(state)) return { count, addedAt };
  await database.kysely.transaction().execute(async (transaction) => {
    await writeState(transaction, state, after);
    if (current !== state.current) await sql`delete from auth_sessions`.execute(transaction);
    await transaction.insertInto("changes").values({ at: now, kind: "config", digest: null }).execute();
  });
  return { count, addedAt };
}

/** 32 bytes. */
interface Root {
  readonly number: number;
  readonly key: Uint8Array;
}

/** The secrets that one master key unlocks. */
interface Keys {
  readonly pepper: Uint8Array;
  /** Oldest first; may include one that is not current yet. */
  readonly roots: readonly Root[];
}

/** As stored in the database. Contains only sealed secrets. */
interface RootState {
  /** One for each master key. Empty: the only master key is the first root itself. */
  readonly sealed: readonly { readonly keys: string; readonly addedAt: number | null }[];
  readonly current: number;
  /** By earlier root: when its signatures end. */
  readonly ends: Readonly<Record<string, number>>;
}

const firstState: RootState = { sealed: [], current: 1, ends: {} };
const rootBytes = 32;

function firstKeys(master: Uint8Array): Keys {
  return { pepper: derive(master, "sluice api key pepper v1"), roots: [{ number: 1, key: master }] };
}

interface SealingRoot extends Root {
  readonly sealing: Buffer;
}

class RootedVault {
  // Created once; each digest starts from a copy.
  readonly #hasher: Bun.CryptoHasher;
  #current: SealingRoot;
  #others: readonly SealingRoot[];
  #state: RootState;

  constructor(keys: Keys, state: RootState) {
    this.#hasher = new Bun.CryptoHasher("sha256", keys.pepper);
    [this.#current, this.#others] = rootsOf(keys, state);
    this.#state = state;
  }

  /** `keys` null: no new keys. */
  use(keys: Keys | null, state: RootState): void {
    this.#state = state;
    if (keys !== null) [this.#current, this.#others] = rootsOf(keys, state);
  }

  digest(secret: string): string {
    return this.#hasher.copy().update(secret).digest("hex");
  }

  seal(secret: Secret, rowId: string): string {
    return seal(this.#current.sealing, secret, rowId);
  }

  open(sealed: string, rowId: string): Secret {
    for (const { sealing } of [this.#current, ...this.#others]) {
      const secret = unseal(sealing, sealed, rowId);
      if (secret !== null) return secret;
    }
    throw new SealBroken(rowId);
  }

  reseal(sealed: string, rowId: string): string | null {
    if (unseal(this.#current.sealing, sealed, rowId) !== null) return null;
    return this.seal(this.open(sealed, rowId), rowId);
  }

  derive(purpose: string, id: string): string {
    return deriveText(this.#current, purpose, id);
  }

  deriveValid(purpose: string, id: string, now: number): readonly string[] {
    const { current, ends } = this.#state;
    return [this.#current, ...this.#others]
      .filter(({ number }) => number === current || (ends[number] ?? 0) > now)
      .map((root) => deriveText(root, purpose, id));
  }

  deriveAll(purpose: string, id: string): readonly VersionedSecret[] {
    return [this.#current, ...this.#others].map((root) => ({
      version: root.number,
      value: deriveText(root, purpose, id),
    }));
  }
}

/** If the master key does not unlock the current root, the newest known one is used. */
function rootsOf({ roots }: Keys, { current }: RootState): [SealingRoot, readonly SealingRoot[]] {
  // Sealing and signing keys are derived separately.
  const all = roots.map((root) => ({ ...root, sealing: derive(root.key, "sluice sealing key v1") }));
  const first = all.find(({ number }) => number === current) ?? all.at(-1);
  if (first === undefined) throw new DataUnusable("The database holds no root key.");
  return [first, all.filter((root) => root !== first)];
}

function deriveText({ key }: Root, purpose: string, id: string): string {
  return derive(key, `sluice ${purpose} v1\n${id}`).toString("base64url");
}

/** Wrong master key, wrong row, or damage. Reveals nothing of the content. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";

  constructor(rowId: string) {
    super(`The sealed value of ${rowId} cannot be opened: it was changed, or sealed with another master key.`);
  }
}

/** False for a database without tables. */
export async function hasVault(database: Database): Promise<boolean> {
  if ((await schemaState(database)).state === "empty") return false;
  return (await fingerprintOf(database)) !== null;
}

/** Stores the fingerprint of a new database. Throws DataUnusable if the stored one differs. */
export async function confirmVault({ kysely }: Database, vault: Vault): Promise<void> {
  const fingerprint = vault.digest(fingerprintText);
  const first = await firstSystemValue(kysely, "vault.fingerprint", fingerprint);
  if (first !== fingerprint) throw new DataUnusable(anotherKey);
}

const fingerprintOf = ({ kysely }: Database) => systemValue(kysely, "vault.fingerprint");

const anotherKey = "This database was made with another master key. Start with that key.";
const fingerprintText = "sluice vault fingerprint";

const rootsName = "vault.roots";
const masterKeysMax = 8;
const rootPurpose = "sluice root key v1";

async function readState(database: Database): Promise<RootState> {
  const value = await systemValue(database.kysely, rootsName);
  return value === null ? firstState : (JSON.parse(value) as RootState);
}

function sealedKeys({ pepper, roots }: Keys, master: Uint8Array): string {
  const text = JSON.stringify({
    pepper: Buffer.from(pepper).toString("base64"),
    roots: roots.map(({ number, key }) => ({ number, key: Buffer.from(key).toString("base64") })),
  });
  return seal(derive(master, rootPurpose), new Secret(text), rootsName);
}

/** null: `master` opens nothing. */
function keysFor({ sealed }: RootState, master: Uint8Array): Keys | null {
  if (sealed.length === 0) return firstKeys(master);
  const key = derive(master, rootPurpose);
  for (const one of sealed) {
    const text = unseal(key, one.keys, rootsName);
    if (text === null) continue;
    const { pepper, roots } = JSON.parse(text.reveal()) as {
      readonly pepper: string;
      readonly roots: readonly { readonly number: number; readonly key: string }[];
    };
    return {
      pepper: Buffer.from(pepper, "base64"),
      roots: roots.map((root) => ({ number: root.number, key: Buffer.from(root.key, "base64") })),
    };
  }
  return null;
}

/** Throws DataUnusable after a concurrent change. */
async function writeState(transaction: Connection, before: RootState, after: RootState): Promise<void> {
  const value = JSON.stringify(after);
  const written =
    before === firstState
      ? await transaction
          .insertInto("settings")
          .values({ name: rootsName, value, managed_by: "system" })
          .onConflict((conflict) => conflict.column("name").doNothing())
          .returning("name")
          .execute()
      : await transaction
          .updateTable("settings")
          .set({ value })
          .where("name", "=", rootsName)
          .where("value", "=", JSON.stringify(before))
          .returning("name")
          .execute();
  if (written.length !== 1) {
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

/** null: another key or row, or damage. */
function unseal(key: Buffer, sealed: string, rowId: string): Secret | null {
  const [form, ivText, sealedText, ...rest] = sealed.split(".");
  const iv = Buffer.from(ivText ?? "", "base64url");
  const bytes = Buffer.from(sealedText ?? "", "base64url");
  if (form !== version || rest.length > 0 || iv.length !== ivBytes || bytes.length < tagBytes) return null;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(rowId, "utf8"));
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    const text = Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - tagBytes)), decipher.final()]);
    return new Secret(text.toString("utf8"));
  } catch {
    return null;
  }
}
