import { describe, expect, test } from "bun:test";
import { assetTickMs } from "#assets/due-worker.ts";
import { assetFreshMs, assetProcessingMs } from "#assets/library-sync.ts";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type AssetsGround, acme, arkAccount, assetCall, groupCall, never, openGround, thrownBy } from "./ground.ts";

const volcengine = "volcengine";

/** A group and an asset of acme in the library of the account `ark`. */
async function begun(ground: AssetsGround) {
  ground.providers.set("ark", arkAccount("ark"));
  const group = await ground.assets.createGroup(...groupCall({ platform: volcengine }));
  const asset = await ground.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id }));
  return { group, asset };
}

describe("an asset of an upstream's library", () => {
  test("is created there, in the same project with the same name, and mirrored here", async () => {
    await using ground = await openGround();
    ground.providers.set("ark", arkAccount("ark"));
    const group = await ground.assets.createGroup(...groupCall({ platform: volcengine, projectName: "film" }));
    const asset = await ground.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id }));
    expect(group).toMatchObject({ providerId: "ark", projectName: "film" });
    expect(asset).toMatchObject({ status: "Processing", providerId: "ark" });
    expect(ground.library.groups.get(group.upstreamId ?? "")).toEqual({ project: "film", name: "Faces" });
    expect(ground.library.assets.get(asset.upstreamId ?? "")).toMatchObject({
      project: "film",
      name: "Anna",
      url: "https://a.example/x.png",
    });
    expect(
      ground.web.requests.every(({ headers }) => (headers["authorization"] ?? "").startsWith("HMAC-SHA256 ")),
    ).toBe(true);
  });

  test("uses the account of the group's project, or without a project any account with its keys", async () => {
    await using ground = await openGround();
    const keys = { access_key_id: "AKTEST", secret_access_key: "SKTEST" };
    ground.providers.set("a", arkAccount("a", { settings: {} }));
    ground.providers.set("b", arkAccount("b", { enabled: false }));
    ground.providers.set("c", arkAccount("c"));
    ground.providers.set("d", arkAccount("d", { settings: { ...keys, project_name: "film" } }));
    ground.providers.set("e", arkAccount("e", { kind: "byteplus" }));
    const made = async (projectName: string | undefined) =>
      ground.assets.createGroup(...groupCall({ platform: volcengine, projectName }));
    expect(await made(undefined)).toMatchObject({ providerId: "c", projectName: "default" });
    expect(await made("film")).toMatchObject({ providerId: "d", projectName: "film" });
    expect(await made("other")).toMatchObject({ providerId: "c", projectName: "other" });
    ground.providers.delete("c");
    expect(await made(undefined)).toMatchObject({ providerId: "d", projectName: "film" });
    ground.providers.delete("d");
    const thrown = await thrownBy(made(undefined));
    expect(thrown).toMatchObject({ code: "invalid_request", param: "platform" });
    expect(String(thrown)).toContain("settings.access_key_id");
  });

  test("is polled in the background until it is Active, and not afterwards", async () => {
    await using ground = await openGround();
    ground.library.polls = 5;
    const { asset } = await begun(ground);
    ground.assets.start();
    await until(async () => {
      if (ground.clock.pending > 0) ground.clock.advance(assetTickMs);
      return (await ground.row(asset.id)).status === "Active";
    });
    expect(await ground.row(asset.id)).toMatchObject({ dueAt: null, error: null });
    const polls = ground.library.actions.length;
    await ground.assets.asset(acme, asset.id, volcengine);
    expect(ground.library.actions).toHaveLength(polls);
    // Five polls with growing delays: the row is older than five of the first delays.
    expect(ground.clock.now() - asset.createdAt).toBeGreaterThan(4 * bounds.assetPollMs);
  });

  test("is polled on request, once for simultaneous requests", async () => {
    await using ground = await openGround();
    ground.library.polls = 2;
    const { asset } = await begun(ground);
    const ask = () => ground.assets.asset(acme, asset.id, volcengine);
    const first = await Promise.all([ask(), ask(), ask()]);
    expect(first.every(({ status }) => status === "Processing")).toBe(true);
    expect(ground.library.actions.filter((action) => action === "GetAsset")).toHaveLength(1);
    ground.clock.advance(assetFreshMs);
    expect(await ask()).toMatchObject({ status: "Active" });
    expect(await ground.row(asset.id)).toMatchObject({ status: "Active", dueAt: null });
  });

  test("is Failed with the library's reason when the library refuses it", async () => {
    await using ground = await openGround();
    ground.library.verdict = "Failed";
    const { asset } = await begun(ground);
    expect(await ground.assets.asset(acme, asset.id, volcengine)).toMatchObject({
      status: "Failed",
      error: { code: "InputImageSensitiveContentDetected", message: "No." },
    });
  });

  test("is Failed when the library lost it, and unchanged while the library is down", async () => {
    await using ground = await openGround();
    const { asset } = await begun(ground);
    ground.library.refusals.set("GetAsset", { status: 503, code: "ServiceUnavailable" });
    expect(await ground.assets.asset(acme, asset.id, volcengine)).toMatchObject({ status: "Processing" });
    ground.library.refusals.clear();
    ground.library.assets.clear();
    ground.clock.advance(assetFreshMs);
    expect(await ground.assets.asset(acme, asset.id, volcengine)).toMatchObject({
      status: "Failed",
      error: { code: "gone" },
    });
  });

  test("is Failed eventually when a library or a removed account never finishes it", async () => {
    await using ground = await openGround();
    const { asset } = await begun(ground);
    ground.providers.clear();
    expect(await ground.assets.asset(acme, asset.id, volcengine)).toMatchObject({ status: "Processing" });
    ground.clock.advance(assetProcessingMs);
    const error = { code: "processing_timeout" };
    expect(await ground.assets.asset(acme, asset.id, volcengine)).toMatchObject({ status: "Failed", error });
  });

  test.each([
    [400, "InvalidParameter.URL", "invalid_request"],
    [403, "SubscriptionRequired", "upstream_error"],
    [404, "NotFound.ProjectName", "upstream_error"],
    [500, "InternalError", "upstream_error"],
  ])(
    "refused with %i %s is not created here, and its caller gets %s, not the library's text",
    async (status, code, expectedCode) => {
      await using ground = await openGround();
      ground.providers.set("ark", arkAccount("ark"));
      const group = await ground.assets.createGroup(...groupCall({ platform: volcengine }));
      ground.library.refusals.set("CreateAsset", { status, code });
      const thrown = await thrownBy(
        ground.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id })),
      );
      expect(thrown).toMatchObject({ code: expectedCode, upstream: undefined });
      expect(String(thrown)).toContain("The asset library of volcengine");
      expect(String(thrown)).toContain(code);
      expect(String(thrown)).not.toContain("4711");
      const filter = { platform: null, groupId: group.id, status: null };
      expect((await ground.assets.assets(acme, filter, null, 10)).assets).toEqual([]);
    },
  );

  test("is created even when its caller disconnects, because the library has it", async () => {
    await using ground = await openGround();
    ground.providers.set("ark", arkAccount("ark"));
    const group = await ground.assets.createGroup(...groupCall({ platform: volcengine }));
    const caller = new AbortController();
    ground.web.page("https://open.volcengineapi.com", (request, signal) => {
      caller.abort();
      return ground.library.page(request, signal);
    });
    const call = assetCall({ platform: volcengine, groupId: group.id, signal: caller.signal });
    const { id } = await ground.assets.createAsset(...call);
    expect((await ground.row(id)).upstreamId).not.toBeNull();
  });

  test("is deleted in the library first: kept here if that is refused, deleted here if it is missing there", async () => {
    await using ground = await openGround();
    const { group, asset } = await begun(ground);
    ground.library.refusals.set("DeleteAsset", { status: 500, code: "InternalError" });
    expect(await thrownBy(ground.assets.deleteAsset(acme, asset.id, never))).toMatchObject({ code: "upstream_error" });
    expect((await ground.row(asset.id)).id).toBe(asset.id);
    ground.library.refusals.clear();
    await ground.assets.deleteAsset(acme, asset.id, never);
    expect(ground.library.assets.size).toBe(0);
    expect(await ground.gateway.store.findAsset(acme, asset.id)).toBeNull();
    ground.library.groups.clear();
    await ground.assets.deleteGroup(acme, group.id, never);
    expect(await ground.gateway.store.findGroup(acme, group.id)).toBeNull();
    expect(ground.complaints).toEqual([]);
  });

  test("of a removed account can still be deleted here, with a warning for the operator", async () => {
    await using ground = await openGround();
    const { group } = await begun(ground);
    const call = assetCall({ platform: volcengine, groupId: group.id });
    ground.providers.set("ark", arkAccount("ark", { enabled: false }));
    expect(await thrownBy(ground.assets.createAsset(...call))).toMatchObject({ code: "no_deployment_available" });
    ground.providers.clear();
    expect(await thrownBy(ground.assets.createAsset(...call))).toMatchObject({ code: "no_deployment_available" });
    await ground.assets.deleteGroup(acme, group.id, never);
    expect(await ground.gateway.store.findGroup(acme, group.id)).toBeNull();
    expect(ground.complaints).toHaveLength(1);
  });
});
