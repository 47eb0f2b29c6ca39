import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { call, startVendor, type Vendor } from "./vendor.ts";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());

const own = ["own"];

async function refusalWith(workspace: object): Promise<{ status: number; body: unknown; gateway: StartedGateway }> {
  const gateway = await startGateway({
    providers: (simulator) => [upstream("own", simulator, { base_url: vendor.url }), upstream("main", simulator)],
    workspace,
  });
  const answer = await call(gateway, "GET", "/files");
  return { status: answer.status, body: await answer.json(), gateway };
}

test.each([
  ["nobody names the provider", {}],
  [
    "only models are granted",
    {
      models: ["*"],
      groups: [{ name: "default", models: ["*"] }],
      keys: [{ name: "alice", secret: aliceKey, models: ["*"] }],
    },
  ],
  [
    "the workspace does not",
    {
      groups: [{ name: "default", pass_through: own }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: own }],
    },
  ],
  [
    "the group does not",
    {
      pass_through: own,
      groups: [{ name: "default" }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: own }],
    },
  ],
  ["the key does not", { pass_through: own, groups: [{ name: "default", pass_through: own }] }],
  [
    "another one is named",
    {
      pass_through: ["main"],
      groups: [{ name: "default", pass_through: ["main"] }],
      keys: [{ name: "alice", secret: aliceKey, pass_through: ["main"] }],
    },
  ],
])("where %s, it looks as if it did not exist, and nothing is sent", async (_, workspace) => {
  const before = vendor.received.length;
  const { status, body, gateway } = await refusalWith(workspace);
  try {
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { code: "not_found", param: "provider" } });
    const nobody = await fetch(`${gateway.url}/v1/providers/own2/files`, {
      headers: { authorization: `Bearer ${aliceKey}` },
    });
    expect(JSON.stringify(await nobody.json()).replace("own2", "own")).toBe(JSON.stringify(body));
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

test("a grant that is taken away ends with the next call", async () => {
  const keys = [{ name: "alice", secret: aliceKey, pass_through: own }];
  const workspace = { slug: "acme", pass_through: own, groups: [{ name: "default", pass_through: own }], keys };
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
