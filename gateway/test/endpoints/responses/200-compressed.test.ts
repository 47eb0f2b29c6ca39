import { afterAll, beforeAll, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { bounds } from "#core/index.ts";
import { errorOf, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const compressors = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync, deflate: deflateSync };

test.each(Object.entries(compressors))(
  "accepts a body compressed with %s and sends it decompressed",
  async (encoding, compress) => {
    const headers = { "content-encoding": encoding };
    const response = await gateway.post("/v1/chat/completions", compress(JSON.stringify(hello)), {
      headers,
      script: { tokens: 1 },
    });
    expect(response.status).toBe(200);
    const received = gateway.simulator.simulator.truth.list().data.at(-1);
    expect(JSON.parse(received?.body_text ?? "")).toEqual({ ...hello, model: "upstream-gpt" });
  },
);

test("rejects a small body that decompresses beyond the bound", async () => {
  const bomb = gzipSync(Buffer.alloc(bounds.requestBodyBytesMax + 1, 0x20));
  const response = await gateway.post("/v1/chat/completions", bomb, { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(response)).toMatchObject({ status: 413, code: "request_too_large" });
});

test.each(Object.entries(compressors))(
  "rejects a few bytes of %s that decompress to megabytes, before allocating memory",
  async (encoding, compress) => {
    const padded = `${" ".repeat(8 * 1024 * 1024)}${JSON.stringify(hello)}`;
    const bomb = compress(padded);
    expect(bomb.length * bounds.unpackedRatioMax).toBeLessThan(padded.length);
    const response = await gateway.post("/v1/chat/completions", bomb, { headers: { "content-encoding": encoding } });
    expect(await errorOf(response)).toMatchObject({ status: 413, code: "request_too_large" });
    const longRequest = { ...hello, messages: [{ role: "user", content: "again and again ".repeat(50_000) }] };
    const text = await gateway.post("/v1/chat/completions", compress(JSON.stringify(longRequest)), {
      headers: { "content-encoding": encoding },
      script: { tokens: 1 },
    });
    expect(text.status).toBe(200);
  },
);

test("returns 400 for a body that does not match its encoding, and 415 for an unknown encoding", async () => {
  const notCompressed = await gateway.post("/v1/chat/completions", "{}", { headers: { "content-encoding": "gzip" } });
  expect(await errorOf(notCompressed)).toMatchObject({ status: 400, code: "invalid_request" });
  const unknown = await gateway.post("/v1/chat/completions", "{}", { headers: { "content-encoding": "compress" } });
  expect(await errorOf(unknown)).toMatchObject({ status: 415, code: "unsupported_media_type" });
});
