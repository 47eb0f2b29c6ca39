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

/** The pepper and the sealing key are derived apart, so that neither tells anything of the other. */
export function openVault(options: VaultOptions): Vault {
  const master = masterKey(options.masterKey, options.dataDir, options.mayMakeKey);
  const pepper = derive(master, "sluice api key pepper v1");
  const sealingKey = derive(master, "sluice sealing key v1");
  return {
    digest: (secret) => new Bun.CryptoHasher("sha256", pepper).update(secret).digest("hex"),
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

/**
 * Refuses a master key that is not the one this database began with: with it every API key would look unknown and
 * no provider secret could be opened. The first call remembers the key's fingerprint.
 */
export async function confirmVault(database: Database, vault: Vault): Promise<void> {
  const fingerprint = vault.digest(fingerprintText);
  await database.kysely
    .insertInto("settings")
    .values({ name: "vault.fingerprint", value: fingerprint, managed_by: "system" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  await refuseOtherVault(database, vault);
}

/** The same for a database that is only looked at. */
export async function refuseOtherVault(database: Database, vault: Vault): Promise<void> {
  const known = await fingerprintOf(database);
  if (known !== null && known !== vault.digest(fingerprintText)) {
    throw new DataUnusable("This database was made with another master key. Start with that key.");
  }
}

async function fingerprintOf(database: Database): Promise<string | null> {
  const row = await database.kysely
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "vault.fingerprint")
    .executeTakeFirst();
  return row?.value ?? null;
}

const fingerprintText = "sluice vault fingerprint";

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
