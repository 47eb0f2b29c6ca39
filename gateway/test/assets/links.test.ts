import { expect, test } from "bun:test";
import { type AssetsGround, openGround } from "./ground.ts";
import * as media from "./media.ts";

const bytes = media.png({ width: 800, height: 600 }, media.filler(300_000));

async function linked(ground: AssetsGround, lifetimeMs = 60_000) {
  ground.publicUrl = "https://ai.example.com";
  const address = "https://a.example/x.png";
  ground.web.page(address, bytes);
  const asset = await ground.settled(await ground.localGroup(), address);
  const link = ground.assets.blobUrl(asset, lifetimeMs);
  if (link === null) throw new Error("no link");
  const url = new URL(link);
  const hash = url.pathname.split("/").at(-1) ?? "";
  return { asset, hash, query: url.searchParams };
}

const read = async (body: ReadableStream<Uint8Array> | null) => Buffer.from(await new Response(body).arrayBuffer());

test("a link returns the bytes, whole or as ranges, and never as a page of our origin", async () => {
  await using ground = await openGround();
  const { hash, query } = await linked(ground);
  const whole = await ground.assets.readBlob(hash, query, null);
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
  const part = await ground.assets.readBlob(hash, query, "bytes=16-200000");
  expect(part.status).toBe(206);
  expect(part.headers).toMatchObject({
    "content-range": `bytes 16-200000/${bytes.length}`,
    "content-length": "199985",
    "content-type": "image/png",
  });
  expect((await read(part.body)).equals(bytes.subarray(16, 200_001))).toBe(true);
  const behind = await ground.assets.readBlob(hash, query, `bytes=${bytes.length}-`);
  expect(behind).toMatchObject({ status: 416, headers: { "content-range": `bytes */${bytes.length}` }, body: null });
});

test("a link that was modified anywhere is invalid", async () => {
  await using ground = await openGround();
  const { hash, query } = await linked(ground);
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
    expect(await ground.assets.readBlob(hash, one, null)).toMatchObject({ status: 404, body: null });
  for (const one of ["0".repeat(64), hash.toUpperCase(), "../../sluice.db", ""]) {
    expect(await ground.assets.readBlob(one, query, null)).toMatchObject({ status: 404, body: null });
  }
  expect((await ground.assets.readBlob(hash, query, null)).status).toBe(200);
});

test("a link ends at its expiry, and when its bytes are deleted", async () => {
  await using ground = await openGround();
  const { asset, hash, query } = await linked(ground, 60_000);
  ground.clock.jump(59_999);
  expect((await ground.assets.readBlob(hash, query, null)).status).toBe(200);
  ground.clock.jump(1);
  expect((await ground.assets.readBlob(hash, query, null)).status).toBe(404);
  const fresh = new URL(ground.assets.blobUrl(asset, 60_000) ?? "").searchParams;
  expect((await ground.assets.readBlob(hash, fresh, null)).status).toBe(200);
  await ground.assets.deleteAsset(asset.workspaceId, asset.id, new AbortController().signal);
  expect((await ground.assets.readBlob(hash, fresh, null)).status).toBe(404);
});
