import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { statusOf } from "../message-batches/ended.ts";
import { chatPath, chatRow, clientOf, createBatch, uploaded } from "./batch-client.ts";

const bobKey = "sk-bob-0123456789abcdefghijkl";
let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
      { name: "not-granted", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
    ],
    workspace: { models: ["gpt-test"] },
    moreWorkspaces: [{ slug: "other", keys: [{ name: "bob", secret: bobKey }] }],
  });
  client = clientOf(gateway);
});
afterAll(() => gateway.stop());

const good = chatRow("good");

describe("a bad row refuses the whole batch, with the number of its line:", () => {
  const rows: readonly (readonly [what: string, row: object | string, words: string])[] = [
    ["invalid JSON", "{not json", "not a valid JSON object"],
    ["an array", "[]", "not a valid JSON object"],
    ["another method", chatRow("x", { method: "GET" }), "method"],
    ["another URL", chatRow("x", { url: "/v1/embeddings" }), "url"],
    ["no custom_id", { ...good, custom_id: undefined }, "custom_id"],
    ["a repeated custom_id", good, "more than once"],
    ["no body", { ...chatRow("x"), body: undefined }, "body"],
    ["a body that is no object", chatRow("x", { body: "text" }), "JSON object"],
    ["a stream", chatRow("x", {}, { stream: true }), "stream"],
    ["a model that does not exist", chatRow("x", {}, { model: "missing" }), "missing"],
    ["a model that is not granted", chatRow("x", {}, { model: "not-granted" }), "not-granted"],
    ["too many bytes", chatRow("x", {}, { user: "a".repeat(8 * 1024 * 1024) }), "longer than"],
  ];
  test.each(rows)("%s", async (_, row, words) => {
    const batch = await createBatch(client, [good, row]);
    expect(batch).toMatchObject({ status: "failed", output_file_id: null, request_counts: { total: 2, completed: 0 } });
    expect(batch.errors?.data?.map(({ line }) => line)).toEqual([2]);
    expect(batch.errors?.data?.[0]?.message).toContain(words);
  });
});

test("lists up to a hundred bad lines", async () => {
  const batch = await createBatch(
    client,
    Array.from({ length: 150 }, () => "{"),
  );
  expect(batch.errors?.data).toHaveLength(100);
  expect(batch.errors?.data?.[99]?.line).toBe(100);
});

test("refuses an empty file, another purpose and files of other workspaces", async () => {
  const other = await uploaded(clientOf(gateway, bobKey), [good]);
  const wrong = await uploaded(client, [good], "user_data");
  const blank = await uploaded(client, ["\n\r\n"]);
  const create = (input_file_id: string) =>
    client.batches.create({ input_file_id, endpoint: chatPath, completion_window: "24h" });
  expect(await statusOf(create(other))).toBe(404);
  expect(await statusOf(create("file-missing"))).toBe(404);
  expect(await statusOf(create(wrong))).toBe(400);
  expect(await statusOf(create(blank))).toBe(400);
});

test("names the wrong member of a creation", async () => {
  const input_file_id = await uploaded(client, [good]);
  const valid = { input_file_id, endpoint: chatPath, completion_window: "24h" };
  const bodies: readonly (readonly [param: string, body: object])[] = [
    ["input_file_id", { ...valid, input_file_id: undefined }],
    ["input_file_id", { ...valid, input_file_id: 7 }],
    ["endpoint", { ...valid, endpoint: "/v1/videos" }],
    ["completion_window", { ...valid, completion_window: "1h" }],
    ["metadata", { ...valid, metadata: { a: 1 } }],
    ["output_expires_after", { ...valid, output_expires_after: { anchor: "created_at", seconds: 5 } }],
  ];
  for (const [param, body] of bodies) {
    const answer = await gateway.post("/v1/batches", body);
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: { param: string } }).error.param).toBe(param);
  }
});

test("leaves nothing held, stored or charged", async () => {
  expect(gateway.gateway.outstanding()).toBe(0);
  const { kysely } = gateway.control.database;
  expect(await kysely.selectFrom("batch_rows").selectAll().execute()).toEqual([]);
  expect((await gateway.entries()).filter(({ batchId }) => batchId !== undefined)).toEqual([]);
});
