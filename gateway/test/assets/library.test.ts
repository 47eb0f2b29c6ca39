import { describe, expect, test } from "bun:test";
import { assetTickMs } from "#assets/due-worker.ts";
import { assetFreshMs, assetProcessingMs } from "#assets/library-sync.ts";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type AssetsGround, acme, arkAccount, assetCall, groupCall, never, openGround, thrownBy } from "./ground.ts";

const volcengine = "volcengine";

/** A group and an asset of Acme's in the library of the account `ark`. */
async function begun(ground: AssetsGround) {
  ground.providers.set("ark", arkAccount("ark"));
  const group = await ground.assets.createGroup(...groupCall({ platform: volcengine }));
  const asset = await ground.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id }));
  return { group, asset };
}

describe("an asset of an upstream's library", () => {
  test("is made there, in the same project and under the same name, and mirrored here", async () => {
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
    expect(ground.web.asked.every(({ headers }) => (headers["authorization"] ?? "").startsWith("HMAC-SHA256 "))).toBe(
      true,
    );
  });

  test("goes to the account of the group's project, and of no project to any that has its keys", async () => {
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

  test("is looked at in the background until it is Active, and then no more", async () => {
    await using ground = await openGround();
    ground.library.looks = 5;
    const { asset } = await begun(ground);
    ground.assets.start();
    await until(async () => {
      if (ground.clock.pending > 0) ground.clock.advance(assetTickMs);
      return (await ground.row(asset.id)).status === "Active";
    });
    expect(await ground.row(asset.id)).toMatchObject({ dueAt: null, error: null });
    const looks = ground.library.actions.length;
    await ground.assets.asset(acme, asset.id, volcengine);
    expect(ground.library.actions).toHaveLength(looks);
    // Five looks, spread: the row is older than five of the first waits.
    expect(ground.clock.now() - asset.createdAt).toBeGreaterThan(4 * bounds.assetPollMs);
  });

  test("is looked at when its owner asks, once for all who ask at the same time", async () => {
    await using ground = await openGround();
    ground.library.looks = 2;
    const { asset } = await begun(ground);
    const ask = () => ground.assets.asset(acme, asset.id, volcengine);
    const first = await Promise.all([ask(), ask(), ask()]);
    expect(first.every(({ status }) => status === "Processing")).toBe(true);
    expect(ground.library.actions.filter((action) => action === "GetAsset")).toHaveLength(1);
    ground.clock.advance(assetFreshMs);
    expect(await ask()).toMatchObject({ status: "Active" });
    expect(await ground.row(asset.id)).toMatchObject({ status: "Active", dueAt: null });
  });

  test("that the library refuses is Failed with the library's own reason", async () => {
    await using ground = await openGround();
    ground.library.verdict = "Failed";
    const { asset } = await begun(ground);
    expect(await ground.assets.asset(acme, asset.id, volcengine)).toMatchObject({
      status: "Failed",
      error: { code: "InputImageSensitiveContentDetected", message: "No." },
    });
  });

  test("that the library lost is Failed; one whose library is down stays as it was", async () => {
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

  test("that is never finished, by a library or an account that is gone, is Failed in the end", async () => {
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
    "refused with %i %s is not made here, and its caller hears %s, not the library's words",
    async (status, code, told) => {
      await using ground = await openGround();
      ground.providers.set("ark", arkAccount("ark"));
      const group = await ground.assets.createGroup(...groupCall({ platform: volcengine }));
      ground.library.refusals.set("CreateAsset", { status, code });
      const thrown = await thrownBy(
        ground.assets.createAsset(...assetCall({ platform: volcengine, groupId: group.id })),
      );
      expect(thrown).toMatchObject({ code: told, upstream: undefined });
      expect(String(thrown)).toContain("The asset library of volcengine");
      expect(String(thrown)).toContain(code);
      expect(String(thrown)).not.toContain("4711");
      const asked = { platform: null, groupId: group.id, status: null };
      expect((await ground.assets.assets(acme, asked, null, 10)).assets).toEqual([]);
    },
  );

  test("is made even when its caller leaves meanwhile: the library has it, so it is known here", async () => {
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

  test("is deleted there first: refused there, nothing is deleted here; gone there, it is", async () => {
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

  test("whose account is no longer set up can still be deleted here, and an operator is told", async () => {
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
