import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs } from "../programs.ts";
import { AdminClient, administratorEnvironment } from "./admin-client.ts";
import { chat } from "./chat-call.ts";
import { runChild } from "./child.ts";
import { exportLedger } from "./ledger-rows.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, startSimulator } from "./start-simulator.ts";
import { testConfig } from "./test-config.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-backup-"));
const file = (name: string) => join(folder, name);
let simulator: SimulatorProcess;
let gateway: Gateway;
beforeAll(async () => {
  simulator = await startSimulator();
  gateway = await startGateway({ config: testConfig(simulator.url), env: administratorEnvironment });
});
afterAll(async () => {
  await gateway?.remove();
  await simulator?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const sqlite3 = Bun.which("sqlite3");

/** The backup methods of docs/operations/backup.md. */
const backupMethods: Readonly<Record<string, (path: string) => Promise<void>>> = {
  "the admin API": async (path) => {
    const answer = await (await AdminClient.signIn(gateway.url)).call("POST", "/api/backup");
    expect(answer.status).toBe(200);
    await Bun.write(path, answer);
  },
  "sluice backup": async (path) => {
    expect(await gateway.cli("backup", path)).toMatchObject({ status: 0, stderr: "" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  },
  "sqlite3 .backup": async (path) => {
    const database = join(gateway.dataDir, "sluice.db");
    const copied = Bun.spawnSync([sqlite3 ?? "", "-cmd", ".timeout 10000", database, `.backup ${path}`]);
    expect([copied.exitCode, copied.stderr.toString()]).toEqual([0, ""]);
  },
};
if (sqlite3 === null) console.log("skipped: sqlite3 .backup, because sqlite3 is not installed");

async function newKey(name: string): Promise<string> {
  const admin = await AdminClient.signIn(gateway.url);
  return String((await admin.json("POST", "/api/workspaces/acme/keys", { name }))["secret"]);
}

const statusFor = async (key: string): Promise<number> =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { "x-api-key": key } })).status;

async function call(): Promise<void> {
  const answer = await chat(gateway.url, { script: { tokens: 5 } });
  expect([answer.status, (await answer.text()) === ""]).toEqual([200, false]);
}

test.each(Object.keys(backupMethods).filter((method) => sqlite3 !== null || method !== "sqlite3 .backup"))(
  "a backup by %s, taken while the gateway runs, is restored completely; the replaced database is kept and can be restored too",
  async (method) => {
    const path = file(`${method.replaceAll(/\W/g, "-")}.sqlite`);
    const before = await newKey(`before ${method}`);
    await call();
    await backupMethods[method]?.(path);
    const after = await newKey(`after ${method}`);
    expect((await gateway.cli("restore", path)).stderr).toStartWith(
      "sluice: Another gateway runs on the data directory",
    );
    await gateway.stop();

    // Backups are often stored read-only.
    chmodSync(path, 0o444);
    const restored = await gateway.cli("restore", path, "--json");
    expect(restored).toMatchObject({ status: 0, stderr: "" });
    expect(statSync(join(gateway.dataDir, "sluice.db")).mode & 0o777).toBe(0o600);
    const { aside } = JSON.parse(restored.stdout) as { readonly aside: string };
    await gateway.restart();
    expect([await statusFor(before), await statusFor(after)]).toEqual([200, 401]);
    await AdminClient.signIn(gateway.url);
    await call();
    expect((await gateway.cli("ledger", "verify")).status).toBe(0);

    await gateway.stop();
    expect(await gateway.cli("restore", aside)).toMatchObject({ status: 0 });
    await gateway.restart();
    expect([await statusFor(before), await statusFor(after)]).toEqual([200, 200]);
  },
);

test("after a restore, calls that the backup lacks are recovered from the journal of the killed gateway", async () => {
  const path = file("early.sqlite");
  await gateway.stop();
  await gateway.restart();
  expect((await gateway.cli("backup", path)).status).toBe(0);
  const countAtBackup = (await exportLedger(gateway)).length;
  for (let n = 0; n < 5; n++) await call();
  await gateway.kill9();
  expect((await gateway.cli("restore", path)).status).toBe(0);
  await gateway.restart();
  const rows = await exportLedger(gateway);
  expect(rows.slice(-5).map(({ outcome }) => outcome)).toEqual(Array(5).fill("succeeded"));
  expect(rows).toHaveLength(countAtBackup + 5);
});

test("a backup and its master key are enough to move to another machine", async () => {
  const path = file("moved.sqlite");
  const key = await newKey("moved");
  expect((await gateway.cli("backup", path)).status).toBe(0);
  await gateway.stop();
  const original = gateway.dataDir;
  const elsewhere = file("elsewhere");
  mkdirSync(elsewhere, { mode: 0o700 });
  const env = { HOME: folder, SLUICE_DATA_DIR: elsewhere };
  const cli = (...words: string[]) => runChild(programs.cli, words, env);
  expect((await cli("restore", path)).stderr).toContain("master.key is missing, and the database was made with it");
  copyFileSync(join(original, "master.key"), join(elsewhere, "master.key"));
  expect((await cli("restore", path)).status).toBe(0);
  expect(JSON.parse((await cli("key", "list", "--json")).stdout).keys).toContainEqual(
    expect.objectContaining({ name: "moved", last_four: key.slice(-4) }),
  );
  await gateway.restart();
});

test("refuses a file that is not a valid backup of this installation with one line, and changes nothing", async () => {
  const valid = file("valid.sqlite");
  expect((await gateway.cli("backup", valid)).status).toBe(0);
  expect((await gateway.cli("backup", valid)).stderr).toBe(
    `sluice: ${valid} exists already; name a file that does not.\n`,
  );
  await gateway.stop();
  const bytes = readFileSync(valid);
  const damaged = Buffer.from(bytes);
  // Damage every page except the first, which contains the schema.
  for (let at = 4096; at + 200 < damaged.length; at += 4096) damaged.fill(0xa5, at, at + 200);
  writeFileSync(file("damaged.sqlite"), damaged);
  writeFileSync(file("cut.sqlite"), bytes.subarray(0, bytes.length >> 1));
  writeFileSync(file("text.sqlite"), "this is not a database ".repeat(500));
  writeFileSync(file("empty.sqlite"), "");
  const database = join(gateway.dataDir, "sluice.db");
  const digest = () => Bun.hash(readFileSync(database));
  const before = digest();
  const refusals: readonly [string, string][] = [
    ["damaged.sqlite", "is damaged"],
    ["cut.sqlite", "is damaged"],
    ["text.sqlite", "no database"],
    ["empty.sqlite", "is not a database of Sluice"],
    ["none.sqlite", "There is no file"],
  ];
  for (const [name, reason] of refusals) {
    const { status, stdout, stderr } = await gateway.cli("restore", file(name));
    expect([name, status, stdout, stderr.split("\n").length, stderr.includes(reason), stderr]).toEqual([
      name,
      1,
      "",
      2,
      true,
      stderr,
    ]);
  }
  const key = "another-master-key-of-forty-characters-00";
  const env = { SLUICE_DATA_DIR: gateway.dataDir, SLUICE_MASTER_KEY: key };
  const other = await runChild(programs.cli, ["restore", valid], env);
  expect(other.stderr).toBe("sluice: This database was made with another master key. Start with that key.\n");
  expect([digest(), existsSync(`${database}.restoring`)]).toEqual([before, false]);
  await gateway.restart();
});
