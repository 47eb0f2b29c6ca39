import { expect, test } from "bun:test";
import { type AssetsFixture, openFixture } from "./fixture.ts";
import * as media from "./media.ts";

const bytes = media.png({ width: 800, height: 600 }, media.filler(300_000));

async function linked(fixture: AssetsFixture, lifetimeMs = 60_000) {
  fixture.publicUrl = "https://ai.example.com";
  const address = "https://a.example/x.png";
  fixture.web.page(address, bytes);
  const asset = await fixture.settled(await fixture.localGroup(), address);
  const link = fixture.assets.blobUrl(asset, lifetimeMs);
  if (link === null) throw new Error("no link");
  const url = new URL(link);
  const hash = url.pathname.split("/").at(-1) ?? "";
  return { asset, hash, query: url.searchParams };
}

const read = async (body: ReadableStream<Uint8Array> | null) => Buffer.from(await new Response(body).arrayBuffer());

test("a link returns the bytes, whole or as ranges, and never as a page of our origin", async () => {
  await using fixture = await openFixture();
  const { hash, query } = await linked(fixture);
  const whole = await fixture.assets.readBlob(hash, query, null);
  expect(whole.status).toBe(200);
  expect(whole.headers).toEqual({
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=60",
    "content-disposition": "attachment",
    "content-length": String(bytes.length),
    "content-security-policy": "sandbox; default-src 'none'",
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
  });
  expect((await read(whole.body)).equals(bytes)).toBe(true);
  const part = await fixture.assets.readBlob(hash, query, "bytes=16-200000");
  expect(part.status).toBe(206);
  expect(part.headers).toMatchObject({
    "content-range": `bytes 16-200000/${bytes.length}`,
    "content-length": "199985",
    "content-type": "image/png",
  });
  expect((await read(part.body)).equals(bytes.subarray(16, 200_001))).toBe(true);
  const behind = await fixture.assets.readBlob(hash, query, `bytes=${bytes.length}-`);
  expect(behind).toMatchObject({ status: 416, headers: { "content-range": `bytes */${bytes.length}` }, body: null });
});

test("a link that was modified anywhere is invalid", async () => {
  await using fixture = await openFixture();
  const { hash, query } = await linked(fixture);
  const changed = (change: (copy: URLSearchParams) => void): URLSearchParams => {
    const copy = new URLSearchParams(query);
    change(copy);
    return copy;
  };
  const signature = query.get("signature") ?? "";
  const queries = [
    changed((copy) => copy.set("type", "text/html")),
    changed((copy) => copy.set("type", `image/${"x".repeat(5_000)}`)),
    changed((copy) => copy.set("type", "image/png\r\nx-injected: 1")),
    changed((copy) => copy.set("expires", String(Number(query.get("expires")) + 1))),
    changed((copy) => copy.set("expires", "9".repeat(13))),
    changed((copy) => copy.set("expires", "never")),
    changed((copy) => copy.delete("expires")),
    changed((copy) => copy.delete("signature")),
    changed((copy) => copy.set("signature", "")),
    changed((copy) => copy.set("signature", signature.slice(1))),
    changed((copy) => copy.set("signature", `${signature}é`)),
    changed((copy) =>
      copy.set(
        "signature",
        signature.replace(/^./, (first) => (first === "A" ? "B" : "A")),
      ),
    ),
    new URLSearchParams(),
  ];
  for (const one of queries)
    expect(await fixture.assets.readBlob(hash, one, null)).toMatchObject({ status: 404, body: null });
  for (const one of ["0".repeat(64), hash.toUpperCase(), "../../sluice.db", ""]) {
    expect(await fixture.assets.readBlob(one, query, null)).toMatchObject({ status: 404, body: null });
  }
  expect((await fixture.assets.readBlob(hash, query, null)).status).toBe(200);
});

test("a link ends at its expiry, and when its bytes are deleted", async () => {
  await using fixture = await openFixture();
  const { asset, hash, query } = await linked(fixture, 60_000);
  fixture.clock.jump(59_999);
  expect((await fixture.assets.readBlob(hash, query, null)).status).toBe(200);
  fixture.clock.jump(1);
  expect((await fixture.assets.readBlob(hash, query, null)).status).toBe(404);
  const fresh = new URL(fixture.assets.blobUrl(asset, 60_000) ?? "").searchParams;
  expect((await fixture.assets.readBlob(hash, fresh, null)).status).toBe(200);
  await fixture.assets.deleteAsset(asset.workspaceId, asset.id, new AbortController().signal);
  expect((await fixture.assets.readBlob(hash, fresh, null)).status).toBe(404);
});
