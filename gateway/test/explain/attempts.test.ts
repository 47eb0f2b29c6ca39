import { describe, expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { explanationOf, rowsIn, twoAccounts } from "./fixture.ts";

async function inGateway(
  overrides: Parameters<typeof startGateway>[0],
  check: (gateway: StartedGateway) => Promise<void>,
) {
  const gateway = await startGateway(overrides);
  try {
    await check(gateway);
  } finally {
    await gateway.stop();
  }
}

/** The attempts in the ledger in order. */
async function attemptIds(gateway: StartedGateway): Promise<readonly string[]> {
  return [...(await gateway.entries())].sort((a, b) => a.retryIndex - b.retryIndex).map(({ attemptId }) => attemptId);
}

describe("explains a call that was", () => {
  test("served by another deployment, with the failure and the order", () =>
    inGateway(twoAccounts({ status: 500, error_message: "the vendor is on fire" }), async (gateway) => {
      const explanation = await explanationOf(gateway, await gateway.chat(hello, { script: { tokens: 2 } }));
      const [failed] = await attemptIds(gateway);
      expect(explanation?.plan).toMatchObject([
        { provider: "main", model: "gpt-test", priority: 1, weight: 100, note: null },
        { provider: "spare", model: "gpt-test", upstream_model: "up", priority: 2, weight: 100, note: null },
      ]);
      expect(explanation?.failures).toEqual([
        {
          attempt_id: failed ?? "",
          code: "upstream_error",
          message: "The upstream answered 500. It said: the vendor is on fire",
          retry: "same",
        },
      ]);
      expect(explanation?.refusal).toBeNull();
      expect(explanation?.walk).toMatchObject([
        expect.stringMatching(/^attempt 1 to .*: first in order$/),
        expect.stringMatching(/ failed: upstream_error, retry same$/),
        expect.stringMatching(/^attempt 2 to .*: next in order$/),
      ]);
      expect(explanation?.plan).toMatchObject([{ reasons: [] }, { reasons: [] }]);
      const [main, spare] = explanation?.plan.map(({ deployment }) => deployment) ?? [];
      expect(explanation?.steps).toEqual([
        { code: "try_first", params: { attempt: 1, deployment: main ?? "" } },
        { code: "failed", params: { deployment: main ?? "", code: "upstream_error", retry: "same" } },
        { code: "try_next", params: { attempt: 2, deployment: spare ?? "" } },
      ]);
    }));

  test("tried again at its only deployment, with each failure and the delay", () =>
    inGateway({}, async (gateway) => {
      const script = { name: "again", fail_first: 1, status: 503, tokens: 1 };
      const explanation = await explanationOf(gateway, await gateway.chat(hello, { script }));
      expect(explanation?.failures).toMatchObject([{ code: "upstream_error", retry: "same" }]);
      expect(explanation?.walk?.at(-1)).toMatch(/^attempt 2 to .*: the same again after \d+ ms$/);
    }));

  test("lost during sending and not sent again, with the reason", () =>
    inGateway(twoAccounts(), async (gateway) => {
      const explanation = await explanationOf(gateway, await gateway.chat(hello, { script: { drop: true } }));
      expect(explanation?.failures).toMatchObject([{ code: "upstream_unreachable", retry: "never" }]);
      expect(explanation?.walk?.at(-1)).toBe(
        "no further attempt: the call was sent, and sending it again may be charged twice (settings.retry_sent)",
      );
    }));

  test("failed by every deployment, with one failure for each attempt in the ledger", () =>
    inGateway(twoAccounts(), async (gateway) => {
      const explanation = await explanationOf(gateway, await gateway.chat(hello, { script: { status: 500 } }));
      expect(explanation?.failures.map(({ attempt_id }) => attempt_id)).toEqual([...(await attemptIds(gateway))]);
      expect(explanation?.failures.length).toBeGreaterThan(1);
      expect(explanation?.refusal).toBeNull();
      expect(explanation?.walk?.at(-1)).toStartWith("no further attempt");
    }));

  test("refused by its upstream, with the upstream's message", () =>
    inGateway({}, async (gateway) => {
      const script = { status: 400, error_message: "temperature must be at most 2" };
      const explanation = await explanationOf(gateway, await gateway.chat(hello, { script }));
      expect(explanation?.failures).toMatchObject([
        { retry: "never", message: "The upstream answered 400. It said: temperature must be at most 2" },
      ]);
    }));

  test("cut in the middle of its stream", () =>
    inGateway({}, async (gateway) => {
      const script = { cut_after_events: 3, tokens: 10 };
      const explanation = await explanationOf(gateway, await gateway.chat({ ...hello, stream: true }, { script }));
      expect(explanation?.failures).toMatchObject([{ code: "upstream_truncated" }]);
    }));
});

describe("adds a note to a deployment that is skipped", () => {
  test("because its upstream sent Retry-After", () =>
    inGateway(twoAccounts({ status: 429, retry_after: 60 }), async (gateway) => {
      await gateway.chat(hello);
      const explanation = await explanationOf(gateway, await gateway.chat(hello));
      expect(explanation?.plan).toMatchObject([
        { provider: "spare", note: null },
        { provider: "main", note: expect.stringMatching(/^cooling for [\d.]+ s: its upstream asked to wait$/) },
      ]);
      expect(explanation?.failures).toEqual([]);
    }));

  test("because its breaker is open", () =>
    inGateway(twoAccounts({ status: 500 }), async (gateway) => {
      for (let call = 0; call < 5; call++) await (await gateway.chat(hello)).arrayBuffer();
      const explanation = await explanationOf(gateway, await gateway.chat(hello));
      expect(explanation?.plan).toMatchObject([
        { provider: "spare" },
        { provider: "main", note: expect.stringMatching(/^breaker open for [\d.]+ s: 5 failures in a row$/) },
      ]);
    }));

  test("because another account stores the previous response", () =>
    inGateway(
      {
        providers: (simulator) => [
          upstream("main", simulator, { kind: "openai" }),
          upstream("spare", simulator, { kind: "openai" }),
        ],
        models: [{ name: "gpt-test", deployments: [{ provider: "main" }, { provider: "spare" }] }],
      },
      async (gateway) => {
        const first = await gateway.post("/v1/responses", { model: "gpt-test", input: "hello", store: true });
        const responseOwner = first.headers.get("x-sluice-provider");
        const { id } = (await first.json()) as { id: string };
        const next = { model: "gpt-test", input: "go on", previous_response_id: id };
        const explanation = await explanationOf(gateway, await gateway.post("/v1/responses", next));
        expect(explanation?.plan).toMatchObject([
          { provider: responseOwner, note: "only this account has the state that the call continues" },
          { note: "left out: another account has the state that the call continues" },
        ]);
      },
    ));

  test("because calls of its conversation go elsewhere", () =>
    inGateway(
      {
        providers: (simulator) => [upstream("main", simulator), upstream("spare", simulator)],
        models: [{ name: "gpt-test", deployments: [{ provider: "main" }, { provider: "spare" }] }],
      },
      async (gateway) => {
        const talk = { ...hello, prompt_cache_key: "one conversation" };
        const explanation = await explanationOf(gateway, await gateway.chat(talk));
        expect(explanation?.plan[0]?.note).toBe("affinity: preferred for this conversation, first of 2");
        expect(explanation?.plan[0]?.reasons).toEqual([{ code: "affinity", params: { count: 2 } }]);
      },
    ));
});

test("shows a long plan only up to its bound", () =>
  inGateway(
    {
      models: [
        {
          name: "gpt-test",
          deployments: Array.from({ length: 60 }, (_, at) => ({ provider: "main", upstream_model: `up-${at}` })),
        },
      ],
    },
    async (gateway) => {
      const explanation = await explanationOf(gateway, await gateway.chat(hello, { script: { tokens: 1 } }));
      expect(explanation?.plan).toHaveLength(bounds.explainPlacesMax);
      expect(explanation?.walk?.[0]).toBe("28 more deployments are not shown");
    },
  ));

test("stores nothing for a call that its only deployment answers or that its caller cancels", () =>
  inGateway({}, async (gateway) => {
    await (await gateway.chat(hello, { script: { tokens: 1 } })).arrayBuffer();
    await (await gateway.chat({ ...hello, stream: true }, { script: { tokens: 3 } })).arrayBuffer();
    const leaving = new AbortController();
    const abandoned = gateway.chat(
      { ...hello, stream: true },
      { script: { latency_ms: 600_000 }, signal: leaving.signal },
    );
    await until(() => gateway.simulator.simulator.truth.list().in_flight === 1);
    leaving.abort();
    await abandoned.catch(() => undefined);
    await until(async () => (await gateway.entries()).length === 3);
    expect(await rowsIn(gateway)).toEqual({ explanations: 0, captures: 0 });
    const metrics = await (await gateway.get("/metrics")).text();
    expect(metrics).toContain("\nsluice_explanations_dropped_total 0\n");
    expect(metrics).toContain("\nsluice_captures_dropped_total 0\n");
  }));
