import { describe, expect, test } from "bun:test";
import { assetInlinedBytesMax, blobUrlUpstreamMs } from "#assets/resolver.ts";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type AssetsFixture, acme, arkAccount, assetCall, groupCall, never, openFixture, thrownBy } from "./fixture.ts";
import * as media from "./media.ts";

const address = "https://a.example/x.png";
const picture = media.png({ width: 800, height: 800 });

async function localAsset(fixture: AssetsFixture): Promise<string> {
  fixture.web.page(address, picture);
  return (await fixture.settled(await fixture.localGroup(), address)).id;
}

/** An Active asset in the library of the account `ark`. */
async function libraryAsset(fixture: AssetsFixture): Promise<{ readonly id: string; readonly upstreamId: string }> {
  fixture.providers.set("ark", arkAccount("ark"));
  const group = await fixture.assets.createGroup(...groupCall({ platform: "volcengine", projectName: "film" }));
  const made = await fixture.assets.createAsset(...assetCall({ platform: "volcengine", groupId: group.id }));
  await fixture.assets.asset(acme, made.id, "volcengine");
  return { id: made.id, upstreamId: made.upstreamId ?? "" };
}

/** Advances the clock whenever a timer is pending, until `pending` resolves. */
async function moving<T>(fixture: AssetsFixture, pending: Promise<T>): Promise<T> {
  let over = false;
  const done = pending.finally(() => {
    over = true;
  });
  done.catch(() => undefined);
  await until(() => {
    if (!over && fixture.clock.pending > 0) fixture.clock.advance(bounds.assetPollMs);
    return over;
  });
  return done;
}

const plain = arkAccount("sora", { kind: "openai", settings: {} });

describe("a reference to an asset", () => {
  test("that is not Active is refused with its status", async () => {
    await using fixture = await openFixture();
    const groupId = await fixture.localGroup();
    const { id } = await fixture.assets.createAsset(...assetCall({ groupId }));
    for (const ask of [() => fixture.assets.resolve(acme, id, plain), () => fixture.assets.holders(acme, [id])]) {
      const thrown = await thrownBy(ask());
      expect(thrown).toMatchObject({ code: "invalid_request" });
      expect(String(thrown)).toContain("Processing");
    }
    fixture.web.page(address, media.mp4(3));
    const failed = await fixture.settled(groupId, address);
    const thrown = await thrownBy(fixture.assets.resolve(acme, failed.id, plain));
    expect(String(thrown)).toContain("Failed (wrong_type");
  });

  test("on our own platform becomes a link when we have a public URL", async () => {
    await using fixture = await openFixture();
    fixture.publicUrl = "https://ai.example.com";
    const id = await localAsset(fixture);
    const { url } = await fixture.assets.resolve(acme, id, plain);
    expect(url).toStartWith("https://ai.example.com/v1/blobs/");
    const { pathname, searchParams } = new URL(url);
    fixture.clock.jump(blobUrlUpstreamMs - 1_000);
    expect((await fixture.assets.readBlob(pathname.split("/").at(-1) ?? "", searchParams, null)).status).toBe(200);
    expect(await fixture.assets.holders(acme, [id])).toBeNull();
  });

  test("on our own platform becomes the same link all day", async () => {
    await using fixture = await openFixture();
    fixture.publicUrl = "https://ai.example.com";
    const id = await localAsset(fixture);
    fixture.clock.jump(blobUrlUpstreamMs - (fixture.clock.now() % blobUrlUpstreamMs));
    const { url } = await fixture.assets.resolve(acme, id, plain);
    fixture.clock.jump(blobUrlUpstreamMs - 1_000);
    expect(await fixture.assets.resolve(acme, id, plain)).toMatchObject({ url });
    fixture.clock.jump(2_000);
    expect((await fixture.assets.resolve(acme, id, plain)).url).not.toBe(url);
  });

  test("on our own platform is inlined without a public URL, if it is small enough", async () => {
    await using fixture = await openFixture();
    const id = await localAsset(fixture);
    const inline = { mediaType: "image/png", bytes: new Uint8Array(picture) };
    expect(await fixture.assets.resolve(acme, id, arkAccount("ark"))).toMatchObject({ url: `asset://${id}`, inline });
    await fixture.gateway.store.updateAsset(id, { sizeBytes: assetInlinedBytesMax + 1 });
    const thrown = await thrownBy(fixture.assets.resolve(acme, id, plain));
    expect(thrown).toMatchObject({ code: "invalid_request" });
    expect(String(thrown)).toContain("SLUICE_PUBLIC_URL");
  });

  test("becomes the library's id on the account that stores it", async () => {
    await using fixture = await openFixture();
    const { id, upstreamId } = await libraryAsset(fixture);
    expect(await fixture.assets.resolve(acme, id, arkAccount("ark"))).toMatchObject({ url: `asset://${upstreamId}` });
    expect(await fixture.assets.holders(acme, [id])).toEqual(["ark"]);
  });

  test("becomes the library's URL, or the original one, for another upstream", async () => {
    await using fixture = await openFixture();
    const { id, upstreamId } = await libraryAsset(fixture);
    expect(await fixture.assets.resolve(acme, id, plain)).toMatchObject({
      url: `https://library.example/${upstreamId}`,
    });
    fixture.library.refusals.set("GetAsset", { status: 500, code: "InternalError" });
    expect(await fixture.assets.resolve(acme, id, plain)).toMatchObject({ url: address });
  });

  test("is added to another account of the platform when that one needs it, once, and remembered", async () => {
    await using fixture = await openFixture();
    const { id, upstreamId } = await libraryAsset(fixture);
    const second = arkAccount("second");
    fixture.providers.set("second", second);
    const both = Promise.all([fixture.assets.resolve(acme, id, second), fixture.assets.resolve(acme, id, second)]);
    const [one, two] = await moving(fixture, both);
    expect(one).toEqual(two);
    expect(one.url).toStartWith("asset://");
    expect(one.url).not.toBe(`asset://${upstreamId}`);
    const copy = fixture.library.assets.get(one.url.slice("asset://".length));
    expect(copy).toMatchObject({ project: "default", url: `https://library.example/${upstreamId}` });
    const made = fixture.library.actions.filter((action) => action.startsWith("Create"));
    expect(made).toEqual(["CreateAssetGroup", "CreateAsset", "CreateAssetGroup", "CreateAsset"]);
    expect(await fixture.another().resolve(acme, id, second)).toEqual(one);
    expect(fixture.library.actions.filter((action) => action.startsWith("Create"))).toEqual(made);
    expect(await fixture.assets.holders(acme, [id])).toEqual(["ark", "second"]);
    await fixture.assets.deleteAsset(acme, id, never);
    expect(fixture.library.assets.size).toBe(0);
  });

  test("uses its group's container on another account, and is deleted with it", async () => {
    await using fixture = await openFixture();
    const { id } = await libraryAsset(fixture);
    const { groupId } = await fixture.row(id);
    const sibling = await fixture.assets.createAsset(...assetCall({ platform: "volcengine", groupId }));
    await fixture.assets.asset(acme, sibling.id, "volcengine");
    const second = arkAccount("second");
    fixture.providers.set("second", second);
    await moving(fixture, fixture.assets.resolve(acme, id, second));
    await moving(fixture, fixture.another().resolve(acme, sibling.id, second));
    expect(fixture.library.groups.size).toBe(2);
    expect(fixture.library.assets.size).toBe(4);
    await fixture.assets.deleteGroup(acme, groupId, never);
    expect(fixture.library.groups.size).toBe(0);
    expect(fixture.library.assets.size).toBe(0);
  });

  test("is the caller's error when the other account refuses it, and stays with the first account when it takes too long", async () => {
    await using fixture = await openFixture();
    const { id } = await libraryAsset(fixture);
    const second = arkAccount("second");
    fixture.providers.set("second", second);
    fixture.library.polls = 1_000;
    const slow = await thrownBy(moving(fixture, fixture.assets.resolve(acme, id, second)));
    expect(slow).toMatchObject({ code: "upstream_timeout", retry: "other" });
    fixture.library.polls = 1;
    fixture.library.verdict = "Failed";
    const refused = await thrownBy(moving(fixture, fixture.assets.resolve(acme, id, second)));
    expect(refused).toMatchObject({ code: "invalid_request" });
    expect(String(refused)).toContain("InputImageSensitiveContentDetected");
    expect(fixture.library.actions.filter((action) => action === "CreateAsset")).toHaveLength(2);
    expect(await fixture.assets.holders(acme, [id])).toEqual(["ark"]);
  });

  test("on our own platform is added to the account's library, which plain faces need, or becomes a link without one", async () => {
    await using fixture = await openFixture();
    fixture.publicUrl = "https://ai.example.com";
    const id = await localAsset(fixture);
    await fixture.assets.stop();
    const assets = fixture.another();
    const account = arkAccount("ark");
    fixture.providers.set("ark", account);
    const { url } = await moving(fixture, assets.resolve(acme, id, account));
    expect(fixture.library.assets.get(url.slice("asset://".length))?.url).toStartWith(
      "https://ai.example.com/v1/blobs/",
    );
    const bare = arkAccount("bare", { settings: {} });
    expect((await assets.resolve(acme, id, bare)).url).toStartWith("https://ai.example.com/v1/blobs/");
    fixture.library.refusals.set("CreateAssetGroup", { status: 403, code: "SubscriptionRequired" });
    const unsubscribed = arkAccount("unsubscribed");
    expect((await assets.resolve(acme, id, unsubscribed)).url).toStartWith("https://ai.example.com/v1/blobs/");
    expect(fixture.complaints).toHaveLength(1);
  });

  test("among several is served by accounts that store all of them", async () => {
    await using fixture = await openFixture();
    const local = await localAsset(fixture);
    const first = await libraryAsset(fixture);
    expect(await fixture.assets.holders(acme, [local, first.id])).toEqual(["ark"]);
    expect(await fixture.assets.holders(acme, [])).toBeNull();
    const third = arkAccount("third", { settings: { ...arkAccount("x").settings, project_name: "else" } });
    fixture.providers.set("third", third);
    const group = await fixture.assets.createGroup(...groupCall({ platform: "volcengine", projectName: "else" }));
    const second = await fixture.assets.createAsset(...assetCall({ platform: "volcengine", groupId: group.id }));
    await fixture.assets.asset(acme, second.id, "volcengine");
    expect(second.providerId).toBe("third");
    expect(await fixture.assets.holders(acme, [first.id, second.id])).toBeNull();
  });
});
