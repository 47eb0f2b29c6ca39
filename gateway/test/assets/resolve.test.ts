import { describe, expect, test } from "bun:test";
import { assetInlinedBytesMax, blobUrlUpstreamMs } from "#assets/resolver.ts";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type AssetsGround, acme, arkAccount, assetCall, groupCall, never, openGround, thrownBy } from "./ground.ts";
import * as media from "./media.ts";

const address = "https://a.example/x.png";
const picture = media.png({ width: 800, height: 800 });

async function localAsset(ground: AssetsGround): Promise<string> {
  ground.web.page(address, picture);
  return (await ground.settled(await ground.localGroup(), address)).id;
}

/** An Active asset in the library of the account `ark`. */
async function libraryAsset(ground: AssetsGround): Promise<{ readonly id: string; readonly upstreamId: string }> {
  ground.providers.set("ark", arkAccount("ark"));
  const group = await ground.assets.createGroup(...groupCall({ platform: "volcengine", projectName: "film" }));
  const made = await ground.assets.createAsset(...assetCall({ platform: "volcengine", groupId: group.id }));
  await ground.assets.asset(acme, made.id, "volcengine");
  return { id: made.id, upstreamId: made.upstreamId ?? "" };
}

/** Advances the clock whenever a timer is pending, until `pending` resolves. */
async function moving<T>(ground: AssetsGround, pending: Promise<T>): Promise<T> {
  let over = false;
  const done = pending.finally(() => {
    over = true;
  });
  done.catch(() => undefined);
  await until(() => {
    if (!over && ground.clock.pending > 0) ground.clock.advance(bounds.assetPollMs);
    return over;
  });
  return done;
}

const plain = arkAccount("sora", { kind: "openai", settings: {} });

describe("a reference to an asset", () => {
  test("that is not Active is refused with its status", async () => {
    await using ground = await openGround();
    const groupId = await ground.localGroup();
    const { id } = await ground.assets.createAsset(...assetCall({ groupId }));
    for (const ask of [() => ground.assets.resolve(acme, id, plain), () => ground.assets.holders(acme, [id])]) {
      const thrown = await thrownBy(ask());
      expect(thrown).toMatchObject({ code: "invalid_request" });
      expect(String(thrown)).toContain("Processing");
    }
    ground.web.page(address, media.mp4(3));
    const failed = await ground.settled(groupId, address);
    const thrown = await thrownBy(ground.assets.resolve(acme, failed.id, plain));
    expect(String(thrown)).toContain("Failed (wrong_type");
  });

  test("on our own platform becomes a link when we have a public URL", async () => {
    await using ground = await openGround();
    ground.publicUrl = "https://ai.example.com";
    const id = await localAsset(ground);
    const { url } = await ground.assets.resolve(acme, id, plain);
    expect(url).toStartWith("https://ai.example.com/v1/blobs/");
    const { pathname, searchParams } = new URL(url);
    ground.clock.jump(blobUrlUpstreamMs - 1_000);
    expect((await ground.assets.readBlob(pathname.split("/").at(-1) ?? "", searchParams, null)).status).toBe(200);
    expect(await ground.assets.holders(acme, [id])).toBeNull();
  });

  test("on our own platform becomes the same link all day", async () => {
    await using ground = await openGround();
    ground.publicUrl = "https://ai.example.com";
    const id = await localAsset(ground);
    ground.clock.jump(blobUrlUpstreamMs - (ground.clock.now() % blobUrlUpstreamMs));
    const { url } = await ground.assets.resolve(acme, id, plain);
    ground.clock.jump(blobUrlUpstreamMs - 1_000);
    expect(await ground.assets.resolve(acme, id, plain)).toMatchObject({ url });
    ground.clock.jump(2_000);
    expect((await ground.assets.resolve(acme, id, plain)).url).not.toBe(url);
  });

  test("on our own platform is inlined without a public URL, if it is small enough", async () => {
    await using ground = await openGround();
    const id = await localAsset(ground);
    const inline = { mediaType: "image/png", bytes: new Uint8Array(picture) };
    expect(await ground.assets.resolve(acme, id, arkAccount("ark"))).toMatchObject({ url: `asset://${id}`, inline });
    await ground.gateway.store.updateAsset(id, { sizeBytes: assetInlinedBytesMax + 1 });
    const thrown = await thrownBy(ground.assets.resolve(acme, id, plain));
    expect(thrown).toMatchObject({ code: "invalid_request" });
    expect(String(thrown)).toContain("SLUICE_PUBLIC_URL");
  });

  test("becomes the library's id on the account that stores it", async () => {
    await using ground = await openGround();
    const { id, upstreamId } = await libraryAsset(ground);
    expect(await ground.assets.resolve(acme, id, arkAccount("ark"))).toMatchObject({ url: `asset://${upstreamId}` });
    expect(await ground.assets.holders(acme, [id])).toEqual(["ark"]);
  });

  test("becomes the library's URL, or the original one, for another upstream", async () => {
    await using ground = await openGround();
    const { id, upstreamId } = await libraryAsset(ground);
    expect(await ground.assets.resolve(acme, id, plain)).toMatchObject({
      url: `https://library.example/${upstreamId}`,
    });
    ground.library.refusals.set("GetAsset", { status: 500, code: "InternalError" });
    expect(await ground.assets.resolve(acme, id, plain)).toMatchObject({ url: address });
  });

  test("is added to another account of the platform when that one needs it, once, and remembered", async () => {
    await using ground = await openGround();
    const { id, upstreamId } = await libraryAsset(ground);
    const second = arkAccount("second");
    ground.providers.set("second", second);
    const both = Promise.all([ground.assets.resolve(acme, id, second), ground.assets.resolve(acme, id, second)]);
    const [one, two] = await moving(ground, both);
    expect(one).toEqual(two);
    expect(one.url).toStartWith("asset://");
    expect(one.url).not.toBe(`asset://${upstreamId}`);
    const copy = ground.library.assets.get(one.url.slice("asset://".length));
    expect(copy).toMatchObject({ project: "default", url: `https://library.example/${upstreamId}` });
    const made = ground.library.actions.filter((action) => action.startsWith("Create"));
    expect(made).toEqual(["CreateAssetGroup", "CreateAsset", "CreateAssetGroup", "CreateAsset"]);
    expect(await ground.another().resolve(acme, id, second)).toEqual(one);
    expect(ground.library.actions.filter((action) => action.startsWith("Create"))).toEqual(made);
    expect(await ground.assets.holders(acme, [id])).toEqual(["ark", "second"]);
    await ground.assets.deleteAsset(acme, id, never);
    expect(ground.library.assets.size).toBe(0);
  });

  test("uses its group's container on another account, and is deleted with it", async () => {
    await using ground = await openGround();
    const { id } = await libraryAsset(ground);
    const { groupId } = await ground.row(id);
    const sibling = await ground.assets.createAsset(...assetCall({ platform: "volcengine", groupId }));
    await ground.assets.asset(acme, sibling.id, "volcengine");
    const second = arkAccount("second");
    ground.providers.set("second", second);
    await moving(ground, ground.assets.resolve(acme, id, second));
    await moving(ground, ground.another().resolve(acme, sibling.id, second));
    expect(ground.library.groups.size).toBe(2);
    expect(ground.library.assets.size).toBe(4);
    await ground.assets.deleteGroup(acme, groupId, never);
    expect(ground.library.groups.size).toBe(0);
    expect(ground.library.assets.size).toBe(0);
  });

  test("is the caller's error when the other account refuses it, and stays with the first account when it takes too long", async () => {
    await using ground = await openGround();
    const { id } = await libraryAsset(ground);
    const second = arkAccount("second");
    ground.providers.set("second", second);
    ground.library.polls = 1_000;
    const slow = await thrownBy(moving(ground, ground.assets.resolve(acme, id, second)));
    expect(slow).toMatchObject({ code: "upstream_timeout", retry: "other" });
    ground.library.polls = 1;
    ground.library.verdict = "Failed";
    const refused = await thrownBy(moving(ground, ground.assets.resolve(acme, id, second)));
    expect(refused).toMatchObject({ code: "invalid_request" });
    expect(String(refused)).toContain("InputImageSensitiveContentDetected");
    expect(ground.library.actions.filter((action) => action === "CreateAsset")).toHaveLength(2);
    expect(await ground.assets.holders(acme, [id])).toEqual(["ark"]);
  });

  test("on our own platform is added to the account's library, which plain faces need, or becomes a link without one", async () => {
    await using ground = await openGround();
    ground.publicUrl = "https://ai.example.com";
    const id = await localAsset(ground);
    await ground.assets.stop();
    const assets = ground.another();
    const account = arkAccount("ark");
    ground.providers.set("ark", account);
    const { url } = await moving(ground, assets.resolve(acme, id, account));
    expect(ground.library.assets.get(url.slice("asset://".length))?.url).toStartWith(
      "https://ai.example.com/v1/blobs/",
    );
    const bare = arkAccount("bare", { settings: {} });
    expect((await assets.resolve(acme, id, bare)).url).toStartWith("https://ai.example.com/v1/blobs/");
    ground.library.refusals.set("CreateAssetGroup", { status: 403, code: "SubscriptionRequired" });
    const unsubscribed = arkAccount("unsubscribed");
    expect((await assets.resolve(acme, id, unsubscribed)).url).toStartWith("https://ai.example.com/v1/blobs/");
    expect(ground.complaints).toHaveLength(1);
  });

  test("among several is served by accounts that store all of them", async () => {
    await using ground = await openGround();
    const local = await localAsset(ground);
    const first = await libraryAsset(ground);
    expect(await ground.assets.holders(acme, [local, first.id])).toEqual(["ark"]);
    expect(await ground.assets.holders(acme, [])).toBeNull();
    const third = arkAccount("third", { settings: { ...arkAccount("x").settings, project_name: "else" } });
    ground.providers.set("third", third);
    const group = await ground.assets.createGroup(...groupCall({ platform: "volcengine", projectName: "else" }));
    const second = await ground.assets.createAsset(...assetCall({ platform: "volcengine", groupId: group.id }));
    await ground.assets.asset(acme, second.id, "volcengine");
    expect(second.providerId).toBe("third");
    expect(await ground.assets.holders(acme, [first.id, second.id])).toBeNull();
  });
});
