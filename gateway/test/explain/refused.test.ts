import { describe, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { aliceKey, hello, type Overrides, startGateway, upstream } from "../started-gateway.ts";
import { explanationOf, rowsIn, twoAccounts } from "./fixture.ts";

const capped = { ...hello, max_tokens: 5 };
const priced = [{ name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 0, output: 10 } }];
const key = (more: object) => ({ keys: [{ name: "alice", secret: aliceKey, ...more }] });

describe("explains a call that a limit refuses with the details of the limit", () => {
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
      const startedAt = Date.now();
      const explanation = await explanationOf(gateway, await gateway.chat(capped, { script: { tokens: 5 } }));
      expect(explanation?.refusal).toMatchObject({ ...refusal, message: expect.stringMatching(/limit|budget/i) });
      expect(explanation?.refusal?.resets_at).toBeGreaterThan(startedAt);
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
      expect(explanation?.refusal?.reached).toMatchObject({ scope: "key", kind: "concurrency" });
      leaving.abort();
      await slow.catch(() => undefined);
    } finally {
      await gateway.stop();
    }
  });

  test("a total budget has no reset time", async () => {
    const gateway = await startGateway({ ...key({ budget: { usd: 0.00001, period: "total" } }), models: priced });
    try {
      const explanation = await explanationOf(gateway, await gateway.chat(capped));
      expect(explanation?.refusal).toMatchObject({ code: "budget_exceeded", resets_at: null, used: 0 });
      expect(explanation?.refusal?.reached).toMatchObject({ scope: "key", kind: "budget" });
    } finally {
      await gateway.stop();
    }
  });
});

describe("explains a call that is refused before anything is sent", () => {
  test("with who does not grant the model, but not whether it exists", async () => {
    const gateway = await startGateway({
      models: [
        { name: "gpt-test", deployments: [{ provider: "main" }] },
        { name: "secret-model", deployments: [{ provider: "main" }] },
        { name: "group-model", deployments: [{ provider: "main" }] },
      ],
      workspace: { models: ["gpt-*", "group-*", "key-*"], groups: [{ name: "default", models: ["gpt-*", "key-*"] }] },
      ...key({ models: ["gpt-*"] }),
    });
    const refusalOf = async (model: string) => {
      const response = await gateway.chat({ ...hello, model });
      expect(response.status).toBe(404);
      return (await explanationOf(gateway, response))?.refusal;
    };
    try {
      const noLimit = { code: "model_not_found", scope: null, limit: null, used: null, resets_at: null, reached: null };
      const existing = await refusalOf("secret-model");
      expect(existing).toEqual({ ...noLimit, message: 'The workspace acme is not granted the model "secret-model".' });
      const missing = await refusalOf("secret-modem");
      expect(missing?.message).toBe('The workspace acme is not granted the model "secret-modem".');
      expect((await refusalOf("group-model"))?.message).toContain("The group default is not granted");
      expect((await refusalOf("key-model"))?.message).toContain("The key alice is not granted");
      expect((await refusalOf("gpt-5"))?.message).toBe('There is no model called "gpt-5".');
    } finally {
      await gateway.stop();
    }
  });

  test("with every deployment and the reason if none is enabled or serves the endpoint", async () => {
    const gateway = await startGateway({
      providers: (simulator) => [upstream("main", simulator), upstream("claude", simulator, { kind: "anthropic" })],
      models: [
        { name: "gpt-test", deployments: [{ provider: "main", enabled: false }] },
        { name: "claude-test", deployments: [{ provider: "claude" }] },
      ],
    });
    try {
      const disabled = await explanationOf(gateway, await gateway.chat(hello));
      expect(disabled?.refusal).toMatchObject({ code: "no_deployment_available" });
      expect(disabled?.plan).toMatchObject([{ provider: "main", note: "left out: disabled" }]);
      const response = await gateway.post("/v1/embeddings", { model: "claude-test", input: "x" });
      const unsuited = await explanationOf(gateway, response);
      expect(unsuited?.refusal).toMatchObject({ code: "unsupported_by_model" });
      expect(unsuited?.plan).toMatchObject([{ provider: "claude", note: "left out: it cannot serve this call" }]);
    } finally {
      await gateway.stop();
    }
  });

  test("with the plan in its order", async () => {
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

  test("when it continues an unknown response", async () => {
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
