import { describe, expect, test } from "bun:test";
import { assetTickMs } from "#assets/assets.ts";
import { assetFreshMs, assetProcessingMs } from "#assets/library-sync.ts";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type AssetsFixture, acme, arkAccount, assetCall, groupCall, never, openFixture, thrownBy } from "./fixture.ts";

const volcengine = "volcengine";

/** A group and an asset of acme in the library of the account `ark`. */
async function begun(fixture: AssetsFixture) {
  fixture.providers.set("ark", arkAccount("ark"));
  const group = await fixture.assets.createGroup(...groupCall({ platform: volcengine }));
  const asset = await fixture.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id }));
  return { group, asset };
}

describe("an asset of an upstream's library", () => {
  test("is created there, in the same project with the same name, and mirrored here", async () => {
    await using fixture = await openFixture();
    fixture.providers.set("ark", arkAccount("ark"));
    const group = await fixture.assets.createGroup(...groupCall({ platform: volcengine, projectName: "film" }));
    const asset = await fixture.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id }));
    expect(group).toMatchObject({ providerId: "ark", projectName: "film" });
    expect(asset).toMatchObject({ status: "Processing", providerId: "ark" });
    expect(fixture.library.groups.get(group.upstreamId ?? "")).toEqual({ project: "film", name: "Faces" });
    expect(fixture.library.assets.get(asset.upstreamId ?? "")).toMatchObject({
      project: "film",
      name: "Anna",
      url: "https://a.example/x.png",
    });
    expect(
      fixture.web.requests.every(({ headers }) => (headers["authorization"] ?? "").startsWith("HMAC-SHA256 ")),
    ).toBe(true);
  });

  test("uses the account of the group's project, or without a project any account with its keys", async () => {
    await using fixture = await openFixture();
    const keys = { access_key_id: "AKTEST", secret_access_key: "SKTEST" };
    fixture.providers.set("a", arkAccount("a", { settings: {} }));
    fixture.providers.set("b", arkAccount("b", { enabled: false }));
    fixture.providers.set("c", arkAccount("c"));
    fixture.providers.set("d", arkAccount("d", { settings: { ...keys, project_name: "film" } }));
    fixture.providers.set("e", arkAccount("e", { kind: "byteplus" }));
    const made = async (projectName: string | undefined) =>
      fixture.assets.createGroup(...groupCall({ platform: volcengine, projectName }));
    expect(await made(undefined)).toMatchObject({ providerId: "c", projectName: "default" });
    expect(await made("film")).toMatchObject({ providerId: "d", projectName: "film" });
    expect(await made("other")).toMatchObject({ providerId: "c", projectName: "other" });
    fixture.providers.delete("c");
    expect(await made(undefined)).toMatchObject({ providerId: "d", projectName: "film" });
    fixture.providers.delete("d");
    const thrown = await thrownBy(made(undefined));
    expect(thrown).toMatchObject({ code: "invalid_request", param: "platform" });
    expect(String(thrown)).toContain("settings.access_key_id");
  });

  test("is polled in the background until it is Active, and not afterwards", async () => {
    await using fixture = await openFixture();
    fixture.library.polls = 5;
    const { asset } = await begun(fixture);
    fixture.assets.start();
    await until(async () => {
      if (fixture.clock.pending > 0) fixture.clock.advance(assetTickMs);
      return (await fixture.row(asset.id)).status === "Active";
    });
    expect(await fixture.row(asset.id)).toMatchObject({ dueAt: null, error: null });
    const polls = fixture.library.actions.length;
    await fixture.assets.asset(acme, asset.id, volcengine);
    expect(fixture.library.actions).toHaveLength(polls);
    // Five polls with growing delays: the row is older than five of the first delays.
    expect(fixture.clock.now() - asset.createdAt).toBeGreaterThan(4 * bounds.assetPollMs);
  });

  test("is polled on request, once for simultaneous requests", async () => {
    await using fixture = await openFixture();
    fixture.library.polls = 2;
    const { asset } = await begun(fixture);
    const ask = () => fixture.assets.asset(acme, asset.id, volcengine);
    const first = await Promise.all([ask(), ask(), ask()]);
    expect(first.every(({ status }) => status === "Processing")).toBe(true);
    expect(fixture.library.actions.filter((action) => action === "GetAsset")).toHaveLength(1);
    fixture.clock.advance(assetFreshMs);
    expect(await ask()).toMatchObject({ status: "Active" });
    expect(await fixture.row(asset.id)).toMatchObject({ status: "Active", dueAt: null });
  });

  test("is Failed with the library's reason when the library refuses it", async () => {
    await using fixture = await openFixture();
    fixture.library.verdict = "Failed";
    const { asset } = await begun(fixture);
    expect(await fixture.assets.asset(acme, asset.id, volcengine)).toMatchObject({
      status: "Failed",
      error: { code: "InputImageSensitiveContentDetected", message: "No." },
    });
  });

  test("is Failed when the library lost it, and unchanged while the library is down", async () => {
    await using fixture = await openFixture();
    const { asset } = await begun(fixture);
    fixture.library.refusals.set("GetAsset", { status: 503, code: "ServiceUnavailable" });
    expect(await fixture.assets.asset(acme, asset.id, volcengine)).toMatchObject({ status: "Processing" });
    fixture.library.refusals.clear();
    fixture.library.assets.clear();
    fixture.clock.advance(assetFreshMs);
    expect(await fixture.assets.asset(acme, asset.id, volcengine)).toMatchObject({
      status: "Failed",
      error: { code: "gone" },
    });
  });

  test("is Failed eventually when a library or a removed account never finishes it", async () => {
    await using fixture = await openFixture();
    const { asset } = await begun(fixture);
    fixture.providers.clear();
    expect(await fixture.assets.asset(acme, asset.id, volcengine)).toMatchObject({ status: "Processing" });
    fixture.clock.advance(assetProcessingMs);
    const error = { code: "processing_timeout" };
    expect(await fixture.assets.asset(acme, asset.id, volcengine)).toMatchObject({ status: "Failed", error });
  });

  test.each([
    [400, "InvalidParameter.URL", "invalid_request"],
    [403, "SubscriptionRequired", "upstream_error"],
    [404, "NotFound.ProjectName", "upstream_error"],
    [500, "InternalError", "upstream_error"],
  ])(
    "refused with %i %s is not created here, and its caller gets %s, not the library's text",
    async (status, code, expectedCode) => {
      await using fixture = await openFixture();
      fixture.providers.set("ark", arkAccount("ark"));
      const group = await fixture.assets.createGroup(...groupCall({ platform: volcengine }));
      fixture.library.refusals.set("CreateAsset", { status, code });
      const thrown = await thrownBy(
        fixture.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id })),
      );
      expect(thrown).toMatchObject({ code: expectedCode, upstream: undefined });
      expect(String(thrown)).toContain("The asset library of volcengine");
      expect(String(thrown)).toContain(code);
      expect(String(thrown)).not.toContain("4711");
      const filter = { platform: null, groupId: group.id, status: null };
      expect((await fixture.assets.assets(acme, filter, null, 10)).assets).toEqual([]);
    },
  );

  test("is created even when its caller disconnects, because the library has it", async () => {
    await using fixture = await openFixture();
    fixture.providers.set("ark", arkAccount("ark"));
    const group = await fixture.assets.createGroup(...groupCall({ platform: volcengine }));
    const caller = new AbortController();
    fixture.web.page("https://open.volcengineapi.com", (request, signal) => {
      caller.abort();
      return fixture.library.page(request, signal);
    });
    const call = assetCall({ platform: volcengine, groupId: group.id, signal: caller.signal });
    const { id } = await fixture.assets.createAsset(...call);
    expect((await fixture.row(id)).upstreamId).not.toBeNull();
  });

  test("is deleted in the library first: kept here if that is refused, deleted here if it is missing there", async () => {
    await using fixture = await openFixture();
    const { group, asset } = await begun(fixture);
    fixture.library.refusals.set("DeleteAsset", { status: 500, code: "InternalError" });
    expect(await thrownBy(fixture.assets.deleteAsset(acme, asset.id, never))).toMatchObject({ code: "upstream_error" });
    expect((await fixture.row(asset.id)).id).toBe(asset.id);
    fixture.library.refusals.clear();
    await fixture.assets.deleteAsset(acme, asset.id, never);
    expect(fixture.library.assets.size).toBe(0);
    expect(await fixture.gateway.store.findAsset(acme, asset.id)).toBeNull();
    fixture.library.groups.clear();
    await fixture.assets.deleteGroup(acme, group.id, never);
    expect(await fixture.gateway.store.findGroup(acme, group.id)).toBeNull();
    expect(fixture.complaints).toEqual([]);
  });

  test("of a removed account can still be deleted here, with a warning for the operator", async () => {
    await using fixture = await openFixture();
    const { group } = await begun(fixture);
    const call = assetCall({ platform: volcengine, groupId: group.id });
    fixture.providers.set("ark", arkAccount("ark", { enabled: false }));
    expect(await thrownBy(fixture.assets.createAsset(...call))).toMatchObject({ code: "no_deployment_available" });
    fixture.providers.clear();
    expect(await thrownBy(fixture.assets.createAsset(...call))).toMatchObject({ code: "no_deployment_available" });
    await fixture.assets.deleteGroup(acme, group.id, never);
    expect(await fixture.gateway.store.findGroup(acme, group.id)).toBeNull();
    expect(fixture.complaints).toHaveLength(1);
  });
});
