import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { chat } from "./chat-call.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-damaged-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let setup: TestSetup;
beforeEach(async () => {
  setup = await openSetup();
});
afterEach(() => setup?.close());

const database = () => join(setup.gateway.dataDir, "sluice.db");

/** The offset of a table's root page in the file, and the page size. */
function pageOf(table: string): { readonly at: number; readonly size: number } {
  const file = new Database(database());
  const { rootpage } = file.query("select rootpage from sqlite_schema where name = ?").get(table) as {
    rootpage: number;
  };
  const { page_size: size } = file.query("pragma page_size").get() as { page_size: number };
  file.run("pragma wal_checkpoint(truncate)");
  file.close(true);
  return { at: (rootpage - 1) * size, size };
}

async function readiness(): Promise<readonly [number, string]> {
  const answer = await fetch(`${setup.gateway.url}/readyz`);
  return [answer.status, await answer.text()];
}

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(`${setup.gateway.url}/metrics`)).text();
  return text.split("\n").find((line) => line.startsWith(`${name} `));
}

/** Restarts without waiting for the gateway to be ready, which may never happen. Throws if the gateway ends instead. */
async function restartAndReadReadiness(): Promise<readonly [number, string]> {
  let end: unknown = null;
  void setup.gateway.restart().catch((thrown: unknown) => {
    end = thrown;
  });
  return until(() => {
    if (end !== null) throw end;
    return readiness().catch(() => null);
  });
}

test("detects damaged pages at startup: readiness, the metric, the log and doctor all report it", async () => {
  const healthy = await setup.gateway.cli("doctor");
  expect(healthy.stdout).toContain("ok    database pages: intact, including indexes");
  expect(await metric("sluice_database_healthy")).toBe("sluice_database_healthy 1");
  await setup.gateway.stop();
  const { at, size } = pageOf("audit_log");
  const bytes = readFileSync(database());
  for (let byte = 0; byte < 200; byte++) bytes[at + byte] = (bytes[at + byte] ?? 0) ^ 0xff;
  expect(at + size).toBeLessThanOrEqual(bytes.length);
  writeFileSync(database(), bytes);

  expect(await restartAndReadReadiness()).toEqual([503, "the database is damaged; restore a backup\n"]);
  expect(await metric("sluice_database_healthy")).toBe("sluice_database_healthy 0");
  expect(setup.gateway.output()).toContain("the database is damaged; stop the gateway and restore a backup");
  const found = await setup.gateway.cli("doctor");
  expect(found.status).toBe(1);
  expect(found.stdout).toContain("fail  database pages: damaged: ");
  // Calls are still served, because they are first recorded in the journal.
  expect((await chat(setup.gateway.url, {})).status).toBe(200);
});

test("detects four hundred flipped bytes anywhere: the gateway is not ready, or does not start and prints why", async () => {
  await setup.gateway.stop();
  pageOf("audit_log");
  const intact = join(folder, "intact.db");
  copyFileSync(database(), intact);
  for (const seed of [1, 2, 3]) {
    const bytes = readFileSync(intact);
    let state = seed;
    for (let n = 0; n < 400; n++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      const at = state % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    }
    writeFileSync(database(), bytes);
    expect((await setup.gateway.cli("doctor")).stdout).toMatch(/fail {2}database/);
    const result = await restartAndReadReadiness().catch((thrown: unknown) => thrown);
    if (Array.isArray(result)) expect(result).toEqual([503, "the database is damaged; restore a backup\n"]);
    await setup.gateway.kill9();
    if (!Array.isArray(result)) expect(setup.gateway.output()).toMatch(/^sluice: .*damaged/m);
  }
});

test("becomes not ready when the database file is moved away while the gateway runs", async () => {
  renameSync(database(), join(folder, "moved.db"));
  const [status, reason] = await until(async () => {
    const now = await readiness();
    return now[0] === 503 ? now : null;
  });
  expect([status, reason]).toEqual([
    503,
    "the database's files were removed or replaced while the gateway was running\n",
  ]);
  expect(await metric("sluice_database_healthy")).toBe("sluice_database_healthy 0");
});
