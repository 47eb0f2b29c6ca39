import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { assetLeaseMs, assetsAtOnceMax, assetTickMs } from "#assets/assets.ts";
import { assetRetryMsMax } from "#assets/local-assets.ts";
import { assetImageBytesMax } from "#assets/media-type.ts";
import { Failure } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type AssetsFixture, assetCall, never, openFixture, thrownBy } from "./fixture.ts";
import * as media from "./media.ts";

const url = "https://a.example/anna.png";
const good = { width: 900, height: 1_200 };

/** Advances the clock step by step whenever a timer is pending, until `condition` holds. */
function ticking(fixture: AssetsFixture, condition: () => boolean): Promise<true> {
  return until(() => {
    if (condition()) return true;
    if (fixture.clock.pending > 0) fixture.clock.advance(assetTickMs);
    return false;
  });
}

/** Whether the pass is over and has postponed the asset: its lease would be longer. */
async function waitsForRetry(fixture: AssetsFixture, id: string): Promise<boolean> {
  const { dueAt } = await fixture.row(id);
  return dueAt !== null && dueAt <= fixture.clock.now() + 2 * assetRetryMsMax;
}

describe("an asset on our own platform", () => {
  test("is Processing at once, and Active with its properties when its bytes are stored", async () => {
    await using fixture = await openFixture();
    const picture = media.png(good);
    fixture.web.page(url, picture, { "content-type": "text/html" });
    const groupId = await fixture.localGroup();
    fixture.assets.start();
    const made = await fixture.assets.createAsset(...assetCall({ groupId, url }));
    expect(made).toMatchObject({ status: "Processing", error: null, sizeBytes: null, sourceUrl: url });
    await until(async () => (await fixture.row(made.id)).status !== "Processing");
    const blobHash = createHash("sha256").update(picture).digest("hex");
    expect(await fixture.row(made.id)).toMatchObject({
      status: "Active",
      blobHash,
      sizeBytes: picture.length,
      contentType: "image/png",
      dueAt: null,
    });
    expect(await fixture.gateway.blobs.head(blobHash, picture.length)).toEqual(new Uint8Array(picture));
  });

  test.each([
    ["Image", "image/jpeg", media.jpeg(good)],
    ["Image", "image/tiff", media.tiff(good, "MM")],
    ["Image", "image/heic", media.heic(good)],
    ["Video", "video/mp4", media.mp4(5)],
    ["Audio", "audio/wav", media.wav(4)],
  ])("may be an %s of type %s", async (type, contentType, bytes) => {
    await using fixture = await openFixture();
    fixture.web.page(url, bytes);
    const settled = await fixture.settled(await fixture.localGroup(), url, type);
    expect(settled).toMatchObject({ status: "Active", contentType });
  });

  test.each([
    ["wrong_type", "Video", media.png(good)],
    ["wrong_type", "Image", media.mp4(5)],
    ["unsupported_type", "Image", Buffer.from("<!doctype html><title>Sign in</title>")],
    ["unsupported_type", "Image", Buffer.alloc(0)],
    ["bad_dimensions", "Image", media.png({ width: 299, height: 600 })],
    ["bad_dimensions", "Image", media.jpeg({ width: 6_001, height: 6_000 })],
    ["bad_dimensions", "Image", media.webp({ width: 1_000, height: 399 }, "VP8X")],
    ["bad_duration", "Video", media.mp4(121)],
    ["bad_duration", "Audio", media.wav(0.5)],
  ])("is Failed with %s for unusable content, and nothing is stored", async (code, type, bytes) => {
    await using fixture = await openFixture();
    fixture.web.page(url, bytes);
    const settled = await fixture.settled(await fixture.localGroup(), url, type);
    expect(settled).toMatchObject({ status: "Failed", error: { code }, blobHash: null, dueAt: null });
    expect(settled.error?.message).not.toBe("");
    expect(await fixture.gateway.blobs.stat(createHash("sha256").update(bytes).digest("hex"))).toBeNull();
    expect(fixture.web.count(url)).toBe(1);
  });

  test("is refused as soon as it is too large, with or without a Content-Length", async () => {
    await using fixture = await openFixture();
    const groupId = await fixture.localGroup();
    let pieces = 0;
    const endless = (headers: Record<string, string>) => () => {
      let sent = false;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          pieces++;
          controller.enqueue(sent ? new Uint8Array(media.filler(1024 * 1024)) : new Uint8Array(media.png(good)));
          sent = true;
        },
      });
      return new Response(body, { headers });
    };
    fixture.web.page(url, endless({}));
    expect(await fixture.settled(groupId, url)).toMatchObject({ status: "Failed", error: { code: "too_large" } });
    expect(pieces).toBeLessThan(36);
    pieces = 0;
    fixture.web.page(url, endless({ "content-length": String(assetImageBytesMax + 1) }));
    expect(await fixture.settled(groupId, url)).toMatchObject({ status: "Failed", error: { code: "too_large" } });
    expect(pieces).toBeLessThan(3);
  });

  test("follows at most three redirects", async () => {
    await using fixture = await openFixture();
    const groupId = await fixture.localGroup();
    const move = (location: string) => () => new Response(null, { status: 302, headers: { location } });
    for (let step = 0; step < 4; step++) fixture.web.page(`https://a.example/${step}`, move(`/${step + 1}`));
    fixture.web.page("https://a.example/4", media.png(good));
    expect((await fixture.settled(groupId, "https://a.example/1")).status).toBe("Active");
    expect(await fixture.settled(groupId, "https://a.example/0")).toMatchObject({ error: { code: "fetch_failed" } });
    expect(fixture.web.requests.every(({ allowPrivateNetwork, body }) => !allowPrivateNetwork && body === null)).toBe(
      true,
    );
  });

  test("is retried while its host fails, and stored when the host is back", async () => {
    await using fixture = await openFixture();
    let turn = 0;
    fixture.web.page(url, () => {
      turn++;
      if (turn === 1) return new Response("busy", { status: 503 });
      if (turn === 2) throw new Error("connection reset");
      return new Response(new Uint8Array(media.png(good)));
    });
    const groupId = await fixture.localGroup();
    fixture.assets.start();
    const { id } = await fixture.assets.createAsset(...assetCall({ groupId, url }));
    for (let seen = 1; seen < 3; seen++) {
      await ticking(fixture, () => turn === seen);
      await until(() => waitsForRetry(fixture, id));
      expect((await fixture.row(id)).status).toBe("Processing");
      fixture.clock.advance(assetRetryMsMax);
    }
    await ticking(fixture, () => turn === 3);
    await until(async () => (await fixture.row(id)).status === "Active");
    expect(turn).toBe(3);
  });

  test("is Failed after some attempts when its host stays away, and at once when the host refuses it", async () => {
    await using fixture = await openFixture();
    fixture.web.page(url, () => new Response("busy", { status: 503 }));
    const groupId = await fixture.localGroup();
    fixture.assets.start();
    const { id } = await fixture.assets.createAsset(...assetCall({ groupId, url }));
    await until(async () => {
      fixture.clock.advance(assetTickMs);
      return (await fixture.row(id)).status === "Failed";
    });
    expect((await fixture.row(id)).error).toEqual({
      code: "fetch_failed",
      message: "The host returned status 503.",
    });
    expect(fixture.web.count(url)).toBeGreaterThan(2);
    fixture.web.page("https://a.example/missing", () => new Response("no", { status: 404 }));
    expect(await fixture.settled(groupId, "https://a.example/missing")).toMatchObject({ status: "Failed" });
    expect(fixture.web.count("https://a.example/missing")).toBe(1);
  });

  test("is not stored as whole when the download breaks off", async () => {
    await using fixture = await openFixture();
    let turn = 0;
    fixture.web.page(url, () => {
      turn++;
      const first = new Uint8Array(media.png(good));
      const cut = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(first),
        pull: (controller) => controller.error(new Error("reset")),
      });
      return new Response(turn === 1 ? cut : first);
    });
    const groupId = await fixture.localGroup();
    fixture.assets.start();
    const { id } = await fixture.assets.createAsset(...assetCall({ groupId, url }));
    await until(() => turn === 1);
    await until(() => waitsForRetry(fixture, id));
    fixture.clock.advance(assetRetryMsMax);
    await ticking(fixture, () => turn === 2);
    await until(async () => (await fixture.row(id)).status === "Active");
    expect(turn).toBe(2);
  });

  test("is continued by the next gateway when the lease of a crashed one ends", async () => {
    await using fixture = await openFixture();
    let turn = 0;
    fixture.web.page(url, (_request, signal) => {
      turn++;
      if (turn > 1) return new Response(new Uint8Array(media.png(good)));
      return new Promise<Response>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const groupId = await fixture.localGroup();
    // The crashed process writes nothing more and takes no new work.
    const { store } = fixture.gateway;
    const dead = fixture.another({
      store: {
        ...store,
        updateAsset: async () => true,
        dueAssets: async (...args) => (turn === 0 ? await store.dueAssets(...args) : []),
      },
    });
    dead.start();
    const { id } = await dead.createAsset(...assetCall({ groupId, url }));
    await until(() => turn === 1);
    fixture.assets.start();
    fixture.clock.advance(assetLeaseMs - assetTickMs);
    await until(async () => (await fixture.row(id)).dueAt !== null);
    expect(turn).toBe(1);
    await ticking(fixture, () => turn === 2);
    await until(async () => (await fixture.row(id)).status === "Active");
    expect(turn).toBe(2);
  });

  test("is continued by the next gateway at once when one is stopped", async () => {
    await using fixture = await openFixture();
    let turn = 0;
    fixture.web.page(url, (_request, signal) => {
      turn++;
      if (turn > 1) return new Response(new Uint8Array(media.png(good)));
      return new Promise<Response>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const groupId = await fixture.localGroup();
    fixture.assets.start();
    const { id } = await fixture.assets.createAsset(...assetCall({ groupId, url }));
    await until(() => turn === 1);
    await fixture.assets.stop();
    expect((await fixture.row(id)).status).toBe("Processing");
    fixture.another().start();
    await until(async () => (await fixture.row(id)).status === "Active");
    expect(fixture.clock.pending).toBe(1);
  });

  test.each(["still at it", "done"])(
    "is left alone by a late pass when another gateway took it over and is %s",
    async (state) => {
      await using fixture = await openFixture();
      const gates = [Promise.withResolvers<Response>(), Promise.withResolvers<Response>()] as const;
      let turn = 0;
      fixture.web.page(url, () => (turn++ === 0 ? gates[0].promise : gates[1].promise));
      const groupId = await fixture.localGroup();
      const removed: string[] = [];
      const { blobs } = fixture.gateway;
      const remove = async (hash: string) => void removed.push(hash, String(await blobs.remove(hash)));
      const asleep = fixture.another({ blobs: { ...blobs, remove } });
      asleep.start();
      const { id } = await asleep.createAsset(...assetCall({ groupId, url }));
      await until(() => turn === 1);
      fixture.clock.advance(assetLeaseMs);
      await until(async () => (await fixture.row(id)).dueAt === fixture.clock.now());
      fixture.assets.start();
      await until(() => turn === 2);
      const right = () => gates[1].resolve(new Response(new Uint8Array(media.png(good))));
      if (state === "done") {
        right();
        await until(async () => (await fixture.row(id)).status === "Active");
      }
      const before = await fixture.row(id);
      const late = media.jpeg(good);
      gates[0].resolve(new Response(new Uint8Array(late)));
      await until(() => removed.length > 0);
      expect(removed[0]).toBe(createHash("sha256").update(late).digest("hex"));
      expect(await fixture.row(id)).toEqual(before);
      right();
      await until(async () => (await fixture.row(id)).status === "Active");
      expect((await fixture.row(id)).contentType).toBe("image/png");
    },
  );

  test("waits its turn: only a limited number is fetched at once", async () => {
    await using fixture = await openFixture();
    const gate = Promise.withResolvers<void>();
    fixture.web.page(url, async () => {
      await gate.promise;
      return new Response(new Uint8Array(media.png(good)));
    });
    const groupId = await fixture.localGroup();
    fixture.assets.start();
    const ids: string[] = [];
    for (let i = 0; i < assetsAtOnceMax + 4; i++) {
      ids.push((await fixture.assets.createAsset(...assetCall({ groupId, url }))).id);
    }
    await until(() => fixture.web.count(url) === assetsAtOnceMax);
    fixture.clock.advance(3 * assetTickMs);
    const waiting = await Promise.all(ids.map((id) => fixture.row(id)));
    expect(waiting.filter(({ dueAt, createdAt }) => dueAt === createdAt)).toHaveLength(4);
    expect(fixture.web.count(url)).toBe(assetsAtOnceMax);
    gate.resolve();
    await until(async () =>
      (await Promise.all(ids.map((id) => fixture.row(id)))).every(({ status }) => status === "Active"),
    );
  });

  test("is fetched again when an equal asset's deletion removed its bytes at the last moment", async () => {
    await using fixture = await openFixture();
    fixture.web.page(url, media.png(good));
    const groupId = await fixture.localGroup();
    const { blobs } = fixture.gateway;
    let puts = 0;
    const robbed = fixture.another({
      blobs: {
        ...blobs,
        put: async (...call) => {
          const blob = await blobs.put(...call);
          if (++puts === 1) await blobs.remove(blob.hash);
          return blob;
        },
      },
    });
    robbed.start();
    const { id } = await robbed.createAsset(...assetCall({ groupId, url }));
    await until(() => puts === 1);
    await until(() => waitsForRetry(fixture, id));
    expect((await fixture.row(id)).status).toBe("Processing");
    await ticking(fixture, () => puts === 2);
    await until(async () => (await fixture.row(id)).status === "Active");
  });

  test("is processed by one of several gateways", async () => {
    await using fixture = await openFixture();
    fixture.web.page(url, media.png(good));
    const groupId = await fixture.localGroup();
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push((await fixture.assets.createAsset(...assetCall({ groupId, url }))).id);
    for (let i = 0; i < 3; i++) fixture.another().start();
    const rows = () => Promise.all(ids.map((id) => fixture.row(id)));
    await until(async () => (await rows()).every(({ status }) => status === "Active"));
    expect(fixture.web.count(url)).toBe(30);
    expect(new Set((await rows()).map(({ blobHash }) => blobHash)).size).toBe(1);
  });

  test("shares its bytes with equal assets; the last one deletes them", async () => {
    await using fixture = await openFixture();
    fixture.web.page(url, media.png(good));
    fixture.web.page("https://b.example/same", media.png(good));
    const groupId = await fixture.localGroup();
    const one = await fixture.settled(groupId, url);
    const two = await fixture.settled(await fixture.localGroup(), "https://b.example/same");
    const hash = one.blobHash ?? "";
    expect(two.blobHash).toBe(hash);
    await fixture.assets.deleteAsset(one.workspaceId, one.id, never);
    expect(await fixture.gateway.blobs.stat(hash)).not.toBeNull();
    await fixture.assets.deleteGroup(two.workspaceId, two.groupId, never);
    expect(await fixture.gateway.blobs.stat(hash)).toBeNull();
    expect(await fixture.gateway.store.findAsset(two.workspaceId, two.id)).toBeNull();
  });

  test("stays while its bytes cannot be removed, so that the deletion is retried", async () => {
    await using fixture = await openFixture();
    fixture.web.page(url, media.png(good));
    let isFull = true;
    const { blobs } = fixture.gateway;
    const remove = async (hash: string): Promise<void> => {
      if (isFull) throw new Failure("storage_unavailable", "The bucket is unavailable.");
      await blobs.remove(hash);
    };
    const assets = fixture.another({ blobs: { ...blobs, remove } });
    for (const whole of ["asset", "group"]) {
      const { id, workspaceId, groupId, blobHash } = await fixture.settled(await fixture.localGroup(), url);
      const act = () =>
        whole === "asset"
          ? assets.deleteAsset(workspaceId, id, never)
          : assets.deleteGroup(workspaceId, groupId, never);
      isFull = true;
      expect(await thrownBy(act())).toMatchObject({ code: "storage_unavailable" });
      expect((await fixture.row(id)).status).toBe("Active");
      isFull = false;
      await act();
      expect(await blobs.stat(blobHash ?? "")).toBeNull();
      expect(await fixture.gateway.store.findAsset(workspaceId, id)).toBeNull();
    }
  });

  test("leaves nothing when it is deleted while its bytes arrive", async () => {
    const removed: string[] = [];
    await using fixture = await openFixture();
    const { blobs } = fixture.gateway;
    const assets = fixture.another({ blobs: { ...blobs, remove: async (hash) => void removed.push(hash) } });
    const gate = Promise.withResolvers<void>();
    const bytes = media.png(good);
    fixture.web.page(url, async () => {
      await gate.promise;
      return new Response(new Uint8Array(bytes));
    });
    const groupId = await fixture.localGroup();
    assets.start();
    const { id, workspaceId } = await assets.createAsset(...assetCall({ groupId, url }));
    await until(() => fixture.web.count(url) === 1);
    await assets.deleteAsset(workspaceId, id, never);
    gate.resolve();
    await until(() => removed.length > 0);
    expect(removed).toEqual([createHash("sha256").update(bytes).digest("hex")]);
    expect(await fixture.gateway.store.findAsset(workspaceId, id)).toBeNull();
  });
});
