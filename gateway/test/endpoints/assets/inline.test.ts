import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createAssetStore } from "#assets/index.ts";
import { assetInlinedBytesMax } from "#assets/resolver.ts";
import { createDiskBlobStore } from "#storage/index.ts";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "../video-tasks/video-gateway.ts";

/** A vendor that records the bodies it receives. */
const bodies: string[] = [];
const vendor = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: 256 * 1024 * 1024,
  async fetch(request) {
    if (request.method === "GET") return new Response("{}", { status: 500 });
    bodies.push(await request.text());
    return Response.json({ id: `cgt-${bodies.length}`, created: 1, data: [{ b64_json: "AAAA" }] });
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

/** An Active asset on the local platform. This gateway has no public address. */
async function localAsset(id: string, bytes: Uint8Array): Promise<string> {
  const { database } = gateway.control;
  const clock = { now: () => Date.now() };
  const blobs = createDiskBlobStore({ directory: join(gateway.dataDir, "blobs"), clock });
  const { hash } = await blobs.put(new Blob([bytes]).stream(), bytes.length, new AbortController().signal);
  const created = await gateway.post("/v1/asset-groups", { platform: "local", name: `of ${id}` });
  const { id: groupId } = (await created.json()) as { id: string };
  const { workspace_id: workspaceId } = await database.kysely
    .selectFrom("asset_groups")
    .select("workspace_id")
    .where("id", "=", groupId)
    .executeTakeFirstOrThrow();
  const [createdAt, updatedAt] = [Date.now(), Date.now()];
  await createAssetStore({ database }).createAsset({
    id,
    workspaceId,
    groupId,
    platform: "local",
    name: id,
    type: "Image",
    sourceUrl: "https://a.example/x.png",
    status: "Active",
    error: null,
    providerId: null,
    upstreamId: null,
    blobHash: hash,
    sizeBytes: bytes.length,
    contentType: "image/png",
    createdAt,
    updatedAt,
    dueAt: null,
  });
  return `asset://${id}`;
}

const dataUrl = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;

test("inlines local assets into a video request, because the upstream could not fetch them", async () => {
  const smallBytes = new TextEncoder().encode("a small picture");
  const largeBytes = crypto.getRandomValues(new Uint8Array(65_536));
  const [one, two] = [await localAsset("as_0small", smallBytes), await localAsset("as_large", largeBytes)];
  const content = [{ type: "image_url", image_url: { url: two }, role: "reference_image" }];
  // A prompt that happens to be a reference stays text.
  const answer = await gateway.post("/v1/video/tasks", {
    ...taskRequest,
    prompt: one,
    image: one,
    content,
    more: { deep: [two] },
  });
  expect(answer.status).toBe(200);
  const sent = JSON.parse(bodies.at(-1) ?? "");
  expect(sent.content).toEqual([
    { type: "text", text: one },
    { type: "image_url", image_url: { url: dataUrl(largeBytes) }, role: "reference_image" },
    { type: "image_url", image_url: { url: dataUrl(smallBytes) }, role: "first_frame" },
  ]);
  expect(sent.more).toEqual({ deep: [dataUrl(largeBytes)] });
});

test("inlines local assets into an image request", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(40_000));
  const one = await localAsset("as_picture", bytes);
  const answer = await gateway.post("/v1/images/generations", { model: "paint-test", prompt: "x", image: [one, one] });
  expect(answer.status).toBe(200);
  expect(JSON.parse(bodies.at(-1) ?? "").image).toEqual([dataUrl(bytes), dataUrl(bytes)]);
});

test("rejects more inlined assets than one request may carry, and sends nothing", async () => {
  const bytes = new Uint8Array(assetInlinedBytesMax);
  const before = bodies.length;
  const many: string[] = [];
  for (let n = 0; n < 4; n++) many.push(await localAsset(`as_many${n}`, bytes));
  const video = await errorOf(await gateway.post("/v1/video/tasks", { ...taskRequest, references: many }));
  expect(video).toMatchObject({ status: 400, code: "invalid_request" });
  expect(video.message).toContain("SLUICE_PUBLIC_URL");
  const picture = await errorOf(
    await gateway.post("/v1/images/generations", { model: "paint-test", prompt: "x", image: many }),
  );
  expect(picture).toMatchObject({ status: 400, code: "invalid_request" });
  expect(bodies.length).toBe(before);
});
