import { expect, test } from "bun:test";
import { createHmac, hkdfSync } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "#core/index.ts";
import { openMigrated } from "../../../test/migrated.ts";
import { addMasterKey, confirmVault, openVault, openVaultOf, retireMasterKeys, SealBroken } from "../index.ts";

const given = "a master key of at least thirty-two characters";

class Directory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "sluice-vault-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

test("the first start makes a key file only its owner can read, and later starts use it", () => {
  using directory = new Directory();
  const dataDir = join(directory.path, "data");
  const first = openVault({ masterKey: null, dataDir });
  expect(statSync(join(dataDir, "master.key")).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDir)).toEqual(["master.key"]);
  expect(openVault({ masterKey: null, dataDir }).digest("x")).toBe(first.digest("x"));
});

test("processes that start for the first time at the same moment share one key", async () => {
  using directory = new Directory();
  const program = `
    const { openVault } = await import(${JSON.stringify(join(import.meta.dir, "..", "index.ts"))});
    process.stdout.write(openVault({ masterKey: null, dataDir: ${JSON.stringify(directory.path)} }).digest("x"));
  `;
  const digests = await Promise.all(
    Array.from({ length: 4 }, () => new Response(Bun.spawn([process.execPath, "-e", program]).stdout).text()),
  );
  expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(digests).size).toBe(1);
  expect(readdirSync(directory.path)).toEqual(["master.key"]);
});

test("a configured master key needs no file, and a short one is refused", () => {
  using directory = new Directory();
  openVault({ masterKey: given, dataDir: directory.path });
  expect(readdirSync(directory.path)).toEqual([]);
  expect(() => openVault({ masterKey: "sk-1234", dataDir: directory.path })).toThrow("too short");
});

test("a damaged key file stops the start instead of becoming another key", () => {
  using directory = new Directory();
  const path = join(directory.path, "master.key");
  for (const text of ["", "AAAA", `${"A".repeat(50)}`]) {
    writeFileSync(path, text);
    expect(() => openVault({ masterKey: null, dataDir: directory.path })).toThrow("damaged");
    expect(readFileSync(path, "utf8")).toBe(text);
  }
});

test("a digest is HMAC-SHA-256 with the derived pepper, in hex", () => {
  const pepper = Buffer.from(hkdfSync("sha256", given, new Uint8Array(0), "sluice api key pepper v1", 32));
  const vault = openVault({ masterKey: given, dataDir: "unused" });
  for (const secret of ["", "sk-sluice-abc", "schlüssel-\u{1F511}", "x".repeat(500)]) {
    expect(vault.digest(secret)).toBe(createHmac("sha256", pepper).update(secret).digest("hex"));
  }
});

test("a sealed value can only be opened for its own row, and sealing the same value twice gives different results", () => {
  const vault = openVault({ masterKey: given, dataDir: "unused" });
  const sealed = vault.seal(new Secret("upstream key ü"), "provider:a:secret");
  expect(vault.open(sealed, "provider:a:secret").reveal()).toBe("upstream key ü");
  expect(sealed).not.toContain("upstream");
  expect(vault.seal(new Secret("upstream key ü"), "provider:a:secret")).not.toBe(sealed);
  expect(() => vault.open(sealed, "provider:b:secret")).toThrow(SealBroken);
  const other = openVault({ masterKey: `${given}!`, dataDir: "unused" });
  expect(() => other.open(sealed, "provider:a:secret")).toThrow(SealBroken);
});

test("a sealed value that was changed anywhere cannot be opened", () => {
  const vault = openVault({ masterKey: given, dataDir: "unused" });
  const sealed = vault.seal(new Secret("secret"), "row");
  const flipped = (at: number) => {
    // Flip the second of the six bits of a character, because the lowest bits of the last character are unused.
    const code = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const index = code.indexOf(sealed[at] ?? "");
    return `${sealed.slice(0, at)}${index < 0 ? "x" : code[index ^ 16]}${sealed.slice(at + 1)}`;
  };
  for (let at = 0; at < sealed.length; at++) expect(() => vault.open(flipped(at), "row")).toThrow(SealBroken);
  for (let end = 0; end < sealed.length; end++)
    expect(() => vault.open(sealed.slice(0, end), "row")).toThrow(SealBroken);
  expect(() => vault.open(`${sealed}.AAAA`, "row")).toThrow(SealBroken);
});

test("a database refuses a master key that is not the one it was made with", async () => {
  using directory = new Directory();
  const database = await openMigrated(join(directory.path, "sluice.db"));
  const vault = openVault({ masterKey: given, dataDir: directory.path });
  await confirmVault(database, vault);
  await confirmVault(database, vault);
  const other = openVault({ masterKey: `${given}!`, dataDir: directory.path });
  await expect(confirmVault(database, other)).rejects.toThrow("another master key");
  await database.close();
});

test("an added master key opens the same vault, and the first one until it is retired", async () => {
  using directory = new Directory();
  const dataDir = directory.path;
  const database = await openMigrated(join(dataDir, "sluice.db"));
  const vault = openVault({ masterKey: given, dataDir });
  await confirmVault(database, vault);
  const sealed = vault.seal(new Secret("upstream key"), "provider:a:secret");
  const next = `${given} next`;
  const opened = async (masterKey: string) => {
    const found = await openVaultOf(database, { masterKey, dataDir });
    return [found.open(sealed, "provider:a:secret").reveal(), found.digest("sk-1") === vault.digest("sk-1")];
  };
  const add = (by: string, added: string) =>
    addMasterKey(database, { masterKey: by, dataDir }, Buffer.from(added), 1_000);
  await expect(opened(next)).rejects.toThrow("another master key");
  await expect(add(next, `${given} third`)).rejects.toThrow("another master key");
  await add(given, next);
  await expect(add(given, next)).rejects.toThrow("already");
  await expect(add(next, given)).rejects.toThrow("already");
  for (const key of [given, next]) expect(await opened(key)).toEqual(["upstream key", true]);
  await confirmVault(database, await openVaultOf(database, { masterKey: next, dataDir }));
  expect((await retireMasterKeys(database, { masterKey: next, dataDir }, { now: 2_000, until: 3_000 })).count).toBe(1);
  expect((await retireMasterKeys(database, { masterKey: next, dataDir }, { now: 2_000, until: 3_000 })).count).toBe(0);
  expect(await opened(next)).toEqual(["upstream key", true]);
  await expect(opened(given)).rejects.toThrow("another master key");
  // Keys can be added again from a later key, up to the maximum.
  for (let more = 0; more < 7; more++) await add(next, `${given} of ${more}`);
  const last = { masterKey: `${given} of 3`, dataDir };
  expect((await retireMasterKeys(database, last, { now: 2_000, until: 3_000 })).count).toBe(7);
  expect(await opened(`${given} of 3`)).toEqual(["upstream key", true]);
  const { value } = await database.kysely
    .selectFrom("settings")
    .select("value")
    .where("name", "=", "vault.roots")
    .executeTakeFirstOrThrow();
  expect(value).not.toContain(Buffer.from(given).toString("base64"));
  await database.close();
});

test("of two concurrent additions of a master key, one is refused with an error", async () => {
  using directory = new Directory();
  const dataDir = directory.path;
  const database = await openMigrated(join(dataDir, "sluice.db"));
  await confirmVault(database, openVault({ masterKey: given, dataDir }));
  const added = [`${given} a`, `${given} b`];
  const ends = await Promise.allSettled(
    added.map((key) => addMasterKey(database, { masterKey: given, dataDir }, Buffer.from(key), 1_000)),
  );
  for (const [index, end] of ends.entries()) {
    const opening = openVaultOf(database, { masterKey: added[index] ?? "", dataDir });
    if (end.status === "fulfilled") await opening;
    else await expect(opening).rejects.toThrow("another master key");
  }
  expect(ends.map(({ status }) => status)).toContain("fulfilled");
  await openVaultOf(database, { masterKey: given, dataDir });
  await database.close();
});

test("a key file that cannot be read is an error, never a reason for a new key", () => {
  using directory = new Directory();
  mkdirSync(join(directory.path, "master.key"));
  expect(() => openVault({ masterKey: null, dataDir: directory.path })).toThrow("EISDIR");
});
