import { type Kysely, sql } from "kysely";
import { until } from "../../test/until.ts";
import { asOwner } from "./postgres-fixture.ts";

/** Begins a transaction. Resolves to a function that ends it. */
export async function begun(kysely: Kysely<never>, statement: string): Promise<() => Promise<void>> {
  const { promise: begins, resolve: hasBegun } = Promise.withResolvers<void>();
  const { promise: end, resolve: ending } = Promise.withResolvers<void>();
  const ended = kysely.transaction().execute(async (transaction) => {
    await sql.raw(statement).execute(transaction);
    hasBegun();
    await end;
  });
  await Promise.race([begins, ended]);
  return async () => {
    ending();
    await ended;
  };
}

/** Resolves to the process ids of the database's connections that wait for a lock, once there are `count` of them. */
export async function untilWaiting(url: string, count = 1): Promise<readonly number[]> {
  return await asOwner(url, async (client) => {
    let waiting: number[] = [];
    await until(async () => {
      const { rows } = await client.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      waiting = (rows as { pid: number }[]).map(({ pid }) => pid);
      return waiting.length >= count;
    });
    return waiting;
  });
}
