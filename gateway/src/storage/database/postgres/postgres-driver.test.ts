import { expect, test } from "bun:test";
import { sql } from "kysely";
import { until } from "../../../../../test/until.ts";
import { asOwner, openPostgresFixture } from "../../../../test/postgres-fixture.ts";
import { onPostgres } from "../../../../test/postgres-server.ts";
import { type Database, inSnapshot } from "../database.ts";
import { openDatabase } from "../open-database.ts";
import { openPostgres } from "./open-postgres.ts";

const setting = (name: string) => ({ name, value: "1", managed_by: "console" as const });

async function names({ kysely }: Pick<Database, "kysely">): Promise<readonly string[]> {
  const rows = await kysely
    .selectFrom("settings")
    .select("name")
    .where("managed_by", "=", "console")
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name);
}

async function pidOf(connection: Database["kysely"]): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
  return rows[0]?.pid ?? 0;
}

await onPostgres("connections", () => {
  test("returns values as SQLite does: numbers, flags as 0 or 1, null", async () => {
    await using fixture = await openPostgresFixture();
    const sqlite = openDatabase({ path: ":memory:" });
    const query = sql<Readonly<Record<string, unknown>>>`
      select cast(9007199254740991 as bigint) as large, cast(3 as integer) as small, count(*) as count,
        sum(cast(2 as bigint)) as sum, max(cast(0.1 as double precision)) as part, 1 = 1 as yes, 1 = 2 as no,
        null as missing, 'ä' as text, cast(7 as bigint) / 2 as half, -cast(7 as bigint) % 4 as rest`;
    const [here, there] = [await query.execute(fixture.database.kysely), await query.execute(sqlite.kysely)];
    await sqlite.close();
    expect(here.rows).toEqual(there.rows);
    expect(here.rows[0]).toMatchObject({ large: Number.MAX_SAFE_INTEGER, count: 1, sum: 2, yes: 1, no: 0 });
  });

  test("returns times of sign-in tables as written, in any time zone", async () => {
    await using fixture = await openPostgresFixture();
    const at = "2026-07-01T22:30:00.125Z";
    await fixture.database.kysely
      .insertInto("auth_verifications")
      .values({ id: "v", identifier: "i", value: "a zero \0 inside", expires_at: at, created_at: at, updated_at: at })
      .execute();
    const row = await fixture.database.kysely.selectFrom("auth_verifications").selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ expires_at: at, value: "a zero \uFFFD inside" });
  });

  test("supports empty lists", async () => {
    await using fixture = await openPostgresFixture();
    const { kysely } = fixture.database;
    await kysely.insertInto("settings").values(setting("a")).execute();
    const found = (operator: "in" | "not in") =>
      kysely.selectFrom("settings").select("name").where("name", operator, []).where("name", "=", "a").execute();
    expect([(await found("in")).length, (await found("not in")).length]).toEqual([0, 1]);
  });

  test("a connection lost during a transaction fails the call and rolls back; the next call succeeds", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const lost = database.kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto("settings").values(setting("half")).execute();
      const pid = await pidOf(transaction);
      await asOwner(fixture.url, async (client) => void (await client.query("select pg_terminate_backend($1)", [pid])));
      await transaction.insertInto("settings").values(setting("other half")).execute();
    });
    expect(await lost.catch((thrown: unknown) => thrown)).toMatchObject({
      name: "Failure",
      code: "storage_unavailable",
    });
    expect(await names(database)).toEqual([]);
    await database.kysely.insertInto("settings").values(setting("next")).execute();
    expect(await names(database)).toEqual(["next"]);
  });

  test("recovers after all idle connections were lost", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    await Promise.all(Array.from({ length: 5 }, () => sql`select 1`.execute(database.kysely)));
    await asOwner(url, async (client) => {
      await client.query(`
        select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    });
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => names(database)));
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "storage_unavailable" });
    }
    expect(await names(database)).toEqual([]);
  });

  test("retries reads, but not writes, when their connection is lost", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    await database.kysely.insertInto("settings").values(setting("kept")).execute();
    const waiting = (query: string) =>
      until(() =>
        asOwner(url, async (client) => {
          const { rows } = await client.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
            [query],
          );
          return rows.length > 0;
        }),
      );
    await asOwner(url, async (holder) => {
      await holder.query("begin");
      await holder.query("lock table settings");
      const read = names(database);
      const write = database.kysely.insertInto("settings").values(setting("lost")).execute();
      const refused = write.then(
        () => "written",
        (thrown: unknown) => thrown,
      );
      await waiting("select%settings%");
      await waiting("insert%settings%");
      await waiting("select%settings%");
      await holder.query("commit");
      expect(await read).toEqual(["kept"]);
      expect(await refused).toMatchObject({ name: "Failure", code: "storage_unavailable" });
    });
    expect(await names(database)).toEqual(["kept"]);
  });

  test("retries all reads when all connections are lost at once", async () => {
    await using fixture = await openPostgresFixture();
    const database = await openPostgres({ url: fixture.url, poolSize: 2, isChecked: true });
    await asOwner(fixture.url, async (holder) => {
      await holder.query("begin");
      await holder.query("lock table settings");
      const reads = [names(database), names(database)];
      // Not pg_stat_activity: within a transaction it always shows its first snapshot.
      const waiting = `from pg_locks where not granted and relation = 'settings'::regclass`;
      await until(async () => (await holder.query(`select pid ${waiting}`)).rows.length === 2);
      await holder.query(`select pg_terminate_backend(pid) ${waiting}`);
      await holder.query("commit");
      expect(await Promise.all(reads)).toEqual([[], []]);
    });
    await database.close();
  });

  test("reads succeed while connections are cut repeatedly", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    const elsewhere = new URL(url);
    elsewhere.pathname = "/postgres";
    const name = new URL(url).pathname.slice(1);
    await asOwner(elsewhere.href, async (client) => {
      for (let round = 0; round < 12; round++) {
        const reads = Array.from({ length: 5 }, () => names(database));
        await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
        expect(await Promise.all(reads)).toEqual([[], [], [], [], []]);
      }
    });
  });

  test("begins a transaction on another connection if the first one is cut", async () => {
    await using fixture = await openPostgresFixture();
    const { database, url } = fixture;
    const elsewhere = new URL(url);
    elsewhere.pathname = "/postgres";
    const name = new URL(url).pathname.slice(1);
    let neverBegun = 0;
    const transact = async (): Promise<void> => {
      let begun = false;
      const work = database.kysely.transaction().execute(async (transaction) => {
        begun = true;
        await transaction.selectFrom("settings").select("name").execute();
      });
      await work.catch(() => (begun ? undefined : neverBegun++));
    };
    await asOwner(elsewhere.href, async (client) => {
      for (let round = 0; round < 12; round++) {
        const work = Array.from({ length: 5 }, transact);
        await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
        await Promise.all(work);
      }
    });
    expect(neverBegun).toBe(0);
  });

  test("reports a statement timeout and reuses the connection", async () => {
    await using fixture = await openPostgresFixture();
    const database = await openPostgres({ url: fixture.url, statementMs: 1_500, poolSize: 1, isChecked: true });
    const slow = sql`select pg_sleep(600)`.execute(database.kysely).catch((thrown: unknown) => thrown);
    expect(await slow).toMatchObject({ name: "Failure", code: "storage_unavailable" });
    expect(await names(database)).toEqual([]);
    await database.close();
  });

  test("rejects the commit of a transaction with a failed statement", async () => {
    await using fixture = await openPostgresFixture();
    const { kysely } = fixture.database;
    const careless = kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto("settings").values(setting("lost")).execute();
      await sql`select no_such_column from settings`.execute(transaction).catch(() => undefined);
    });
    await expect(careless).rejects.toThrow("was not committed");
    expect(await names(fixture.database)).toEqual([]);
  });

  test("snapshots are consistent, and reading connections cannot write", async () => {
    await using fixture = await openPostgresFixture();
    const { database } = fixture;
    const seen = await inSnapshot(database, async (snapshot) => {
      const before = await names({ kysely: snapshot as Database["kysely"] });
      await database.kysely.insertInto("settings").values(setting("later")).execute();
      return [before, await names({ kysely: snapshot as Database["kysely"] })];
    });
    expect(seen).toEqual([[], []]);
    const write = database.reading.insertInto("settings").values(setting("by a reader")).execute();
    expect(await write.catch((thrown: unknown) => thrown)).toMatchObject({ code: "25006" });
    expect(await names(database)).toEqual(["later"]);
  });
});
