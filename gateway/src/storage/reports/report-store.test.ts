import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import type { Observer, ReportStore } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { entryOf, openTestLedger } from "../../../test/ledger/history.ts";
import type { Database } from "../database/database.ts";
import { migrate } from "../database/migrate.ts";
import { openDatabase } from "../database/open-database.ts";
import { createReportStore, openReports } from "./report-store.ts";
import { reportGraceMs, reportIdleCachedMs, reportIdleMs, reportStartMs } from "./report-threads.ts";

const hour = 3_600_000;
const rollups = 80_000;
const longTime = { workspaceId: null, by: "key", stepMs: 24 * hour, from: 0, to: 2_000 * hour } as const;

let directory: string;
let database: Database;
let databasePath: string;
/** A statement that selects `count` rollups. */
let rollupsUpTo: (count: number) => string;
const stores: ReportStore[] = [];

/** A database with rollups that take a good part of a second to sum. */
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-reports-"));
  databasePath = join(directory, "sluice.db");
  database = openDatabase({ path: databasePath });
  await migrate(database);
  const columns = (await database.kysely.introspection.getTables()).find((table) => table.name === "usage_rollups");
  const values: Readonly<Record<string, string>> = {
    hour: `(i / 100) * ${hour}`,
    workspace_id: "'ws_' || (i % 7)",
    group_id: "'grp'",
    key_id: "'key_' || i",
    model: "'m'",
    provider: "'p'",
  };
  const selected = columns?.columns.map(({ name }) => values[name] ?? "i % 5").join(", ");
  rollupsUpTo = (count) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select ${selected} from n`;
  await execute(database, `insert into usage_rollups ${rollupsUpTo(rollups)}`);
});

function execute({ kysely }: Database, sql: string) {
  return kysely.executeQuery<Record<string, unknown>>({ sql, parameters: [], query: { kind: "RawNode" } } as never);
}

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await database.close();
  rmSync(directory, { recursive: true, force: true });
});

function open(clock = systemClock as FakeClock | typeof systemClock, lines: string[] = []): ReportStore {
  const observer: Pick<Observer, "log"> = { log: (level, message) => lines.push(`${level} ${message}`) };
  const store = createReportStore({ databasePath, clock, observer });
  stores.push(store);
  return store;
}

async function bothBegun(reports: ReportStore): Promise<void> {
  await Promise.all([reports.facts(), reports.requests({ workspaceId: null }, null, 10)]);
}

test("long reports block neither short ones nor the event loop", async () => {
  const path = join(directory, "long.db");
  const long = openDatabase({ path });
  await migrate(long);
  await execute(long, "drop table usage_rollups");
  // Takes a second to sum. A short report takes milliseconds.
  await execute(long, `create view usage_rollups as ${rollupsUpTo(1_000_000)}`);
  const reports = createReportStore({ databasePath: path, clock: systemClock, observer: { log: () => {} } });
  const order: string[] = [];
  const longOnes = [reports.usage(longTime), reports.usage({ ...longTime, by: "model" })];
  // On a busy machine they time out, which is as good.
  const ends = longOnes.map((each) => each.catch(() => undefined).then(() => order.push("long")));
  for (let short = 0; short < 3; short++) {
    await reports.requests({ workspaceId: null }, null, 10);
    order.push("short");
  }
  await Promise.all(ends);
  expect(order).toEqual(["short", "short", "short", "long", "long"]);
  await reports.close();
  await long.close();
});

test("a report that times out rejects, its thread is terminated, and the next report is answered", async () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const reports = open(clock, lines);
  await bothBegun(reports);
  const late = reports.usage(longTime);
  clock.advance(bounds.reportMs);
  await expect(late).rejects.toMatchObject({ code: "request_timeout" });
  clock.advance(reportGraceMs);
  expect(lines).toEqual(["warn report timed out; terminating its thread"]);
  const { data } = await reports.requests({ workspaceId: null }, null, 10);
  expect(data).toEqual([]);
  const { totals } = await reports.usage({ ...longTime, to: 10 * hour });
  expect(totals.attempts).toBeGreaterThan(0);
});

test("does not count the start of a thread toward the timeout of a report", async () => {
  const clock = new FakeClock();
  const reports = open(clock);
  const questions = reports.facts();
  clock.advance(bounds.reportMs + reportGraceMs);
  expect((await questions).entries).toBeGreaterThan(0);
  await reports.close();
  const others = open(clock);
  const late = others.usage(longTime);
  clock.advance(reportStartMs + bounds.reportMs);
  await expect(late).rejects.toMatchObject({ code: "request_timeout" });
  await others.close();
});

test("rejects reports at once when too many wait, and waiting ones when they time out", async () => {
  const clock = new FakeClock();
  const reports = open(clock);
  await bothBegun(reports);
  const questions = Array.from({ length: bounds.reportsWaitingMax + 1 }, () => reports.usage(longTime));
  const refused = questions.map((each) => each.then(() => "answered").catch((failure) => failure.code));
  await expect(reports.facts()).rejects.toMatchObject({ code: "rate_limit_exceeded" });
  clock.advance(bounds.reportMs);
  expect(new Set(await Promise.all(refused))).toEqual(new Set(["request_timeout"]));
  await reports.close();
});

test("close rejects waiting and later reports", async () => {
  const reports = open();
  const questions = [reports.usage(longTime), reports.usage(longTime), reports.facts()];
  const codes = Promise.all(questions.map((each) => each.then(() => "answered").catch((failure) => failure.code)));
  await reports.close();
  expect(await codes).toEqual(["draining", "draining", "draining"]);
  await expect(reports.facts()).rejects.toMatchObject({ code: "draining" });
  await expect(reports.backup()).rejects.toMatchObject({ code: "draining" });
  await reports.close();
});

test("idle threads end, and start again with the next report", async () => {
  const clock = new FakeClock();
  const reports = open(clock);
  await reports.facts();
  clock.advance(reportIdleMs);
  expect((await reports.facts()).entries).toBeGreaterThan(0);
  clock.advance(reportIdleCachedMs);
  expect((await reports.facts()).entries).toBeGreaterThan(0);
});

test("reads the budgets of a call in the thread that is starting", async () => {
  const clock = new FakeClock();
  const reports = open(clock);
  const spent = (kind: "key" | "workspace") => reports.spending([{ kind, id: "ws_1", from: 0, to: null }], 0);
  await Promise.all([spent("key"), spent("key"), spent("workspace")]);
  // Each running thread waits to end.
  expect(clock.pending).toBe(1);
});

test("answers alerts without a thread while few calls are made", async () => {
  const ledger = await openTestLedger();
  const clock = new FakeClock();
  const place = { kind: "sqlite", path: ledger.databasePath } as const;
  const observer = { log: () => undefined };
  const reports = await openReports({ place, clock, observer, database: ledger.database });
  const threads = await openReports({ place, clock: systemClock, observer });
  const entries = Array.from({ length: 300 }, (_, n) => entryOf(n + 1));
  const span = { workspaceId: null, from: 0, to: Number.MAX_SAFE_INTEGER };
  const ask = async ({ alertProviders, alertTraffic, alertChecks, alertShadowMarks }: ReportStore) => [
    await alertProviders(span.from, span.to),
    await alertTraffic(span),
    await alertChecks(span),
    await alertShadowMarks(span),
  ];
  await ledger.store.insert(entries.slice(0, 100));
  const few = await ask(reports);
  expect(few).toEqual(await ask(threads));
  expect(few[0]).not.toEqual([]);
  // No thread waits to end.
  expect(clock.pending).toBe(0);
  await ledger.store.insert(entries);
  expect(await ask(reports)).toEqual(await ask(threads));
  expect(clock.pending).toBe(1);
  await Promise.all([reports.close(), threads.close()]);
  await ledger.remove();
});

test("reports do not block checkpoints of the write-ahead file", async () => {
  const reports = open();
  await Promise.all([reports.facts(), reports.requests({ workspaceId: null }, null, 5)]);
  await database.kysely.insertInto("settings").values({ name: "a", value: "1", managed_by: "system" }).execute();
  const { rows } = await execute(database, "pragma wal_checkpoint(truncate)");
  expect(rows).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
});

test("an unreadable database causes an error without details of the statement", async () => {
  const lines: string[] = [];
  const observer: Pick<Observer, "log"> = { log: (...line) => lines.push(JSON.stringify(line)) };
  const path = join(directory, "broken.db");
  writeFileSync(path, "this is no database, but it is long enough to look like one".repeat(100));
  const reports = createReportStore({ databasePath: path, clock: systemClock, observer });
  const failure = await reports.attempts("ws_secret", "req_secret").catch((thrown) => thrown);
  expect([failure.code, failure.message]).toEqual(["internal_error", "Cannot read this from the database."]);
  expect(lines.join()).toMatch(/failed to read a report.*attempts/);
  expect(lines.join() + failure.message).not.toMatch(/select|secret/i);
  await reports.close();
});

test("a backup is a whole database, readable by its owner only, and removed when done", async () => {
  const reports = open();
  const { bytes, size, done } = await reports.backup();
  const [name] = copies();
  expect(statSync(join(directory, name ?? "")).mode & 0o777).toBe(0o600);
  const file = join(directory, "restored.db");
  await Bun.write(file, new Response(bytes));
  expect(statSync(file).size).toBe(size);
  await done();
  expect(copies()).toEqual([]);
  const restored = openDatabase({ path: file });
  const count = await restored.kysely
    .selectFrom("usage_rollups")
    .select((eb) => eb.fn.countAll<number>().as("rows"))
    .executeTakeFirstOrThrow();
  expect(count.rows).toBe(rollups);
  await restored.close();
});

test("makes one backup at a time, while reports run", async () => {
  const reports = open();
  const first = reports.backup();
  await expect(reports.backup()).rejects.toMatchObject({ code: "conflict" });
  expect((await reports.requests({ workspaceId: null }, null, 5)).data).toEqual([]);
  const { done } = await first;
  await done();
  expect(copies()).toEqual([]);
});

test("removes copies left by a killed process", () => {
  writeFileSync(`${databasePath}.backup-7`, "half");
  open();
  expect(copies()).toEqual([]);
});

function copies(): string[] {
  return readdirSync(directory).filter((name) => name.includes(".backup-"));
}
