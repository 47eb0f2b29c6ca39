import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

const betaKey = "sk-beta-0123456789abcdefghij";
const gammaKey = "sk-gamma-0123456789abcdefghi";
const budget = { usd: 10, period: "month" } as const;

function workspace(slug: string, secret: string) {
  return { slug, groups: [{ name: "default" }], keys: [{ name: slug, secret }] };
}

async function started(metricsWorkspaces: number): Promise<StartedGateway> {
  return await startGateway({
    workspace: { budget },
    moreWorkspaces: [workspace("beta", betaKey), workspace("gamma", gammaKey)],
    environment: { metricsWorkspaces },
  });
}

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await started(2);
});
afterAll(() => gateway?.stop());

/** Series by workspace, without comments. */
async function series({ url }: StartedGateway): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Map(
    [...text.matchAll(/^(sluice_workspace_\S+) (\S+)$/gm)].map(([, name = "", value]) => [name, Number(value)]),
  );
}

test("counts requests, tokens, cost and budget use by workspace, and all workspaces beyond the bound together", async () => {
  const status = 500;
  for (const options of [{}, { script: { status } }, { key: betaKey }, { key: gammaKey }])
    await (await gateway.chat(hello, options)).text();
  const entries = await gateway.entries();
  const shown = await series(gateway);
  expect(shown.get('sluice_workspace_requests_total{workspace="acme",outcome="succeeded"}')).toBe(1);
  expect(shown.get('sluice_workspace_requests_total{workspace="acme",outcome="failed"}')).toBe(1);
  expect(shown.get('sluice_workspace_requests_total{workspace="beta",outcome="succeeded"}')).toBe(1);
  expect(shown.get('sluice_workspace_requests_total{workspace="other",outcome="succeeded"}')).toBe(1);
  expect([...shown.keys()].filter((name) => name.includes("gamma"))).toEqual([]);

  const { id } =
    [...gateway.gateway.configSnapshot.current.workspaces.values()].find(({ slug }) => slug === "acme") ?? {};
  const own = entries.filter(({ workspaceId }) => workspaceId === id);
  const output = own.reduce((sum, { usage }) => sum + usage.output, 0);
  const cost = own.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9;
  expect(output).toBeGreaterThan(0);
  expect(cost).toBeGreaterThan(0);
  expect(shown.get('sluice_workspace_tokens_total{workspace="acme",class="output"}')).toBe(output);
  expect(shown.get('sluice_workspace_cost_usd_total{workspace="acme"}')).toBeCloseTo(cost, 12);
  expect(shown.get('sluice_workspace_budget_used_ratio{workspace="acme"}')).toBeCloseTo(cost / budget.usd, 9);
  expect(shown.has('sluice_workspace_budget_used_ratio{workspace="beta"}')).toBe(false);
});

test("counts nothing by workspace unless it is enabled", async () => {
  const other = await started(0);
  await (await other.chat(hello, { key: aliceKey })).text();
  expect([...(await series(other)).keys()]).toEqual([]);
  await other.stop();
});
