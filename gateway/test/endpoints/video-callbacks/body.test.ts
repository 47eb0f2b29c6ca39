import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { bounds } from "#core/index.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

const json = { "content-type": "application/json" };
/** What nobody can read as JSON: an answer that objects to it has read it. */
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
  const made = await gateway.post("/v1/video/tasks", ask, { script: script as never });
  const { id } = (await made.json()) as { id: string };
  return { id, token: gateway.control.vault.derive("video callback", id) };
}

test("a callback with a wrong token is refused without its body being unpacked", async () => {
  const { id } = await runningTask();
  const bomb = gzipSync(Buffer.alloc(bounds.requestBodyBytesMax, "x"));
  const before = process.memoryUsage().rss;
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => callback(id, "guessed", bomb, { "content-encoding": "gzip" })),
  );
  expect(await Promise.all(answers.map(errorOf))).toEqual(
    answers.map(() => expect.objectContaining({ status: 404, code: "task_not_found" })),
  );
  // One bomb alone would have been twice as much.
  expect(process.memoryUsage().rss - before).toBeLessThan(bounds.requestBodyBytesMax / 2);
});

test("for a task that does not exist nothing is read either", async () => {
  const refused = await callback("vt_01KX4000000000000000000000", "any", unreadable, { "content-encoding": "gzip" });
  expect(await errorOf(refused)).toMatchObject({ status: 404, code: "task_not_found" });
});

test("with the right token a body has at most 64 KiB", async () => {
  const { id, token } = await runningTask();
  const body = JSON.stringify({ id: "x", more: "x".repeat(bounds.callbackBodyBytesMax) });
  expect(await errorOf(await callback(id, token, body))).toMatchObject({ status: 413, code: "request_too_large" });
  const stream = new Blob([body]).stream();
  expect(await errorOf(await callback(id, token, stream))).toMatchObject({ status: 413, code: "request_too_large" });
});

test("with the right token a packed body is refused, not unpacked", async () => {
  const { id, token } = await runningTask();
  const refused = await callback(id, token, gzipSync(JSON.stringify({ id: "x" })), { "content-encoding": "gzip" });
  expect(await errorOf(refused)).toMatchObject({ status: 415, code: "unsupported_media_type" });
});

test("with the right token and a body that says nothing of another task it is heard", async () => {
  const { id, token } = await runningTask();
  expect((await callback(id, token, "{}")).status).toBe(204);
});
