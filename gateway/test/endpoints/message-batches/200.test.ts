import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { claudeGateway, hi } from "../messages/claude-gateway.ts";
import { ended, statusOf } from "./ended.ts";

let gateway: StartedGateway;
let client: Anthropic;
beforeAll(async () => {
  gateway = await startGateway({
    ...claudeGateway,
    providers: (simulator) => [...(claudeGateway.providers?.(simulator) ?? []), upstream("open", simulator)],
    models: [
      ...(claudeGateway.models ?? []),
      { name: "translated", deployments: [{ provider: "open" }], price: { input: 1, output: 2 } },
    ],
    moreWorkspaces: [{ slug: "other", keys: [{ name: "bob", secret: "sk-bob-0123456789abcdefghijkl" }] }],
  });
  client = new Anthropic({ apiKey: aliceKey, baseURL: gateway.url, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const params = { ...hi, messages: [{ role: "user" as const, content: "Say hello" }] };

test("runs every row and returns its results, with an entry for each in the ledger", async () => {
  const created = await client.messages.batches.create({
    requests: [
      { custom_id: "first", params },
      { custom_id: "second", params: { ...params, model: "translated" } },
      { custom_id: "third", params: { ...params, model: "missing" } },
    ],
  });
  expect(created).toMatchObject({ type: "message_batch", processing_status: "in_progress", results_url: null });
  expect(created.id).toStartWith("msgbatch_");
  const batch = await ended(client, created.id);
  expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 });
  expect(batch.results_url).toBe(`${gateway.url}/v1/messages/batches/${created.id}/results`);
  const results = new Map<string, Anthropic.Messages.MessageBatchResult>();
  for await (const { custom_id, result } of await client.messages.batches.results(created.id))
    results.set(custom_id, result);
  expect(results.get("first")).toMatchObject({ type: "succeeded", message: { type: "message", role: "assistant" } });
  expect(results.get("second")).toMatchObject({ type: "succeeded", message: { type: "message" } });
  expect(results.get("third")).toMatchObject({
    type: "errored",
    error: { type: "error", error: { type: "not_found_error" } },
  });
  const entries = (await gateway.entries()).filter(({ batchId }) => batchId !== undefined);
  expect(entries.map(({ customId, outcome }) => [customId, outcome]).sort()).toEqual([
    ["first", "succeeded"],
    ["second", "succeeded"],
  ]);
  for (const entry of entries) {
    expect(entry.costNanoUsd).toBeGreaterThan(0);
    expect(entry.batchId).toBe(created.id.replace("msgbatch_", "batch_"));
  }
});

test("has no address of results before it has ended", async () => {
  const { id } = await client.messages.batches.create({ requests: [{ custom_id: "first", params }] });
  await ended(client, id);
  // As while the results are written.
  await gateway.control.database.kysely
    .updateTable("batches")
    .set({ state: "finalizing", ended_at: null })
    .where("id", "=", id.replace("msgbatch_", "batch_"))
    .execute();
  const batch = await client.messages.batches.retrieve(id);
  expect(batch).toMatchObject({ processing_status: "in_progress", results_url: null });
});

test("lists, and deletes an ended batch with its results", async () => {
  const made = [];
  for (const n of [1, 2, 3])
    made.push(await client.messages.batches.create({ requests: [{ custom_id: `n${n}`, params }] }));
  const listed: string[] = [];
  for await (const { id } of client.messages.batches.list({ limit: 2 })) listed.push(id);
  expect(listed.slice(0, 3)).toEqual(made.map(({ id }) => id).toReversed());
  const before = await client.messages.batches.list({ limit: 1, before_id: made[1]?.id ?? "" });
  expect(before.data.map(({ id }) => id)).toEqual([made[2]?.id ?? ""]);
  const id = made[0]?.id ?? "";
  await ended(client, id);
  expect(await client.messages.batches.delete(id)).toEqual({ id, type: "message_batch_deleted" });
  expect(await statusOf(client.messages.batches.retrieve(id))).toBe(404);
});

test("shows a batch to its own workspace only", async () => {
  const { id } = await client.messages.batches.create({ requests: [{ custom_id: "mine", params }] });
  const other = new Anthropic({ apiKey: "sk-bob-0123456789abcdefghijkl", baseURL: gateway.url, maxRetries: 0 });
  for (const call of ["retrieve", "cancel", "delete"] as const) {
    expect(await statusOf(other.messages.batches[call](id))).toBe(404);
  }
  expect((await other.messages.batches.list()).data).toEqual([]);
});

test("sends the version and features that the batch was created with", async () => {
  const created = await client.messages.batches.create(
    { requests: [{ custom_id: "with-beta", params }] },
    { headers: { "anthropic-beta": "one-2026-01-01" } },
  );
  await ended(client, created.id);
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(received?.request_headers).toMatchObject({ "anthropic-beta": "one-2026-01-01" });
});
