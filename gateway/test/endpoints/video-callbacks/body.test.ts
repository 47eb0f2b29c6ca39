import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { bounds } from "#core/index.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

const json = { "content-type": "application/json" };
/** Invalid JSON: an error about it would prove that the body was read. */
const unreadable = "{".repeat(100);

function callback(
  id: string,
  token: string,
  body: string | Uint8Array | ReadableStream,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/video/callbacks/${id}/${encodeURIComponent(token)}`, {
    method: "POST",
    headers: { ...json, ...headers },
    body,
  });
}

async function runningTask(): Promise<{ readonly id: string; readonly token: string }> {
  const script = { video: { queued_ms: 0, running_ms: 600_000 } };
  const created = await gateway.post("/v1/video/tasks", taskRequest, { script: script as never });
  const { id } = (await created.json()) as { id: string };
  return { id, token: gateway.control.vault.derive("video callback", id) };
}

test("rejects a callback with a wrong token without decompressing its body", async () => {
  const { id } = await runningTask();
  const bomb = gzipSync(Buffer.alloc(bounds.requestBodyBytesMax, "x"));
  const before = process.memoryUsage().rss;
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => callback(id, "guessed", bomb, { "content-encoding": "gzip" })),
  );
  expect(await Promise.all(answers.map(errorOf))).toEqual(
    answers.map(() => expect.objectContaining({ status: 404, code: "task_not_found" })),
  );
  // One decompressed body alone would exceed this.
  expect(process.memoryUsage().rss - before).toBeLessThan(bounds.requestBodyBytesMax / 2);
});

test("does not read a callback for a missing task", async () => {
  const refused = await callback("vt_01KX4000000000000000000000", "any", unreadable, { "content-encoding": "gzip" });
  expect(await errorOf(refused)).toMatchObject({ status: 404, code: "task_not_found" });
});

test("limits the body of a valid callback to 64 KiB", async () => {
  const { id, token } = await runningTask();
  const body = JSON.stringify({ id: "x", more: "x".repeat(bounds.callbackBodyBytesMax) });
  expect(await errorOf(await callback(id, token, body))).toMatchObject({ status: 413, code: "request_too_large" });
  const stream = new Blob([body]).stream();
  expect(await errorOf(await callback(id, token, stream))).toMatchObject({ status: 413, code: "request_too_large" });
});

test("rejects the compressed body of a valid callback", async () => {
  const { id, token } = await runningTask();
  const refused = await callback(id, token, gzipSync(JSON.stringify({ id: "x" })), { "content-encoding": "gzip" });
  expect(await errorOf(refused)).toMatchObject({ status: 415, code: "unsupported_media_type" });
});

test("accepts a callback whose body names no other task", async () => {
  const { id, token } = await runningTask();
  expect((await callback(id, token, "{}")).status).toBe(204);
});
