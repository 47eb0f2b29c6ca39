import { afterAll, beforeAll, expect, test } from "bun:test";
import type OpenAI from "openai";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { statusOf } from "../message-batches/ended.ts";
import { chatRow, clientOf, createBatch, ended, linesOf, uploaded } from "./batch-client.ts";

const bobKey = "sk-bob-0123456789abcdefghijkl";
let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
      { name: "picture", type: "image", deployments: [{ provider: "main" }], price: { image: 0.04 } },
    ],
    moreWorkspaces: [{ slug: "other", keys: [{ name: "bob", secret: bobKey }] }],
  });
  client = clientOf(gateway);
});
afterAll(() => gateway.stop());

test("runs the rows of a file, and returns a file with their answers", async () => {
  const input_file_id = await uploaded(client, [chatRow("a"), chatRow("b")]);
  const created = await client.batches.create({
    ...{ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h", metadata: { team: "search" } },
  });
  expect(created).toMatchObject({ object: "batch", input_file_id, metadata: { team: "search" }, model: "gpt-test" });
  expect(created.id).toStartWith("batch_");
  const batch = await ended(client, created.id);
  expect(batch).toMatchObject({
    status: "completed",
    request_counts: { total: 2, completed: 2, failed: 0 },
    error_file_id: null,
  });
  const usages = (await linesOf(client, batch.output_file_id)).map(
    ({ response }) => (response?.body as OpenAI.ChatCompletion | undefined)?.usage,
  );
  const sum = (count: (usage: NonNullable<(typeof usages)[number]>) => number | undefined) =>
    usages.reduce((total, usage) => total + (usage === undefined ? Number.NaN : (count(usage) ?? 0)), 0);
  expect(batch.usage).toEqual({
    input_tokens: sum(({ prompt_tokens }) => prompt_tokens),
    input_tokens_details: { cached_tokens: sum(({ prompt_tokens_details }) => prompt_tokens_details?.cached_tokens) },
    output_tokens: sum(({ completion_tokens }) => completion_tokens),
    output_tokens_details: {
      reasoning_tokens: sum(({ completion_tokens_details }) => completion_tokens_details?.reasoning_tokens),
    },
    total_tokens: sum(({ total_tokens }) => total_tokens),
  });
  const lines = await linesOf(client, batch.output_file_id);
  expect(lines.map(({ custom_id }) => custom_id)).toEqual(["a", "b"]);
  for (const { response, error } of lines) {
    expect(error).toBeNull();
    expect(response).toMatchObject({ status_code: 200, body: { object: "chat.completion" } });
    const [entry] = (await gateway.entries()).filter(({ requestId }) => requestId === response?.request_id);
    expect(entry).toMatchObject({ batchId: created.id, outcome: "succeeded", endpoint: "chat" });
  }
});

test("accepts a byte-order mark, lines of Windows and empty lines", async () => {
  const batch = await createBatch(client, [
    `\ufeff${JSON.stringify(chatRow("one"))}\r`,
    "",
    `${JSON.stringify(chatRow("two"))}\r`,
    "\r",
  ]);
  expect((await ended(client, batch.id)).request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
});

test("lists batches, newest first, and hides them from other workspaces", async () => {
  const first = await createBatch(client, [chatRow("1")]);
  const second = await createBatch(client, [chatRow("1")]);
  const ids: string[] = [];
  for await (const { id } of client.batches.list({ limit: 1 })) ids.push(id);
  expect(ids.slice(0, 2)).toEqual([second.id, first.id]);
  const other = clientOf(gateway, bobKey);
  expect((await other.batches.list()).data).toEqual([]);
  expect(await statusOf(other.batches.retrieve(first.id))).toBe(404);
  expect(await statusOf(other.batches.cancel(first.id))).toBe(404);
});

test("edits images with rows in JSON", async () => {
  const image_url =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const body = { model: "picture", prompt: "Add a hat", images: [{ image_url }] };
  const row = (custom_id: string, more: object) => ({
    ...{ custom_id, method: "POST", url: "/v1/images/edits" },
    body: { ...body, ...more },
  });
  const input_file_id = await uploaded(client, [row("one", {}), row("two", { n: 2 })]);
  const created = await client.batches.create({
    ...{ input_file_id, endpoint: "/v1/images/edits", completion_window: "24h" },
  });
  const batch = await ended(client, created.id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: 2, completed: 2, failed: 0 } });
  const lines = await linesOf(client, batch.output_file_id);
  expect(lines.map(({ response }) => (response?.body as OpenAI.ImagesResponse | undefined)?.data?.length)).toEqual([
    1, 2,
  ]);
  const [entry] = (await gateway.entries()).filter(({ batchId }) => batchId === created.id);
  expect(entry).toMatchObject({ endpoint: "image-edits", outcome: "succeeded" });
});
