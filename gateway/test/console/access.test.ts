import { describe, expect, test } from "bun:test";
import type { AccessReason, ConfigFile } from "@sluice/contract";
import { keysIn } from "../conformance/store-fixture.ts";
import { openTenantFixture, type TenantFixture } from "./tenant-fixture.ts";

const acme = { workspace: "acme" };

const models: ConfigFile = {
  providers: [{ id: "main", kind: "openai", api_key: "sk-upstream" }],
  models: [
    { name: "gpt-5", deployments: [{ provider: "main" }, { provider: "main", upstream_model: "b" }] },
    { name: "gpt-idle", deployments: [{ provider: "main", enabled: false }] },
    { name: "gpt-saved", deployments: [{ provider: "main", enabled: false }], fallbacks: ["gpt-5", "secret-model"] },
    { name: "secret-model", type: "image", deployments: [{ provider: "main" }] },
  ],
  settings: { unpriced: "allow" },
};

async function withModels(): Promise<TenantFixture> {
  const fixture = await openTenantFixture();
  await fixture.controlStore.apply(models, "file");
  await fixture.call("administrator", "workspaces.update", { params: acme, body: { models: ["gpt-*", "no-such-*"] } });
  await fixture.call("admin", "groups.create", { params: acme, body: { name: "small", models: ["gpt-i*", "gpt-5"] } });
  return fixture;
}

const makeKey = async (fixture: TenantFixture, body: Readonly<Record<string, unknown>>): Promise<string> =>
  (await fixture.makeKey("admin", body)).body.key.id;

const check = (fixture: TenantFixture, key: string, model: string, who: "viewer" | "administrator" = "viewer") =>
  fixture.call(who, "access.check", { params: { ...acme, key }, query: { model } });

describe("access check", () => {
  test("shows the answer and the matched pattern of workspace, group and key, and who would serve the call", async () => {
    await using fixture = await withModels();
    const key = await makeKey(fixture, { name: "ci", group: "small", models: ["x", "*5"] });
    expect((await check(fixture, key, "gpt-5")).body).toEqual({
      key: { id: key, name: "ci" },
      model: "gpt-5",
      allowed: true,
      reason: "yes",
      steps: [
        {
          scope: "workspace",
          label: "workspace acme",
          patterns: ["gpt-*", "no-such-*"],
          matched: "gpt-*",
          allowed: true,
        },
        { scope: "group", label: "group acme/small", patterns: ["gpt-i*", "gpt-5"], matched: "gpt-5", allowed: true },
        { scope: "key", label: "key acme/ci", patterns: ["x", "*5"], matched: "*5", allowed: true },
      ],
      deployments: 2,
      fallbacks: [],
    });
    const free = await makeKey(fixture, { name: "free" });
    const [, , step] = (await check(fixture, free, "gpt-5")).body.steps;
    expect(step).toEqual({ scope: "key", label: "key acme/free", patterns: null, matched: null, allowed: true });
  });

  test("gives the first reason that denies access, widest scope first", async () => {
    await using fixture = await withModels();
    const key = await makeKey(fixture, { name: "ci", group: "small", models: ["gpt-5", "gpt-saved"] });
    const reason = async (model: string): Promise<AccessReason> => {
      const { body } = await check(fixture, key, model, "administrator");
      expect(body.allowed).toBe(body.reason === "yes");
      return body.reason;
    };
    expect(await reason("secret-model")).toBe("workspace_models");
    expect(await reason("gpt-saved")).toBe("group_models");
    expect(await reason("gpt-idle")).toBe("key_models");
    const params = { ...acme, key };
    const change = (body: object) => fixture.call("admin", "keys.update", { params, body: { ...body } });
    await change({ models: null });
    expect(await reason("gpt-idle")).toBe("no_deployment");
    await change({ expires_at: fixture.clock.now() + 1 });
    fixture.clock.jump(1);
    expect(await reason("gpt-idle")).toBe("key_expired");
    await change({ enabled: false });
    expect(await reason("gpt-5")).toBe("key_disabled");
    await fixture.call("admin", "keys.revoke", { params });
    expect(await reason("gpt-5")).toBe("key_revoked");
    expect(await reason("secret-model")).toBe("workspace_models");
    await fixture.call("administrator", "workspaces.update", { params: acme, body: { enabled: false } });
    expect(await reason("secret-model")).toBe("workspace_disabled");
  });

  test("reports a key of the config file that has no secret yet", async () => {
    await using fixture = await openTenantFixture();
    const workspaces = [{ slug: "filed", groups: [{ name: "default" }], keys: [{ name: "later" }] }];
    await fixture.controlStore.apply({ ...models, workspaces }, "file");
    await fixture.refresh();
    const [key] = await keysIn(fixture, "filed");
    const answer = await fixture.call("administrator", "access.check", {
      params: { workspace: "filed", key: key?.id ?? "" },
      query: { model: "gpt-5" },
    });
    expect(answer.body.reason).toBe("key_without_secret");
  });

  test("serves a model without a deployment through a fallback that the key may call", async () => {
    await using fixture = await withModels();
    const key = await makeKey(fixture, { name: "ci" });
    const narrow = await makeKey(fixture, { name: "narrow", models: ["gpt-saved"] });
    expect((await check(fixture, key, "gpt-saved", "administrator")).body).toMatchObject({
      reason: "yes",
      deployments: 0,
      fallbacks: [
        { model: "gpt-5", allowed: true },
        { model: "secret-model", allowed: false },
      ],
    });
    expect((await check(fixture, narrow, "gpt-saved")).body).toMatchObject({
      reason: "no_deployment",
      fallbacks: [{ model: "gpt-5", allowed: false }],
    });
  });

  test("reveals models beyond the workspace to administrators only", async () => {
    await using fixture = await withModels();
    const key = await makeKey(fixture, { name: "ci" });
    const secret = (await check(fixture, key, "secret-model")).body;
    const missing = (await check(fixture, key, "there-is-none")).body;
    expect(secret).toMatchObject({ allowed: false, reason: "workspace_models", deployments: 0 });
    expect({ ...missing, model: "secret-model" }).toEqual(secret);
    expect((await check(fixture, key, "gpt-saved")).body.fallbacks).toEqual([{ model: "gpt-5", allowed: true }]);
    expect((await check(fixture, key, "secret-model", "administrator")).body.deployments).toBe(1);
    for (const who of ["viewer", "administrator"] as const) {
      expect(await check(fixture, key, "no-such-model", who)).toMatchObject({
        status: 404,
        code: "not_found",
        param: "model",
      });
    }
  });

  test("returns 404 for keys of another workspace", async () => {
    await using fixture = await withModels();
    const elsewhere = (await fixture.makeKey("stranger", { name: "ci" }, "other")).body.key.id;
    expect(await check(fixture, elsewhere, "gpt-5")).toMatchObject({ status: 404, code: "not_found", param: "key" });
    expect(await check(fixture, elsewhere, "gpt-5", "administrator")).toMatchObject({ status: 404, param: "key" });
  });
});
