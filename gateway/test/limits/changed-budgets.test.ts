import { afterEach, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

const models = [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 1_000 } }];
/** A call of five tokens costs half a cent. */
const call = async (): Promise<number> =>
  (await gateway.chat({ ...hello, max_tokens: 5 }, { script: { tokens: 5 } })).status;

type BudgetOf = { readonly usd: number; readonly period: "day" | "month" | "total" } | undefined;

async function apply(budget: BudgetOf, group = "default"): Promise<void> {
  await gateway.control.controlStore.apply(
    {
      providers: [upstream("main", gateway.simulator)],
      models,
      workspaces: [
        {
          slug: "acme",
          groups: [{ name: "default" }, { name: "other", budget: { usd: 0.02, period: "day" } }],
          keys: [{ name: "alice", secret: aliceKey, group, ...(budget === undefined ? {} : { budget }) }],
        },
      ],
      settings: { drain_timeout_ms: 2_000 },
    },
    "test",
  );
  await gateway.gateway.configSnapshot.refresh();
  // The cached key changes with the next read of the change feed.
  await until(async () => {
    // A key may make sixty requests per minute.
    await Bun.sleep(200);
    const limits = await budgets();
    const [own, others] = [ofScope(limits, "key"), ofScope(limits, "group acme/other")];
    return (
      own?.limit === budget?.usd && own?.period === budget?.period && (others !== undefined) === (group === "other")
    );
  });
}

interface Budget {
  readonly kind: string;
  readonly scope: string;
  readonly period: string;
  readonly limit: number;
  readonly used: number;
}

async function budgets(): Promise<readonly Budget[]> {
  const { limits } = (await (await gateway.get("/v1/usage")).json()) as { limits: Budget[] };
  return limits.filter(({ kind }) => kind === "budget");
}

const ofScope = (limits: readonly Budget[], scope: string) => limits.find(({ scope: of }) => of.startsWith(scope));

const used = async (scope = "key"): Promise<number | undefined> => ofScope(await budgets(), scope)?.used;

test("a budget that is removed and set again within its period keeps what was spent", async () => {
  gateway = await startGateway({
    reportThreads: true,
    models,
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 0.05, period: "month" } }],
  });
  for (let n = 0; n < 3; n++) expect(await call()).toBe(200);
  await apply(undefined);
  for (let n = 0; n < 4; n++) expect(await call()).toBe(200);
  await apply({ usd: 0.05, period: "month" });
  expect(await call()).toBe(200);
  expect(await used()).toBeCloseTo(0.04, 9);
  await apply({ usd: 0.045, period: "day" });
  expect([await call(), await call()]).toEqual([200, 402]);
  expect(await used()).toBeCloseTo(0.045, 9);
});

test("calls in progress when a budget is set count against it when they end", async () => {
  gateway = await startGateway({ models, reportThreads: true });
  const slow = { tokens: 5, latency_ms: 1_500 };
  const underWay = [1, 2].map(() => gateway.chat({ ...hello, max_tokens: 5 }, { script: slow }));

  expect(await call()).toBe(200);
  await apply({ usd: 0.05, period: "total" });
  expect(await call()).toBe(200);
  await Promise.all(underWay.map(async (answer) => (await answer).text()));
  expect(await used()).toBeCloseTo(0.02, 9);
});

test("a key that moves to another group leaves its spending with the old group and uses the new group's budget", async () => {
  gateway = await startGateway({ models, reportThreads: true });
  for (let n = 0; n < 3; n++) expect(await call()).toBe(200);
  await apply(undefined, "other");
  expect([await call(), await call(), await call(), await call(), await call()]).toEqual([200, 200, 200, 200, 402]);
  expect(await used("group acme/other")).toBeCloseTo(0.02, 9);
});
