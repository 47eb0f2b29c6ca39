import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { statusOf } from "../message-batches/ended.ts";
import { chatRow, clientOf, createBatch, ended, linesOf } from "./batch-client.ts";
import { rowCost, rowGateway } from "./batch-gateway.ts";
import { RowUpstream } from "./row-upstream.ts";

let rows: RowUpstream;
let gateway: StartedGateway | null = null;
beforeEach(() => {
  rows = new RowUpstream();
});
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
  rows.stop();
});

const many = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    chatRow(`row-${n}`, {}, { messages: [{ role: "user", content: `prompt ${n}` }] }),
  );

test("holds the worst case of all rows, and gives it back when they end", async () => {
  const gate = Promise.withResolvers<void>();
  rows.gate = gate.promise;
  gateway = await startGateway(
    rowGateway(rows, { keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.01, period: "total" } }] }),
  );
  const client = clientOf(gateway);
  // A row may cost 5 output tokens (50,000 nano-USD) and its input: 0.01 USD is enough for 100 rows, not for 200.
  expect(await statusOf(createBatch(client, many(200)))).toBe(402);
  expect(gateway.gateway.outstanding()).toBe(0);
  const batch = await createBatch(client, many(100));
  await until(() => rows.total > 0);
  expect(await statusOf(createBatch(client, many(100)))).toBe(429);
  gate.resolve();
  await ended(client, batch.id);
  await until(() => gateway?.gateway.outstanding() === 0);
  const entries = await gateway.entries();
  expect(entries.filter(({ batchId }) => batchId === batch.id)).toHaveLength(100);
  const used = (await (await gateway.get("/v1/usage")).json()) as { limits: readonly { kind: string; used: number }[] };
  expect(used.limits.find(({ kind }) => kind === "budget")?.used).toBeCloseTo((100 * rowCost) / 1e9, 9);
});

test("runs each row once under a limit of concurrent calls, and records no refusals of rows", async () => {
  gateway = await startGateway(
    rowGateway(rows, { keys: [{ name: "alice", secret: aliceKey, limits: { concurrency: 3 } }] }),
  );
  const client = clientOf(gateway);
  const batch = await createBatch(client, many(60));
  expect((await ended(client, batch.id)).request_counts).toEqual({ total: 60, completed: 60, failed: 0 });
  expect(rows.mostAtOnce).toBeLessThanOrEqual(3);
  expect([...rows.calls.values()].every((count) => count === 1)).toBe(true);
  expect((await gateway.entries()).map(({ outcome }) => outcome)).toEqual(Array(60).fill("succeeded"));
});

test("runs at most sixteen rows of a workspace at once", async () => {
  const gate = Promise.withResolvers<void>();
  rows.gate = gate.promise;
  gateway = await startGateway(rowGateway(rows));
  const client = clientOf(gateway);
  const batch = await createBatch(client, many(40));
  await until(() => rows.total >= 16);
  // Another call of the same key is not affected.
  const call = gateway.chat(hello);
  await until(() => rows.total >= 17);
  expect(rows.total).toBe(17);
  gate.resolve();
  expect((await call).status).toBe(200);
  await ended(client, batch.id);
  expect(rows.mostAtOnce).toBe(17);
});

test("finishes running rows of a canceled batch, and starts no others", async () => {
  const gate = Promise.withResolvers<void>();
  rows.gate = gate.promise;
  gateway = await startGateway(rowGateway(rows));
  const client = clientOf(gateway);
  const batch = await createBatch(client, many(50));
  await until(() => rows.total >= 16);
  expect((await client.batches.cancel(batch.id)).status).toBe("cancelling");
  gate.resolve();
  const done = await ended(client, batch.id);
  expect(done.status).toBe("cancelled");
  const completed = done.request_counts?.completed ?? 0;
  expect(completed).toBe(rows.total);
  expect(done.request_counts).toEqual({ total: 50, completed, failed: 50 - completed });
  const errors = await linesOf(client, done.error_file_id);
  expect(errors.map(({ error }) => error?.code)).toEqual(Array(50 - completed).fill("batch_cancelled"));
  expect(await linesOf(client, done.output_file_id)).toHaveLength(completed);
  expect((await gateway.entries()).filter(({ batchId }) => batchId === batch.id)).toHaveLength(completed);
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("repeats a row that an upstream refuses for a while, and writes other errors to the file of errors", async () => {
  rows.statusOf = (prompt) => {
    if (prompt === "prompt 1") return 400;
    return prompt === "prompt 2" && rows.calls.get(prompt) === 1 ? 429 : 200;
  };
  gateway = await startGateway(rowGateway(rows));
  const client = clientOf(gateway);
  const batch = await createBatch(client, many(3));
  const done = await ended(client, batch.id);
  expect(done.request_counts).toEqual({ total: 3, completed: 2, failed: 1 });
  const [failed] = await linesOf(client, done.error_file_id);
  expect(failed).toMatchObject({
    custom_id: "row-1",
    response: { status_code: 400, body: { error: { message: "no prompt 1" } } },
  });
  expect(rows.calls.get("prompt 2")).toBeGreaterThan(1);
});

test("starts no more rows once their key is disabled", async () => {
  gateway = await startGateway(rowGateway(rows, { keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 20 } }] }));
  const batch = await createBatch(clientOf(gateway), many(50));
  const { kysely } = gateway.control.database;
  const stored = () => kysely.selectFrom("batches").selectAll().where("id", "=", batch.id).executeTakeFirstOrThrow();
  // The creation of file and batch are calls, too.
  await until(async () => (await stored()).succeeded === 18);
  await kysely.updateTable("api_keys").set({ enabled: 0 }).execute();
  await until(async () => (await stored()).state === "canceled");
  expect(await stored()).toMatchObject({ succeeded: 18, canceled: 32, errored: 0 });
  expect(rows.total).toBe(18);
});
