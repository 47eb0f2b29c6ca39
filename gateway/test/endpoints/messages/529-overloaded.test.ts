import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    ...claudeGateway,
    providers: (simulator) => [
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("open", simulator),
      upstream("google", simulator, { kind: "gemini", base_url: `${new URL(simulator.url).origin}/v1beta` }),
    ],
    models: [
      ...(claudeGateway.models ?? []),
      { name: "open", deployments: [{ provider: "open" }] },
      { name: "claude-translated", deployments: [{ provider: "claude", upstream_model: "busy-claude" }] },
      { name: "google", deployments: [{ provider: "google", upstream_model: "gemini-2.5-up" }] },
    ],
  });
});
afterAll(() => gateway.stop());

const messageWithSecrets = "Overloaded: org-Abcdef123456 at 10.1.2.3 behind sk-upstream-of-claude";
const overload = (status: number, more: object = {}) => ({
  script: {
    status,
    body: JSON.stringify({ type: "error", error: { type: "overloaded_error", message: messageWithSecrets } }),
    ...more,
  },
});

test.each([529, 503])(
  "returns an overload of %d as 529 with its type, and without details of the account",
  async (status) => {
    for (const stream of [false, true]) {
      const response = await gateway.post("/v1/messages", { ...hi, stream }, { headers: version, ...overload(status) });
      const body = await response.json();
      expect([response.status, body]).toEqual([
        529,
        {
          type: "error",
          error: { type: "overloaded_error", message: "The upstream is overloaded." },
          request_id: response.headers.get("x-request-id"),
        },
      ]);
    }
    const [entry] = await gateway.entries();
    expect([entry?.httpStatus, entry?.usageSource, entry?.costNanoUsd]).toEqual([529, "none", 0]);
  },
);

test("returns 529 when a stream begins with an overload error", async () => {
  const script = { error_event_after: 0, error_code: "overloaded_error" };
  const response = await gateway.post("/v1/messages", { ...hi, stream: true }, { headers: version, script });
  expect([response.status, await response.json()]).toMatchObject([529, { error: { type: "overloaded_error" } }]);
});

test("passes the upstream's Retry-After", async () => {
  const { script } = overload(529, { retry_after: 30 });
  const response = await gateway.post("/v1/messages", hi, { headers: version, script });
  expect([response.status, response.headers.get("retry-after")]).toEqual([529, "30"]);
});

test.each([
  ["open", 503],
  ["google", 503],
  ["claude-translated", 529],
])("returns an overload of %s (%d) as 503 to callers of chat completions", async (model, status) => {
  const script = { status, body: '{"error":"x"}' };
  // The caller's script header does not reach an upstream of another dialect.
  gateway.simulator.simulator.addPreset({ script, count: null, model: "busy-claude" });
  const response = await gateway.chat({ model, messages: hi.messages }, { script });
  expect([response.status, await response.json()]).toEqual([
    503,
    { error: { message: "The upstream is overloaded.", type: "server_error", param: null, code: "overloaded" } },
  ]);
});

test.each([500, 502, 504])("returns another upstream error (%d) as 502", async (status) => {
  const response = await gateway.post("/v1/messages", hi, { headers: version, ...overload(status) });
  expect([response.status, await response.json()]).toMatchObject([502, { error: { type: "api_error" } }]);
});
