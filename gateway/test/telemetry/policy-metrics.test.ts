import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 1_000 } }],
    keys: [{ name: "alice", secret: aliceKey }],
    budgets: [
      { name: "shared", usd: 0.02, period: "month" },
      { name: "teams", usd: 0.01, period: "month", split_by: "tag:team" },
      { name: "trial", usd: 0.001, period: "month", enforce: false },
    ],
    workspace: { budgets: [{ name: "own", usd: 0.02, period: "total" }] },
  });
});
afterAll(() => gateway?.stop());

test("shows the used share of each policy, of a split one its fullest counter, and whether it refuses calls", async () => {
  for (const team of ["search", "search", "ads"]) {
    const answer = await gateway.chat(
      { ...hello, max_tokens: 5 },
      { script: { tokens: 5 }, headers: { "x-sluice-tags": `team=${team}` } },
    );
    await answer.text();
    await until(() => gateway.gateway.outstanding() === 0);
  }
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const series = Object.fromEntries(
    [...text.matchAll(/^sluice_budget_policy_(\S+) (\S+)$/gm)].map(([, name = "", value]) => [name, Number(value)]),
  );
  expect(series).toEqual({
    'used_ratio{workspace="-",policy="shared"}': 0.75,
    'used_ratio{workspace="-",policy="teams"}': 1,
    'used_ratio{workspace="-",policy="trial"}': 15,
    'used_ratio{workspace="acme",policy="own"}': 0.75,
    'exhausted{workspace="-",policy="shared"}': 0,
    'exhausted{workspace="-",policy="teams"}': 1,
    'exhausted{workspace="-",policy="trial"}': 0,
    'exhausted{workspace="acme",policy="own"}': 0,
  });
});
