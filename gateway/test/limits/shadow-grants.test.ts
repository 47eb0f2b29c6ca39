import { afterEach, expect, test } from "bun:test";
import type { KeyConfig, WorkspaceConfig } from "@sluice/contract";
import { until } from "../../../test/until.ts";
import { taskRequest, videoGateway } from "../endpoints/video-tasks/video-gateway.ts";
import { aliceKey, errorOf, hello, type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

const allowed = { name: "gpt-test", deployments: [{ provider: "main" }] };
const other = { name: "gpt-other", deployments: [{ provider: "main" }] };
const elsewhere = ["203.0.113.0/24"];

async function start(
  key: Partial<KeyConfig>,
  workspace: Partial<WorkspaceConfig> = {},
  overrides: Overrides = {},
): Promise<void> {
  const keys = [{ name: "alice", secret: aliceKey, ...key }];
  gateway = await startGateway({ models: [allowed, other], ...overrides, keys, workspace });
}

const call = (model: string) => gateway.chat({ ...hello, model }, { script: { tokens: 1 } });
const marks = async () => (await gateway.entries()).map(({ warnings = [] }) => warnings);
const metrics = async () => await (await gateway.get("/metrics", {})).text();

test("a model outside a shadow grant is served, listed and marked, without a trace for the caller", async () => {
  await start({ models: ["gpt-test"], enforce_models: false });
  const response = await call("gpt-other");
  expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  await response.text();
  expect(await marks()).toEqual([["would have been refused: models of key acme/alice"]]);
  await (await call("gpt-test")).text();
  expect((await marks())[0]).toEqual([]);
  expect(await metrics()).toContain('sluice_shadow_refusals_total{kind="models",scope="key"} 1');
  const listed = (await (await gateway.get("/v1/models")).json()) as { data: { id: string }[] };
  expect(listed.data.map(({ id }) => id).sort()).toEqual(["gpt-other", "gpt-test"]);
});

test("every grant in shadow mode that a call is outside of is marked, also on a stream", async () => {
  const shadow = { models: ["gpt-test"], enforce_models: false };
  await start(
    { ...shadow, group: "team", allowed_ips: elsewhere, enforce_allowed_ips: false },
    { ...shadow, groups: [{ name: "team", ...shadow }] },
  );
  const response = await gateway.chat({ ...hello, model: "gpt-other", stream: true }, { script: { tokens: 1 } });
  expect(await response.text()).toContain("[DONE]");
  expect(await marks()).toEqual([
    [
      "would have been refused: allowed addresses of key acme/alice",
      "would have been refused: models of workspace acme",
      "would have been refused: models of group acme/team",
      "would have been refused: models of key acme/alice",
    ],
  ]);
});

test.each([
  ["workspace", { models: ["gpt-test"] }],
  ["group", { groups: [{ name: "default", models: ["gpt-test"] }] }],
])("an enforced grant of the %s still refuses what a shadow grant of the key lets through", async (_, workspace) => {
  await start({ models: ["none"], enforce_models: false }, workspace);
  expect(await errorOf(await call("gpt-other"))).toMatchObject({ status: 404, code: "model_not_found" });
  expect((await call("gpt-test")).status).toBe(200);
});

test("an enforced grant of the key refuses under a workspace in shadow mode", async () => {
  await start({ models: ["gpt-test"] }, { models: ["none"], enforce_models: false });
  expect(await errorOf(await call("gpt-other"))).toMatchObject({ status: 404, code: "model_not_found" });
  await (await call("gpt-test")).text();
  expect((await marks())[0]).toEqual(["would have been refused: models of workspace acme"]);
});

test("shadow addresses mark pass-through calls; model patterns do not apply to them", async () => {
  const granted = { pass_through: ["main"] };
  await start(
    { ...granted, models: ["none"], enforce_models: false, allowed_ips: elsewhere, enforce_allowed_ips: false },
    { ...granted, groups: [{ name: "default", ...granted }] },
  );
  const response = await gateway.get("/v1/providers/main/models");
  expect(response.status).toBe(200);
  await response.text();
  expect((await marks())[0]).toContain("would have been refused: allowed addresses of key acme/alice");
  expect((await marks())[0]).not.toContain("would have been refused: models of key acme/alice");
});

test("the export of the config file has grants in shadow mode, and applying it changes nothing", async () => {
  const shadow = { models: ["gpt-test"], enforce_models: false };
  await start(
    { ...shadow, group: "team", allowed_ips: elsewhere, enforce_allowed_ips: false },
    { ...shadow, groups: [{ name: "team", ...shadow }] },
  );
  const exported = async () => (await gateway.control.controlStore.exportConfig(() => false)).config.workspaces?.[0];
  const before = await exported();
  expect(before).toMatchObject({
    ...shadow,
    groups: [{ name: "team", ...shadow }],
    keys: [{ name: "alice", ...shadow, allowed_ips: elsewhere, enforce_allowed_ips: false }],
  });
  const keys = (before?.keys ?? []).map((key) => ({ ...key, secret: aliceKey }));
  const applied = await gateway.control.controlStore.apply({ workspaces: [{ ...before, slug: "acme", keys }] }, "test");
  expect(applied).toBeDefined();
  expect(await exported()).toEqual(before);
});

test("a video task outside a shadow grant is accepted, and its entry is marked", async () => {
  await start({ models: ["none"], enforce_models: false }, {}, videoGateway);
  const created = await gateway.post("/v1/video/tasks", taskRequest);
  expect(created.status).toBeLessThan(300);
  const { id } = (await created.json()) as { id: string };
  await until(async () => {
    const task = (await (await gateway.get(`/v1/video/tasks/${id}`)).json()) as { status: string };
    return task.status === "succeeded";
  });
  expect(await marks()).toEqual([["would have been refused: models of key acme/alice"]]);
  expect(await metrics()).toContain('sluice_shadow_refusals_total{kind="models",scope="key"} 1');
});
