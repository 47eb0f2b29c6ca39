import { describe, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { aliceKey, hello, type Overrides, startGateway, upstream } from "../started-gateway.ts";
import { explanationOf, rowsIn, twoAccounts } from "./ground.ts";

const capped = { ...hello, max_tokens: 5 };
const priced = [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 10 } }];
const key = (more: object) => ({ keys: [{ name: "alice", secret: aliceKey, ...more }] });

describe("a call that a limit refuses is explained with the limit's details", () => {
  const limits: [string, Overrides, object][] = [
    [
      "rpm of the key",
      key({ limits: { rpm: 1 } }),
      { code: "rate_limit_exceeded", scope: "rpm of key acme/alice", limit: 1, used: 1 },
    ],
    [
      "tpm of the group",
      { workspace: { groups: [{ name: "default", limits: { tpm: 10 } }] } },
      { code: "rate_limit_exceeded", scope: "tpm of group acme/default", limit: 10 },
    ],
    [
      "rpm of the workspace",
      { workspace: { limits: { rpm: 1 } } },
      { code: "rate_limit_exceeded", scope: "rpm of workspace acme", limit: 1, used: 1 },
    ],
    [
      "budget of the key",
      { ...key({ budget: { usd: 0.00006, period: "month" } }), models: priced },
      { code: "budget_exceeded", scope: "key acme/alice, per month", limit: 0.00006, used: 0.00005 },
    ],
    [
      "budget of the workspace",
      { workspace: { budget: { usd: 0.00006, period: "day" } }, models: priced },
      { code: "budget_exceeded", scope: "workspace acme, per day", limit: 0.00006, used: 0.00005 },
    ],
  ];

  test.each(limits)("%s", async (_title, overrides, refusal) => {
    const gateway = await startGateway(overrides);
    try {
      expect((await gateway.chat(capped, { script: { tokens: 5 } })).status).toBe(200);
      const asked = Date.now();
      const explanation = await explanationOf(gateway, await gateway.chat(capped, { script: { tokens: 5 } }));
      expect(explanation?.refusal).toMatchObject({ ...refusal, message: expect.stringMatching(/limit|budget/i) });
      expect(explanation?.refusal?.resets_at).toBeGreaterThan(asked);
      expect(explanation?.plan).toMatchObject([{ provider: "main", model: "gpt-test", note: null }]);
      expect(explanation?.failures).toEqual([]);
      expect(await rowsIn(gateway)).toEqual({ explanations: 1, captures: 0 });
    } finally {
      await gateway.stop();
    }
  });

  test("calls at the same time", async () => {
    const gateway = await startGateway(key({ limits: { concurrency: 1 } }));
    try {
      const leaving = new AbortController();
      const slow = gateway.chat(hello, { script: { latency_ms: 600_000, tokens: 1 }, signal: leaving.signal });
      await until(() => gateway.simulator.simulator.truth.list().in_flight === 1);
      const explanation = await explanationOf(gateway, await gateway.chat(hello));
      expect(explanation?.refusal).toMatchObject({ scope: "concurrency of key acme/alice", limit: 1, used: 1 });
      leaving.abort();
      await slow.catch(() => undefined);
    } finally {
      await gateway.stop();
    }
  });

  test("a budget in total has no time at which it is new again", async () => {
    const gateway = await startGateway({ ...key({ budget: { usd: 0.00001, period: "total" } }), models: priced });
    try {
      const explanation = await explanationOf(gateway, await gateway.chat(capped));
      expect(explanation?.refusal).toMatchObject({ code: "budget_exceeded", resets_at: null, used: 0 });
    } finally {
      await gateway.stop();
    }
  });
});

describe("a call that is refused before anything is sent", () => {
  test("is told who does not grant the model, but not whether there is such a model", async () => {
    const gateway = await startGateway({
      models: [
        { name: "gpt-test", deployments: [{ provider: "main" }] },
        { name: "secret-model", deployments: [{ provider: "main" }] },
        { name: "group-model", deployments: [{ provider: "main" }] },
      ],
      workspace: { models: ["gpt-*", "group-*", "key-*"], groups: [{ name: "default", models: ["gpt-*", "key-*"] }] },
      ...key({ models: ["gpt-*"] }),
    });
    const why = async (model: string) => {
      const response = await gateway.chat({ ...hello, model });
      expect(response.status).toBe(404);
      return (await explanationOf(gateway, response))?.refusal;
    };
    try {
      const refused = { code: "model_not_found", scope: null, limit: null, used: null, resets_at: null };
      const there = await why("secret-model");
      expect(there).toEqual({ ...refused, message: 'The workspace acme is not granted the model "secret-model".' });
      const missing = await why("secret-modem");
      expect(missing?.message).toBe('The workspace acme is not granted the model "secret-modem".');
      expect((await why("group-model"))?.message).toContain("The group default is not granted");
      expect((await why("key-model"))?.message).toContain("The key alice is not granted");
      expect((await why("gpt-5"))?.message).toBe('There is no model called "gpt-5".');
    } finally {
      await gateway.stop();
    }
  });

  test("because nothing serves its endpoint, or nothing is switched on, shows every deployment and why not", async () => {
    const gateway = await startGateway({
      providers: (simulator) => [upstream("main", simulator), upstream("claude", simulator, { kind: "anthropic" })],
      models: [
        { name: "gpt-test", deployments: [{ provider: "main", enabled: false }] },
        { name: "claude-test", deployments: [{ provider: "claude" }] },
      ],
    });
    try {
      const off = await explanationOf(gateway, await gateway.chat(hello));
      expect(off?.refusal).toMatchObject({ code: "no_deployment_available" });
      expect(off?.plan).toMatchObject([{ provider: "main", note: "left out: disabled" }]);
      const response = await gateway.post("/v1/embeddings", { model: "claude-test", input: "x" });
      const unsuited = await explanationOf(gateway, response);
      expect(unsuited?.refusal).toMatchObject({ code: "unsupported_by_model" });
      expect(unsuited?.plan).toMatchObject([{ provider: "claude", note: "left out: it cannot serve this call" }]);
    } finally {
      await gateway.stop();
    }
  });

  test("shows the plan as it would have been walked, in order", async () => {
    const gateway = await startGateway({ ...twoAccounts(), ...key({ limits: { rpm: 1 } }) });
    try {
      await gateway.chat(hello, { script: { tokens: 1 } });
      const explanation = await explanationOf(gateway, await gateway.chat(hello));
      expect(explanation?.plan.map(({ provider, priority }) => [provider, priority])).toEqual([
        ["main", 1],
        ["spare", 2],
      ]);
      expect(explanation?.walk).toEqual([]);
    } finally {
      await gateway.stop();
    }
  });

  test("goes on from an answer that nobody here made", async () => {
    const gateway = await startGateway();
    try {
      const body = { model: "gpt-test", input: "go on", previous_response_id: "resp_unknown" };
      const explanation = await explanationOf(gateway, await gateway.post("/v1/responses", body));
      expect(explanation).toMatchObject({
        plan: [],
        refusal: { code: "invalid_request", message: expect.stringContaining("resp_unknown") },
      });
    } finally {
      await gateway.stop();
    }
  });
});
