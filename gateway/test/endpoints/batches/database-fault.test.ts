import { expect, test } from "bun:test";
import { sql } from "kysely";
import { until } from "../../../../test/until.ts";
import { MovedClock } from "../../moved-clock.ts";
import { startGateway } from "../../started-gateway.ts";
import { chatRow, clientOf, createBatch } from "./batch-client.ts";
import { rowGateway } from "./batch-gateway.ts";
import { RowUpstream } from "./row-upstream.ts";

test("continues when the database failed for a while, and runs each row once", async () => {
  const rows = new RowUpstream();
  const gate = Promise.withResolvers<void>();
  rows.gate = gate.promise;
  const clock = new MovedClock();
  const gateway = await startGateway(rowGateway(rows, { clock }));
  const { kysely } = gateway.control.database;
  try {
    const client = clientOf(gateway);
    const batch = await createBatch(
      client,
      Array.from({ length: 50 }, (_, n) =>
        chatRow(`row-${n}`, {}, { messages: [{ role: "user", content: `prompt ${n}` }] }),
      ),
    );
    // All rows are taken, and sixteen of them run.
    await until(() => rows.total === 16);
    await sql`CREATE TRIGGER broken BEFORE UPDATE OF leased_until ON batches
      BEGIN SELECT RAISE(ABORT, 'broken'); END`.execute(kysely);
    // The lease has to be renewed before the next row.
    clock.move(15_000);
    gate.resolve();
    await until(async () => {
      const { succeeded } = await kysely.selectFrom("batches").select("succeeded").executeTakeFirstOrThrow();
      return succeeded > 0;
    });
    await sql`DROP TRIGGER broken`.execute(kysely);
    const done = await until(async () => {
      clock.move(5_000);
      const found = await client.batches.retrieve(batch.id);
      return found.status === "completed" ? found : null;
    });
    expect(done.request_counts).toEqual({ total: 50, completed: 50, failed: 0 });
    expect([...rows.calls.values()].filter((count) => count !== 1)).toEqual([]);
  } finally {
    await gateway.stop();
    rows.stop();
  }
});
