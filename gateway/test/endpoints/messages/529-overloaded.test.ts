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

const telling = "Overloaded: org-Abcdef123456 at 10.1.2.3 behind sk-upstream-of-claude";
const overload = (status: number, more: object = {}) => ({
  script: {
    status,
    body: JSON.stringify({ type: "error", error: { type: "overloaded_error", message: telling } }),
    ...more,
  },
});

test.each([529, 503])(
  "an overload of %d comes to the caller as 529 with its type, and no word of the account",
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

test("an overload that a stream begins with comes as 529 too, whatever the upstream's status was", async () => {
  const script = { error_event_after: 0, error_code: "overloaded_error" };
  const response = await gateway.post("/v1/messages", { ...hi, stream: true }, { headers: version, script });
  expect([response.status, await response.json()]).toMatchObject([529, { error: { type: "overloaded_error" } }]);
});

test("how long to wait is passed on", async () => {
  const { script } = overload(529, { retry_after: 30 });
  const response = await gateway.post("/v1/messages", hi, { headers: version, script });
  expect([response.status, response.headers.get("retry-after")]).toEqual([529, "30"]);
});

test.each([
  ["open", 503],
  ["google", 503],
  ["claude-translated", 529],
])("callers of chat completions hear of an overload of %s (%d) as 503", async (model, status) => {
  const script = { status, body: '{"error":"x"}' };
  // What a caller tells the upstream is not passed on to one of another dialect.
  gateway.simulator.simulator.addPreset({ script, count: null, model: "busy-claude" });
  const response = await gateway.chat({ model, messages: hi.messages }, { script });
  expect([response.status, await response.json()]).toEqual([
    503,
    { error: { message: "The upstream is overloaded.", type: "server_error", param: null, code: "overloaded" } },
  ]);
});

test.each([500, 502, 504])("another error of the upstream (%d) stays a 502", async (status) => {
  const response = await gateway.post("/v1/messages", hi, { headers: version, ...overload(status) });
  expect([response.status, await response.json()]).toMatchObject([502, { error: { type: "api_error" } }]);
});
