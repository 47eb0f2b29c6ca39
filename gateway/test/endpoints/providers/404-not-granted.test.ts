import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { call, startVendor, type Vendor } from "./vendor.ts";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

const grant = ["own"];

async function refusalWith(workspace: object): Promise<{ status: number; body: unknown; gateway: StartedGateway }> {
  const gateway = await startGateway({
    providers: (simulator) => [upstream("own", simulator, { base_url: vendor.url }), upstream("main", simulator)],
    workspace,
  });
  const answer = await call(gateway, "GET", "/files");
  return { status: answer.status, body: await answer.json(), gateway };
}

test.each([
  ["there is no grant", {}],
  [
    "only models are granted",
    {
      models: ["*"],
      groups: [{ name: "default", models: ["*"] }],
      keys: [{ name: "alice", secret: aliceKey, models: ["*"] }],
    },
  ],
  [
    "the workspace has no grant",
    {
      groups: [{ name: "default", pass_through: grant }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: grant }],
    },
  ],
  [
    "the group has no grant",
    {
      pass_through: grant,
      groups: [{ name: "default" }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: grant }],
    },
  ],
  ["the key has no grant", { pass_through: grant, groups: [{ name: "default", pass_through: grant }] }],
  [
    "another provider is granted",
    {
      pass_through: ["main"],
      groups: [{ name: "default", pass_through: ["main"] }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: ["main"] }],
    },
  ],
])("answers as for a missing provider, without calling it, where %s", async (_, workspace) => {
  const before = vendor.received.length;
  const { status, body, gateway } = await refusalWith(workspace);
  try {
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { code: "not_found", param: "provider" } });
    const missing = await fetch(`${gateway.url}/v1/providers/own2/files`, {
      headers: { authorization: `Bearer ${aliceKey}` },
    });
    expect(JSON.stringify(await missing.json()).replace("own2", "own")).toBe(JSON.stringify(body));
    expect(vendor.received.length).toBe(before);
    expect((await gateway.entries())[0]).toMatchObject({
      outcome: "rejected",
      httpStatus: 404,
      operation: "GET",
      model: "(pass-through)",
    });
  } finally {
    await gateway.stop();
  }
});

test("stops passing calls through after the grant was removed", async () => {
  const keys = [{ name: "alice", secret: aliceKey, pass_through: grant }];
  const workspace = { slug: "acme", pass_through: grant, groups: [{ name: "default", pass_through: grant }], keys };
  const { status, gateway } = await refusalWith(workspace);
  try {
    expect(status).toBe(200);
    const provider = {
      id: "own",
      kind: "openai-compatible",
      base_url: vendor.url,
      api_key: "k",
      allow_private_network: true,
    };
    const without = { ...workspace, keys: [{ name: "alice", secret: aliceKey }] };
    await gateway.control.controlStore.apply({ providers: [provider], workspaces: [without] }, "test");
    await until(async () => (await call(gateway, "GET", "/files")).status === 404);
  } finally {
    await gateway.stop();
  }
});
