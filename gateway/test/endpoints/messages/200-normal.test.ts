import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...claudeGateway,
    providers: (simulator) => [...(claudeGateway.providers?.(simulator) ?? []), upstream("open", simulator)],
    models: [...(claudeGateway.models ?? []), { name: "translated", deployments: [{ provider: "open" }] }],
  });
});
afterAll(() => gateway.stop());

test("a message is answered with the upstream's own bytes, with either credential header", async () => {
  const bearer = await gateway.post("/v1/messages?beta=true", hi, { headers: version, script: { tokens: 3 } });
  expect(bearer.status).toBe(200);
  const message = (await bearer.json()) as { type: string; model: string; usage: { output_tokens: number } };
  expect(message).toMatchObject({ type: "message", role: "assistant", usage: { output_tokens: 3 } });
  expect(bearer.headers.get("request-id")).toStartWith("req_");
  expect(bearer.headers.get("x-sluice-provider")).toBe("claude");
  expect(bearer.headers.get("anthropic-organization-id")).toBeNull();
});

test("both versions are passed on as the caller chose, with its betas, the query and unknown fields", async () => {
  for (const date of ["2023-06-01", "2026-10-21"]) {
    const headers = { "anthropic-version": date, "anthropic-beta": "one-2026-01-01,two-2026-02-02", "x-app": "cli" };
    const body = { ...hi, context_management: { edits: [{ type: "new_thing" }] } };
    await gateway.post("/v1/messages?beta=true", body, { headers, script: { tokens: 1 } });
    const seen = gateway.simulator.simulator.truth.list().data.at(-1);
    expect(seen?.request_headers).toMatchObject(headers);
    expect(seen?.query).toContain("beta=true");
    expect(JSON.parse(seen?.body_text ?? "")).toEqual({ ...body, model: "upstream-claude" });
  }
});

test("one ledger entry holds each class of cached input apart, exactly priced", async () => {
  await gateway.post("/v1/messages", hi, {
    headers: version,
    script: {
      tokens: 10,
      prompt_tokens: 1_000,
      cached_tokens: 600,
      cache_write_tokens: 200,
      cache_write_1h_tokens: 100,
    },
  });
  const [entry] = await gateway.entries();
  expect(entry?.usage).toMatchObject({
    inputUncached: 100,
    cacheRead: 600,
    cacheWrite5m: 200,
    cacheWrite1h: 100,
    output: 10,
  });
  expect(entry?.costNanoUsd).toBe(100 * 3_000 + 600 * 300 + 200 * 3_750 + 100 * 6_000 + 10 * 15_000);
  expect(entry).toMatchObject({ endpoint: "messages", callerDialect: "anthropic-messages", usageSource: "upstream" });
});

test.each(["translated", "claude-test"])(
  "a text without citations has no such member, as clients expect it (%s)",
  async (model) => {
    for (const stream of [false, true]) {
      const answer = await gateway.post("/v1/messages", { ...hi, model, stream }, { headers: version });
      const text = await answer.text();
      expect([answer.status, text.includes('"type":"text"'), text.includes("citations")]).toEqual([200, true, false]);
    }
  },
);
