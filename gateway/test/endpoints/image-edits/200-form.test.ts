import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { imageGateway } from "../images/image-gateway.ts";

let gateway: StartedGateway;
let client: OpenAI;
beforeAll(async () => {
  gateway = await startGateway(imageGateway);
  client = new OpenAI({ apiKey: aliceKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => gateway.stop());

const picture = (size: number) => toFile(new Uint8Array(size).fill(7), "a.png", { type: "image/png" });
const bearer = { authorization: `Bearer ${aliceKey}` };

/** A form as raw bytes. Its model comes last. */
function form(size: number): { headers: Record<string, string>; body: Buffer; upstreamBody: Buffer } {
  const head = Buffer.concat([
    Buffer.from('--xyz\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\nX-More: kept\r\n'),
    Buffer.from("content-type: image/png\r\n\r\n"),
    Buffer.alloc(size, 0x2d),
    Buffer.from('\r\n--xyz\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nmake it green\r\n'),
    Buffer.from('--xyz\r\ncontent-disposition: form-data; name="other"\r\n\r\n\r\n'),
    Buffer.from('--xyz\r\ncontent-disposition: form-data; name="model"\r\n\r\n'),
  ]);
  const tail = Buffer.from("\r\n--xyz--\r\n");
  return {
    headers: { ...bearer, "content-type": "multipart/form-data; boundary=xyz" },
    body: Buffer.concat([head, Buffer.from("paint-test"), tail]),
    upstreamBody: Buffer.concat([head, Buffer.from("gpt-image-1"), tail]),
  };
}

const lastUpstream = () => gateway.simulator.simulator.truth.list().data.at(-1);
const sha256 = (bytes: Uint8Array): string => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

test.each([1_000, 5_000_000])("replaces only the model in a form with a picture of %d bytes", async (size) => {
  const { headers, body, upstreamBody } = form(size);
  const response = await fetch(`${gateway.url}/v1/images/edits`, { method: "POST", headers, body });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: [{}] });
  expect(lastUpstream()).toMatchObject({ body_sha256: sha256(upstreamBody), body_bytes: upstreamBody.length });
  expect(lastUpstream()?.request_headers).toMatchObject({
    "content-type": "multipart/form-data; boundary=xyz",
    "content-length": String(upstreamBody.length),
  });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "image-edits", outcome: "succeeded", usage: { images: 1 } });
  expect(entry?.usage.imageInput).toBeGreaterThan(0);
});

test("edits several pictures with a mask, as a stream, for OpenAI's SDK", async () => {
  const image = [await picture(900_000), await picture(900_000)];
  const stream = await client.images.edit({
    model: "paint-test",
    prompt: "make it green",
    image,
    mask: await picture(100),
    stream: true,
    partial_images: 1,
  });
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  expect(types).toEqual(["image_edit.partial_image", "image_edit.completed"]);
  expect(
    lastUpstream()
      ?.parts?.map(({ name }) => name)
      .sort(),
  ).toEqual(["image[]", "image[]", "mask", "model", "partial_images", "prompt", "stream"].sort());
});

test("sends the whole form to the next deployment after the first one failed", async () => {
  const two = await startGateway({
    ...imageGateway,
    providers: (simulator) => [
      upstream("dead", simulator, { base_url: "http://127.0.0.1:9/v1" }),
      upstream("painter", simulator),
    ],
    models: [
      {
        name: "paint-test",
        type: "image",
        deployments: [
          { provider: "dead", upstream_model: "gpt-image-1", priority: 1 },
          { provider: "painter", upstream_model: "gpt-image-1", priority: 2 },
        ],
      },
    ],
  });
  try {
    const { headers, body, upstreamBody } = form(2_000_000);
    const response = await fetch(`${two.url}/v1/images/edits`, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-sluice-attempts")).toBe("2");
    const received = two.simulator.simulator.truth.list().data.at(-1);
    expect(received?.body_sha256).toBe(sha256(upstreamBody));
  } finally {
    await two.stop();
  }
});

test("keeps no file of a form after its call ends, however it ends", async () => {
  // Spooled files are unlinked once they are open, so they show only among the process's open files.
  const openSpoolFiles = () =>
    readdirSync("/proc/self/fd").filter((file) => {
      try {
        return readlinkSync(`/proc/self/fd/${file}`).includes(`${gateway.dataDir}/spool/`);
      } catch {
        return false;
      }
    }).length;
  const { headers, body } = form(3_000_000);
  const edit = (init: RequestInit) =>
    fetch(`${gateway.url}/v1/images/edits`, { method: "POST", headers, body, ...init });
  const script = (value: object) => ({ headers: { ...headers, "x-sim-script": JSON.stringify(value) } });
  await (await edit({})).text();
  await (await edit(script({ status: 500 }))).text();
  await (await edit({ headers: { ...headers, "x-sluice-tags": "not a pair" } })).text();
  const disconnect = new AbortController();
  const disconnected = edit({ ...script({ latency_ms: 600_000 }), signal: disconnect.signal }).catch(() => {});
  await until(() => gateway.simulator.simulator.truth.list().in_flight === 1);
  disconnect.abort();
  await disconnected;
  await until(() => openSpoolFiles() === 0);
  expect(readdirSync(join(gateway.dataDir, "spool"))).toEqual([]);
});
