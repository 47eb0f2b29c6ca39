import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/until.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { settledTask, taskRequest, videoGateway } from "./video-gateway.ts";

const path = "/v1/video/tasks";
const picture = `data:image/png;base64,${Array.from({ length: 500_000 }, (_, at) => String(at).padStart(8, "A")).join("")}`;

/** A vendor that records the bodies it receives. */
const bodies: { readonly content: readonly { readonly image_url?: { readonly url: unknown } }[] }[] = [];
const vendor = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.method === "POST") {
      bodies.push((await request.json()) as (typeof bodies)[number]);
      return Response.json({ id: `cgt-${bodies.length}` });
    }
    return Response.json({ id: "cgt-1", status: "succeeded", content: { video_url: "https://a.example/v.mp4" } });
  },
});

let gateway: StartedGateway;
beforeAll(async () => {
  const account = { id: "volc", kind: "ark", base_url: vendor.url.href, api_key: "sk-upstream-of-volc" } as const;
  gateway = await startGateway({ ...videoGateway, providers: () => [{ ...account, allow_private_network: true }] });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop(true);
});

test("sends a picture of four megabytes unchanged, and deletes its stored copy", async () => {
  const answer = await gateway.post(path, { ...taskRequest, image: picture });
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as { id: string };
  expect(sentPictures()).toEqual([picture]);
  expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded", prompt: taskRequest.prompt });
  await until(() => blobs().length === 0);
});

test("finds the task with a large body by its Idempotency-Key, and returns a conflict for another picture", async () => {
  const headers = { "idempotency-key": "large" };
  const before = sentPictures().length;
  const [first, second] = await Promise.all(
    [1, 2].map(() => gateway.post(path, { ...taskRequest, image: picture }, { headers })),
  );
  const [one, two] = await Promise.all([first?.json(), second?.json()]);
  expect(one).toHaveProperty("id");
  expect(two).toHaveProperty("id", (one as { id: string }).id);
  const other = await gateway.post(path, { ...taskRequest, image: `${picture}A` }, { headers });
  expect(await errorOf(other)).toMatchObject({ status: 409, code: "idempotency_conflict" });
  expect(sentPictures().length).toBe(before + 1);
  await until(() => blobs().length === 0);
});

test("rejects prompts that are too long, and limits the other fields separately", async () => {
  const longPrompt = await errorOf(await gateway.post(path, { ...taskRequest, prompt: "a ".repeat(20_000) }));
  expect(longPrompt).toMatchObject({ status: 400, code: "invalid_request", param: "prompt" });
  const content = [{ type: "text", text: "a ".repeat(20_000) }];
  const longText = await errorOf(await gateway.post(path, { model: taskRequest.model, content }));
  expect(longText).toMatchObject({ status: 400, code: "invalid_request", param: "content" });
  const largeMetadata = await errorOf(
    await gateway.post(path, { ...taskRequest, metadata: { note: "a".repeat(1_000_000) } }),
  );
  expect(largeMetadata).toMatchObject({ status: 413, code: "request_too_large" });
  expect(largeMetadata.message).toContain("material");
});

/** The first frames that the vendor received. */
function sentPictures(): readonly unknown[] {
  return bodies.flatMap(({ content }) => content.flatMap((item) => item.image_url?.url ?? []));
}

function blobs(): readonly string[] {
  const folder = join(gateway.dataDir, "blobs");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
