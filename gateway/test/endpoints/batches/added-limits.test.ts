import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { spentUsd } from "../../background-fixture.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, configOf, type Overrides, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { chatRow, clientOf, createBatch, ended, linesOf } from "./batch-client.ts";
import { rowCost, rowGateway } from "./batch-gateway.ts";
import { RowUpstream } from "./row-upstream.ts";

let rows: RowUpstream;
let gateway: StartedGateway | null = null;
let clock: MovedClock;
beforeEach(() => {
  rows = new RowUpstream();
  clock = new MovedClock();
});
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
  rows.stop();
});

/** Starts a batch of 40 rows, changes the config once 16 of them run, and resolves to the batch when it has ended. */
async function changedWhileRunning(before: Overrides, after: Overrides) {
  const gate = Promise.withResolvers<void>();
  rows.gate = gate.promise;
  const started = await startGateway(rowGateway(rows, { clock, ...before }));
  gateway = started;
  const client = clientOf(started);
  const prompts = Array.from({ length: 40 }, (_, n) =>
    chatRow(`row-${n}`, {}, { messages: [{ role: "user", content: `prompt ${n}` }] }),
  );
  const { id } = await createBatch(client, prompts);
  await until(() => rows.total === 16);
  const config = configOf(started.simulator, rowGateway(rows, { ...before, ...after }));
  await started.control.controlStore.apply(config, "test");
  await started.gateway.configSnapshot.refresh();
  const limit = after.keys?.[0]?.budget?.usd;
  await until(async () => {
    // The principal of a batch is read every few seconds.
    clock.move(10_000);
    return (await budgetOf(started)) === limit;
  });
  gate.resolve();
  const done = await ended(client, id);
  const errors = await linesOf(client, done.error_file_id);
  const entries = (await started.entries()).filter(({ batchId }) => batchId === id);
  return { done, errors, entries, gateway: started };
}

async function budgetOf({ get }: StartedGateway): Promise<number | undefined> {
  const { limits } = (await (await get("/v1/usage")).json()) as { limits: { kind: string; limit: number }[] };
  return limits.find(({ kind }) => kind === "budget")?.limit;
}

test("a guardrail that is added while a batch runs refuses its other rows", async () => {
  const { done, errors } = await changedWhileRunning(
    {},
    { guardrails: [{ name: "no-prompts", check: { kind: "words", words: ["prompt"] }, action: "block" }] },
  );
  expect(done.request_counts).toEqual({ total: 40, completed: 16, failed: 24 });
  expect(rows.total).toBe(16);
  for (const { response } of errors) {
    expect(response).toMatchObject({ status_code: 400, body: { error: { code: "guardrail_blocked" } } });
  }
});

test("a budget that is added while a batch runs refuses the rows that it has no money for", async () => {
  const {
    done,
    errors,
    entries,
    gateway: opened,
  } = await changedWhileRunning(
    {},
    { keys: [{ name: "alice", secret: aliceKey, budget: { usd: (20 * rowCost) / 1e9, period: "total" } }] },
  );
  const { completed = 0, failed = 0 } = done.request_counts ?? {};
  // Rows that ran when the budget was added have no money held on it, but their cost counts.
  expect(completed).toBeGreaterThanOrEqual(16);
  expect(completed).toBeLessThanOrEqual(16 + 20);
  expect(failed).toBe(40 - completed);
  expect(errors[0]?.response).toMatchObject({ status_code: 402, body: { error: { code: "budget_exceeded" } } });
  const cost = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
  expect(cost).toBe(completed * rowCost);
  expect(opened.gateway.outstanding()).toBe(0);
  expect(await spentUsd(opened)).toBeCloseTo(cost / 1e9, 9);
});

test("a budget that a batch holds its money on does not refuse its rows", async () => {
  const budget = { usd: (60 * rowCost) / 1e9, period: "total" as const };
  const { done } = await changedWhileRunning(
    { keys: [{ name: "alice", secret: aliceKey, budget }] },
    { keys: [{ name: "alice", secret: aliceKey, budget: { ...budget, usd: rowCost / 1e9 } }] },
  );
  expect(done.request_counts).toEqual({ total: 40, completed: 40, failed: 0 });
});
