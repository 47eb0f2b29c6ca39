import { expect, test } from "bun:test";
import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Broadcast } from "#ports/index.ts";
import { until } from "../../../../test/until.ts";
import { silentObserver } from "../../../test/conformance/store-fixture.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { openPostgresFixture, type PostgresFixture } from "../../../test/postgres-fixture.ts";
import { onPostgres } from "../../../test/postgres-server.ts";
import { createChangeFeed } from "../changes/change-feed.ts";
import type { Database } from "../database/database.ts";
import { openPostgres } from "../database/postgres/open-postgres.ts";
import { broadcastAnswerMs, broadcastRetryMs, PostgresBroadcast } from "./broadcast.ts";

/** A simulated process: its connections, two stopped clocks (one for polling, one for listening), and its logged warnings. */
async function openProcess(url: string, instanceId: string, change: (database: Database) => Database = (same) => same) {
  const database = await openPostgres({ url, poolSize: 2 });
  const asking = new FakeClock();
  const listening = new FakeClock();
  const warnings: string[] = [];
  const observer = {
    ...silentObserver,
    log: (level: string, message: string) => void (level === "warn" && warnings.push(message)),
  };
  const broadcast = new PostgresBroadcast({ database: change(database), instanceId, clock: listening, observer });
  return {
    database,
    asking,
    listening,
    warnings,
    broadcast,
    feed: createChangeFeed({ database, clock: asking, observer: silentObserver, broadcast }),
    async [Symbol.asyncDispose]() {
      await broadcast.close();
      await database.close();
    },
  };
}

const isUp = (broadcast: Broadcast) => until(() => broadcast.isUp);

async function writeChange({ database }: Pick<PostgresFixture, "database">, digest: string): Promise<void> {
  await database.kysely.insertInto("changes").values({ at: 0, kind: "key", digest }).execute();
}

/** Ends the session like a server restart or an administrator would. */
async function cutListeners({ database }: PostgresFixture): Promise<number> {
  const { rows } = await sql<{ cut: number }>`
    select count(*) as cut from (
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'listen sluice'
    ) as ended`.execute(database.kysely);
  return Number(rows[0]?.cut);
}

await onPostgres("words between processes", () => {
  test("delivers messages to all other processes in order, and not to the sender", async () => {
    await using fixture = await openPostgresFixture();
    await using one = await openProcess(fixture.url, "proc_1");
    await using two = await openProcess(fixture.url, "proc_2");
    const received: string[] = [];
    for (const [name, { broadcast }] of Object.entries({ one, two })) {
      broadcast.subscribe("row", (text) => received.push(`${name}: ${text}`));
      await isUp(broadcast);
    }
    const words = ["a", "with blanks  and ' quotes", '{"json":"ü"}', ""];
    for (const text of words) one.broadcast.send("row", text);
    one.broadcast.send("row", "x".repeat(bounds.broadcastTextBytesMax));
    one.broadcast.send("row", "last");
    await until(() => received.includes("two: last"));
    expect(received).toEqual([...words, "last"].map((text) => `two: ${text}`));
  });

  test("notifies other processes of a committed change before the next poll", async () => {
    await using fixture = await openPostgresFixture();
    await using one = await openProcess(fixture.url, "proc_1");
    const seen: string[] = [];
    const stop = one.feed.subscribe((change) => seen.push(change.kind === "key" ? change.digest : "config"));
    await isUp(one.broadcast);
    // The feed has read its start position and waits.
    await one.feed.catchUp();
    // The polling clock is stopped, so polling finds nothing here.
    for (let n = 0; n < 100; n++) await writeChange(fixture, `digest-${n}`);
    await until(() => seen.length === 100);
    expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => `digest-${n}`));
    stop();
  });

  test("reconnects after its session was cut; changes are polled meanwhile", async () => {
    await using fixture = await openPostgresFixture();
    let sessions = 0;
    await using one = await openProcess(fixture.url, "proc_1", (database) => ({
      ...database,
      kysely: database.kysely,
      openSession: () => {
        sessions++;
        return database.openSession?.() as never;
      },
    }));
    const seen: string[] = [];
    const stop = one.feed.subscribe((change) => seen.push(change.kind === "key" ? change.digest : "config"));
    await one.feed.catchUp();
    await isUp(one.broadcast);
    expect(await cutListeners(fixture)).toBe(1);
    await until(() => !one.broadcast.isUp);
    await writeChange(fixture, "by asking");
    await until(() => {
      one.asking.advance(bounds.changePollMs);
      return seen.length === 1;
    });
    await until(() => {
      if (sessions === 1) one.listening.advance(broadcastRetryMs);
      return one.broadcast.isUp;
    });
    await writeChange(fixture, "by a word");
    await until(() => seen.length === 2);
    expect(seen).toEqual(["by asking", "by a word"]);
    expect(one.warnings).toEqual([]);
    stop();
  });

  test("prompts a read of changes after reconnecting", async () => {
    await using fixture = await openPostgresFixture();
    const { promise: mayOpen, resolve: open } = Promise.withResolvers<void>();
    await using one = await openProcess(fixture.url, "proc_1", (database) => ({
      ...database,
      kysely: database.kysely,
      openSession: async () => {
        await mayOpen;
        return (await database.openSession?.()) as never;
      },
    }));
    const seen: string[] = [];
    const stop = one.feed.subscribe((change) => seen.push(change.kind === "key" ? change.digest : "config"));
    await one.feed.catchUp();
    await writeChange(fixture, "before");
    expect(seen).toEqual([]);
    open();
    await until(() => seen.length === 1);
    stop();
  });

  test("detects a pooler that does not deliver, logs it once, and retries with growing delays", async () => {
    await using fixture = await openPostgresFixture();
    let sessions = 0;
    // A pooler that gives each statement another session: the one that listened is not the one that stays.
    await using one = await openProcess(fixture.url, "proc_1", (database) => ({
      ...database,
      kysely: database.kysely,
      openSession: async () => {
        sessions++;
        const session = await database.openSession?.();
        if (session === undefined) throw new Error("this is PostgreSQL");
        const { run } = session;
        session.run = () => run("select 1");
        return session;
      },
    }));
    const pass = () => one.listening.advance(broadcastAnswerMs);
    await until(() => {
      pass();
      return one.warnings.length === 1;
    });
    const before = sessions;
    await until(() => {
      pass();
      return sessions > before + 2;
    });
    expect(one.broadcast.isUp).toBe(false);
    expect(one.warnings).toHaveLength(1);
    expect(one.warnings[0]).toContain("pool_mode=session");
  });
});
