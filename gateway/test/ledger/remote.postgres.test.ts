import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { Failure, noUsage } from "#core/index.ts";
import { recover, startAdoption } from "#ledger/index.ts";
import type { Clock } from "#ports/index.ts";
import {
  abandonedJournals,
  createInstances,
  createLedgerStore,
  createOpenAttemptStore,
  type OpenAttemptStore,
  openJournalSlot,
  RemoteJournal,
} from "#storage/index.ts";
import { remoteLostMs } from "#storage/journal/open-attempt-store.ts";
import { remoteIntentMs } from "#storage/journal/remote-journal.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../fake-clock.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { StalledLoop } from "../stalled-loop.ts";
import { drainInPlace, noDrain } from "./drain-in-place.ts";
import { EagerJournal } from "./eager-journal.ts";
import { attemptIdOf, checkpointOf, entryOf, intentOf, listeningObserver, settlementOf } from "./history.ts";

const owner = { process: "proc_remote", installation: "acme" };

await onPostgres("intents in the database", () => {
  let fixture: PostgresFixture;
  let home = "";
  beforeEach(async () => {
    fixture = await openPostgresFixture();
    home = mkdtempSync(join(tmpdir(), "sluice-remote-"));
  });
  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  /** A process with a separate journal. Without a drain, settled entries stay in its file. */
  function remoteProcess<Given extends Clock = FakeClock>(
    drained: "drained" | "not drained",
    clock: Given = new FakeClock() as unknown as Given,
  ) {
    const slot = openJournalSlot(home, owner);
    const observer = listeningObserver();
    const ledger = createLedgerStore(fixture.database);
    const stored = createOpenAttemptStore(fixture.database);
    const under: Promise<void>[] = [];
    const store: OpenAttemptStore = {
      ...stored,
      open(process, intents) {
        const statement = stored.open(process, intents);
        under.push(statement);
        return statement;
      },
    };
    const inserting = {
      insert: async (entries: Parameters<typeof ledger.insert>[0]) => {
        const count = await ledger.insert(entries);
        await store.remove(entries.map(({ attemptId }) => attemptId));
        return count;
      },
    };
    const drain = drained === "drained" ? drainInPlace(slot.path, slot.firstSegment, inserting) : noDrain();
    const onFatal = (error: Error) => {
      throw error;
    };
    const disk = new EagerJournal({ directory: slot, durability: "disk", drain, clock, observer, onFatal });
    const journal = new RemoteJournal({ journal: disk, store, owner: owner.process, clock, observer });
    return { journal, disk, store, under, ledger, clock, observer };
  }

  const openIds = async () => {
    const rows = await fixture.database.kysely.selectFrom("open_attempts").select("attempt_id").execute();
    return rows.map((row) => row.attempt_id).sort();
  };
  const entries = async () => {
    const { entries: found } = await createLedgerStore(fixture.database).page({}, null, 100);
    return new Map(found.map((entry) => [entry.attemptId, entry]));
  };
  /** Makes the process look unseen and idle for this long. */
  const unseenFor = async (ms: number) => {
    await sql`update open_attempts set updated_at = updated_at - ${ms}::bigint`.execute(fixture.database.kysely);
    await sql`update instances set seen_at = seen_at - ${ms}::bigint`.execute(fixture.database.kysely);
  };

  /** Recovers the journals of this disk, as a process does at its start. */
  const takeOver = async () => {
    const recoveries = [];
    const store = createOpenAttemptStore(fixture.database);
    for (const { leftovers, owner: dead } of abandonedJournals(home, "", owner.installation)) {
      const joined = store.joinedTo(leftovers, dead);
      recoveries.push(await recover({ leftovers: joined, store: createLedgerStore(fixture.database) }));
    }
    return recoveries;
  };

  test("commits an intent before a call is sent, and deletes it once its entry is in the ledger", async () => {
    const { journal } = remoteProcess("drained");
    for (let n = 1; n <= 3; n++) journal.intent(intentOf(n));
    await journal.synced();
    expect(await openIds()).toEqual([1, 2, 3].map(attemptIdOf));
    journal.settle(settlementOf(2));
    await journal.drained(new AbortController().signal);
    await until(async () => (await openIds()).length === 2);
    expect((await entries()).get(attemptIdOf(2))).toEqual(entryOf(2));
    await journal.close(10_000);
    expect(await openIds()).toEqual([]);
  });

  test("batches intents that arrive while others are being written, and each caller waits for its own", async () => {
    const { journal } = remoteProcess("not drained");
    journal.intent(intentOf(1));
    const first = journal.synced();
    await new Promise((resolve) => setImmediate(resolve));
    for (let n = 2; n <= 1_203; n++) journal.intent(intentOf(n));
    const others = journal.synced();
    await first;
    await others;
    expect(await openIds()).toHaveLength(1_203);
    await journal.close(0);
  });

  test("refuses calls within the bound when the database does not answer, then at once, and accepts them again later", async () => {
    const { journal, disk, clock, observer, store, under } = remoteProcess("not drained");
    const locked = Promise.withResolvers<void>();
    const unlock = Promise.withResolvers<void>();
    const holder = fixture.database.kysely.transaction().execute(async (transaction) => {
      await sql`lock table open_attempts in access exclusive mode`.execute(transaction);
      locked.resolve();
      await unlock.promise;
    });
    await locked.promise;
    journal.intent(intentOf(1));
    const refused = journal.synced().catch((thrown: unknown) => thrown);
    await new Promise((resolve) => setImmediate(resolve));
    journal.intent(intentOf(2));
    const behind = journal.synced().catch((thrown: unknown) => thrown);
    expect(journal.healthy).toBe(true);
    clock.advance(5_001);
    for (const failure of [await refused, await behind]) {
      expect(failure).toBeInstanceOf(Failure);
      expect((failure as Failure).code).toBe("ledger_unavailable");
    }
    expect([journal.healthy, disk.healthy]).toEqual([false, true]);
    expect(() => journal.intent(intentOf(3))).toThrow("was not sent");
    // Earlier attempts are settled nevertheless.
    journal.settle(settlementOf(1));
    journal.settle(settlementOf(2));
    unlock.resolve();
    await holder;
    clock.advance(2_000);
    await until(() => journal.healthy);
    journal.intent(intentOf(4));
    await journal.synced();
    // The abandoned statement has ended too.
    await Promise.allSettled(under);
    await until(async () => {
      clock.advance(2_000);
      return (await openIds()).length === 1;
    });
    expect(await openIds()).toEqual([attemptIdOf(4)]);
    expect(observer.lines).toEqual([
      "error the database accepts no intents; refusing calls until it does",
      "info the database accepts intents again",
    ]);
    await store.removeOf(owner.process);
    await journal.close(0);
  });

  test("refuses no call when this process itself is stalled on a busy machine", async () => {
    const loop = new StalledLoop();
    const { journal, observer, store, under } = remoteProcess("not drained", loop);
    const locked = Promise.withResolvers<void>();
    const unlock = Promise.withResolvers<void>();
    const holder = fixture.database.kysely.transaction().execute(async (transaction) => {
      await sql`lock table open_attempts in access exclusive mode`.execute(transaction);
      locked.resolve();
      await unlock.promise;
    });
    await locked.promise;
    journal.intent(intentOf(1));
    const stored = journal.synced();
    await until(() => under.length === 1);
    // The answer is ready when the event loop resumes, long after the bound. The timer of that turn must not win.
    loop.turnAfter(10 * remoteIntentMs);
    unlock.resolve();
    await holder;
    await stored;
    expect([journal.healthy, await openIds(), observer.lines]).toEqual([true, [attemptIdOf(1)], []]);
    await store.removeOf(owner.process);
    await journal.close(0);
  });

  test("stores attempts of a lost process and disk at their last checkpoint, once, even if the disk comes back", async () => {
    const { journal, clock, ledger, store } = remoteProcess("not drained");
    for (let n = 1; n <= 3; n++) journal.intent(intentOf(n));
    await journal.synced();
    journal.checkpoint(checkpointOf(2, 64));
    journal.checkpoint({ ...checkpointOf(3, 5), usage: { ...noUsage, output: 5 }, upstreamId: "resp_3" });
    clock.advance(1_000);
    await until(async () => {
      const rows = await fixture.database.kysely.selectFrom("open_attempts").select("checkpoint").execute();
      return rows.filter(({ checkpoint }) => checkpoint !== null).length === 2;
    });
    journal.settle(settlementOf(1));
    await createInstances(fixture.database).report({ id: owner.process, version: "1", host: "lost" });
    const adopted: string[] = [];
    const sure = createOpenAttemptStore(fixture.database, { sureMs: 0 });
    const adoption = startAdoption({
      abandoned: () => sure.abandoned(),
      store: ledger,
      clock,
      observer: listeningObserver(),
      hooks: { onAdopted: async (process) => adopted.push(process) > 0 },
    });
    await adoption.hurry();
    await unseenFor(590_000);
    await adoption.hurry();
    expect([adopted, (await entries()).size]).toEqual([[], 0]);
    await unseenFor(20_000);
    // A running stream shows that its process is alive, even without new calls or heartbeats.
    await store.checkpoint([checkpointOf(2, 64)]);
    await adoption.hurry();
    expect(adopted).toEqual([]);
    await unseenFor(610_000);
    await adoption.hurry();
    await adoption.close();
    const booked = await entries();
    expect([...booked.values()].map(({ outcome }) => outcome)).toEqual(["interrupted", "interrupted", "interrupted"]);
    expect(booked.get(attemptIdOf(2))?.usage).toEqual({ ...noUsage, inputUncached: 40, output: 64 });
    expect(booked.get(attemptIdOf(3))).toMatchObject({ upstreamId: "resp_3", usage: { output: 5 } });
    expect([adopted, await openIds()]).toEqual([[owner.process], []]);

    // The disk returns with the same journal.
    await journal.close(0);
    expect(await takeOver()).toMatchObject([{ stored: 0 }]);
    expect((await entries()).size).toBe(3);
    expect((await ledger.check()).faults).toEqual([]);
  });

  test("after a long database outage, does not count live processes as lost before they can report", async () => {
    const { journal, clock, ledger, store } = remoteProcess("not drained");
    const { report } = createInstances(fixture.database);
    const living = { id: owner.process, version: "1", host: "here" };
    await report(living);
    journal.intent(intentOf(1));
    await journal.synced();
    const adoption = startAdoption({
      abandoned: () => store.abandoned(),
      store: ledger,
      clock,
      observer: listeningObserver(),
      hooks: {},
    });
    await unseenFor(2 * remoteLostMs);
    // The first to check is not the first to report.
    await adoption.hurry();
    await adoption.hurry();
    await report(living);
    await adoption.hurry();
    await adoption.close();
    expect([(await entries()).size, await openIds()]).toEqual([0, [attemptIdOf(1)]]);
    journal.settle(settlementOf(1));
    await ledger.insert([entryOf(1)]);
    expect((await entries()).get(attemptIdOf(1))).toEqual(entryOf(1));
  });

  test("completes a journal that lost its end in a power failure from the database, which takes precedence", async () => {
    const { journal, disk, store } = remoteProcess("not drained");
    for (let n = 1; n <= 3; n++) journal.intent(intentOf(n));
    await journal.synced();
    // The file lacks these: they were written after the disk's last state.
    await store.open(owner.process, [intentOf(4), intentOf(5)]);
    disk.settle(settlementOf(1));
    disk.checkpoint(checkpointOf(2, 64));
    await disk.close(0);
    expect(await takeOver()).toEqual([{ stored: 5, interrupted: 4, damage: [] }]);
    const booked = await entries();
    expect(booked.get(attemptIdOf(1))).toEqual(entryOf(1));
    expect(booked.get(attemptIdOf(2))?.usage.output).toBe(64);
    expect(booked.get(attemptIdOf(5))?.outcome).toBe("interrupted");
    expect(await openIds()).toEqual([]);
  });

  test("returns a caller's text from the database unchanged", async () => {
    const { store } = remoteProcess("not drained");
    const odd = { userAgent: 'a"b\\c{},\u0000\ud800 Zürich', tags: { 'k"': "{,}", empty: "" } };
    await store.open(owner.process, [intentOf(1, odd)]);
    await store.open(owner.process, [intentOf(1)]);
    const records = [];
    const none = { damage: [], records: async function* () {}, discard: async () => undefined };
    for await (const record of store.joinedTo(none, owner.process).records()) records.push(record);
    expect(records).toEqual([{ type: "intent", value: intentOf(1, odd) }]);
  });
});
