import { afterAll, beforeAll, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { bounds } from "#core/index.ts";
import { errorOf, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const packers = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync, deflate: deflateSync };

test.each(Object.entries(packers))("a body packed with %s is taken, and goes on unpacked", async (encoding, pack) => {
  const headers = { "content-encoding": encoding };
  const response = await gateway.post("/v1/chat/completions", pack(JSON.stringify(hello)), {
    headers,
    script: { tokens: 1 },
  });
  expect(response.status).toBe(200);
  const seen = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(JSON.parse(seen?.body_text ?? "")).toEqual({ ...hello, model: "upstream-gpt" });
});

test("a small body that stands for a very large one is refused at the bound", async () => {
  const bomb = gzipSync(Buffer.alloc(bounds.requestBodyBytesMax + 1, 0x20));
  const response = await gateway.post("/v1/chat/completions", bomb, { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(response)).toMatchObject({ status: 413, code: "request_too_large" });
});

test.each(Object.entries(packers))(
  "a few bytes of %s that stand for megabytes are refused before they take the room",
  async (encoding, pack) => {
    const padded = `${" ".repeat(8 * 1024 * 1024)}${JSON.stringify(hello)}`;
    const bomb = pack(padded);
    expect(bomb.length * bounds.unpackedRatioMax).toBeLessThan(padded.length);
    const response = await gateway.post("/v1/chat/completions", bomb, { headers: { "content-encoding": encoding } });
    expect(await errorOf(response)).toMatchObject({ status: 413, code: "request_too_large" });
    const words = { ...hello, messages: [{ role: "user", content: "again and again ".repeat(50_000) }] };
    const text = await gateway.post("/v1/chat/completions", pack(JSON.stringify(words)), {
      headers: { "content-encoding": encoding },
      script: { tokens: 1 },
    });
    expect(text.status).toBe(200);
  },
);

test("a body that is not what its encoding says is the caller's mistake, an unknown encoding too", async () => {
  const broken = await gateway.post("/v1/chat/completions", "{}", { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(broken)).toMatchObject({ status: 400, code: "invalid_request" });
  const unknown = await gateway.post("/v1/chat/completions", "{}", { headers: { "content-encoding": "compress" } });
  expect(await errorOf(unknown)).toMatchObject({ status: 415, code: "unsupported_media_type" });
});
