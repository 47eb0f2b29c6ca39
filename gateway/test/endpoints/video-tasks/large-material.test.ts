import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/until.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { ask, settledTask, videoGateway } from "./video-gateway.ts";

const path = "/v1/video/tasks";
const picture = `data:image/png;base64,${Array.from({ length: 500_000 }, (_, at) => String(at).padStart(8, "A")).join("")}`;

/** A vendor that keeps what it was sent. */
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

test("a picture of four megabytes arrives at its upstream as it was sent, and is no file of ours afterwards", async () => {
  const answer = await gateway.post(path, { ...ask, image: picture });
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as { id: string };
  expect(sentPictures()).toEqual([picture]);
  expect(await settledTask(gateway, id)).toMatchObject({ status: "succeeded", prompt: ask.prompt });
  await until(() => blobs().length === 0);
});

test("the same body under the same Idempotency-Key is the same task, and another picture a conflict", async () => {
  const headers = { "idempotency-key": "large" };
  const before = sentPictures().length;
  const [first, second] = await Promise.all(
    [1, 2].map(() => gateway.post(path, { ...ask, image: picture }, { headers })),
  );
  const [one, two] = await Promise.all([first?.json(), second?.json()]);
  expect(one).toHaveProperty("id");
  expect(two).toHaveProperty("id", (one as { id: string }).id);
  const other = await gateway.post(path, { ...ask, image: `${picture}A` }, { headers });
  expect(await errorOf(other)).toMatchObject({ status: 409, code: "idempotency_conflict" });
  expect(sentPictures().length).toBe(before + 1);
  await until(() => blobs().length === 0);
});

test("more words than a video can show are refused, and what is not material has a bound of its own", async () => {
  const long = await errorOf(await gateway.post(path, { ...ask, prompt: "a ".repeat(20_000) }));
  expect(long).toMatchObject({ status: 400, code: "invalid_request", param: "prompt" });
  const content = [{ type: "text", text: "a ".repeat(20_000) }];
  const listed = await errorOf(await gateway.post(path, { model: ask.model, content }));
  expect(listed).toMatchObject({ status: 400, code: "invalid_request", param: "content" });
  const much = await errorOf(await gateway.post(path, { ...ask, metadata: { note: "a".repeat(1_000_000) } }));
  expect(much).toMatchObject({ status: 413, code: "request_too_large" });
  expect(much.message).toContain("material");
});

/** What the vendor was given as first frames. */
function sentPictures(): readonly unknown[] {
  return bodies.flatMap(({ content }) => content.flatMap((item) => item.image_url?.url ?? []));
}

function blobs(): readonly string[] {
  const folder = join(gateway.dataDir, "blobs");
  return readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)));
}
