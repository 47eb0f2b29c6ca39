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

test("returns a message, with either credential header", async () => {
  const bearer = await gateway.post("/v1/messages?beta=true", hi, { headers: version, script: { tokens: 3 } });
  expect(bearer.status).toBe(200);
  const message = (await bearer.json()) as { type: string; model: string; usage: { output_tokens: number } };
  expect(message).toMatchObject({ type: "message", role: "assistant", usage: { output_tokens: 3 } });
  expect(bearer.headers.get("request-id")).toStartWith("req_");
  expect(bearer.headers.get("x-sluice-provider")).toBe("claude");
  expect(bearer.headers.get("anthropic-organization-id")).toBeNull();
});

test("passes the caller's version, betas, query and unknown fields", async () => {
  for (const date of ["2023-06-01", "2026-10-21"]) {
    const headers = { "anthropic-version": date, "anthropic-beta": "one-2026-01-01,two-2026-02-02", "x-app": "cli" };
    const body = { ...hi, context_management: { edits: [{ type: "new_thing" }] } };
    await gateway.post("/v1/messages?beta=true", body, { headers, script: { tokens: 1 } });
    const received = gateway.simulator.simulator.truth.list().data.at(-1);
    expect(received?.request_headers).toMatchObject(headers);
    expect(received?.query).toContain("beta=true");
    expect(JSON.parse(received?.body_text ?? "")).toEqual({ ...body, model: "upstream-claude" });
  }
});

test("writes one ledger entry with each class of cached input and the exact price", async () => {
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
  "leaves out `citations` in a text without citations, as clients expect (%s)",
  async (model) => {
    for (const stream of [false, true]) {
      const answer = await gateway.post("/v1/messages", { ...hi, model, stream }, { headers: version });
      const text = await answer.text();
      expect([answer.status, text.includes('"type":"text"'), text.includes("citations")]).toEqual([200, true, false]);
    }
  },
);
