import { afterEach, expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import type { Order } from "../../test/fixtures/threads/orders.ts";
import { WorkerPool, type WorkerPoolOptions } from "./worker-pool.ts";

const opened: WorkerPool[] = [];
afterEach(async () => {
  for (const pool of opened.splice(0)) await pool.close();
});

function openPool(changes: Partial<WorkerPoolOptions> = {}) {
  const clock = new FakeClock();
  const logged: string[] = [];
  const pool = new WorkerPool({
    entry: new URL("../../test/fixtures/threads/orders.ts", import.meta.url),
    name: "test",
    threads: 2,
    waitingMax: 3,
    jobMs: 1_000,
    idleMs: 60_000,
    longBytes: 1_000,
    patienceMs: 100,
    clock,
    observer: { log: (_level, message) => void logged.push(message) },
    ...changes,
  });
  opened.push(pool);
  let keys = 0;
  /** Default: a new key for each order. */
  const run = (order: Order, size = 1, signal: AbortSignal | null = null, key = `key_${keys++}`) => {
    const owner = { key: { id: key }, workspace: { id: key } };
    return pool.run(order, size, order.bytes === undefined ? [] : [order.bytes.buffer as ArrayBuffer], {
      signal,
      owner,
    });
  };
  return { pool, clock, logged, run };
}

const codeOf = (order: Promise<unknown>): Promise<unknown> =>
  order.then(
    () => "answered",
    (thrown: { code?: unknown }) => thrown.code,
  );

test("transfers buffers in both directions without a copy", async () => {
  const { run } = openPool();
  const bytes = new Uint8Array(100_000).fill(7);
  const reply = (await run({ act: "answer", bytes })) as { bytes: Uint8Array };
  expect(bytes.length).toBe(0);
  expect(reply.bytes).toEqual(new Uint8Array(100_000).fill(7));
});

test("runs the next order after one failed or killed its thread", async () => {
  const { run, logged } = openPool({ threads: 1 });
  expect(await codeOf(run({ act: "throw" }))).toBe("internal_error");
  expect(await codeOf(run({ act: "answer" }))).toBe("answered");
  expect(await codeOf(run({ act: "die" }))).toBe("internal_error");
  expect(logged).toHaveLength(1);
  expect(await codeOf(run({ act: "answer" }))).toBe("answered");
});

test("rejects an order that times out, ends its thread, and runs the next", async () => {
  const { run, clock } = openPool({ threads: 1 });
  const late = codeOf(run({ act: "hang" }));
  clock.advance(500);
  const next = codeOf(run({ act: "answer" }));
  clock.advance(500);
  expect(await late).toBe("overloaded");
  expect(await next).toBe("answered");
});

test("rejects at once when too many wait, and drops orders of callers that leave", async () => {
  const { run, clock } = openPool({ threads: 1 });
  const hanging = codeOf(run({ act: "hang" }));
  const leaving = new AbortController();
  const left = codeOf(run({ act: "answer" }, 1, leaving.signal));
  const waiting = codeOf(run({ act: "answer" }));
  expect(await codeOf(run({ act: "answer" }))).toBe("overloaded");
  leaving.abort();
  expect(await left).toBe("client_closed");
  clock.advance(1_000);
  expect(await hanging).toBe("overloaded");
  // It had waited for as long as the other order ran.
  expect(await waiting).toBe("overloaded");
});

test("keeps one thread for orders that are not long", async () => {
  const { pool, run } = openPool();
  const long = [1, 2].map(() => codeOf(run({ act: "hang" }, 5_000)));
  expect(await codeOf(run({ act: "answer" }, 10))).toBe("answered");
  await pool.close();
  expect(await Promise.all(long)).toEqual(["draining", "draining"]);
});

test("keys take turns, and one key gets at most half of the queue", async () => {
  const { run } = openPool({ threads: 1, waitingMax: 12 });
  const order: string[] = [];
  const ask = (key: string): Promise<unknown> =>
    run({ act: "answer" }, 1, null, key).then(
      () => order.push(key),
      (thrown: unknown) => thrown,
    );
  const orders = Array.from({ length: 7 }, () => ask("anna"));
  const refused = expect.objectContaining({ code: "rate_limit_exceeded", status: 429, details: { scope: "key" } });
  expect(await ask("anna")).toEqual(refused);
  orders.push(ask("bert"), ask("cleo"), ask("bert"));
  await Promise.all(orders);
  expect(order.slice(0, 6).sort()).toEqual(["anna", "anna", "bert", "bert", "cleo", "anna"].sort());
});

test("rejects orders after close", async () => {
  const { pool, run } = openPool();
  await pool.close();
  expect(await codeOf(run({ act: "answer" }))).toBe("draining");
});
