import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../until.ts";
import { chat } from "./chat-call.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

let setup: TestSetup;
beforeAll(async () => {
  setup = await openSetup();
});
afterAll(() => setup?.close());

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
  readonly status?: number;
  readonly error?: string;
}

/** Waits for a request's line in the access log. */
function lineOf(requestId: string): Promise<Line> {
  return until(() => {
    const lines = setup.gateway.output().split("\n");
    const line = lines.find((each) => each.includes('"msg":"request"') && each.includes(requestId));
    return line === undefined ? null : (JSON.parse(line) as Line);
  });
}

const canary = "sk-canary-4f1e8d2c9b7a6053";
const bearer = { authorization: `Bearer ${keys.main}` };
const json = { ...bearer, "content-type": "application/json" };
const send = (path: string, init: RequestInit = {}) => fetch(`${setup.gateway.url}${path}`, init);

const refusals: readonly (readonly [number, string, () => Promise<Response>])[] = [
  [401, "invalid_api_key", () => send("/v1/models")],
  [401, "invalid_api_key", () => send("/v1/models", { headers: { authorization: `Bearer ${canary}` } })],
  [401, "invalid_api_key", () => send(`/v1/models?key=${canary}`)],
  [400, "invalid_json", () => send("/v1/chat/completions", { method: "POST", headers: json, body: "{" })],
  [404, "not_found", () => send(`/v1/nothing/${canary}`, { headers: bearer })],
  [404, "model_not_found", () => chat(setup.gateway.url, { model: canary })],
  [405, "method_not_allowed", () => send("/v1/chat/completions", { method: "DELETE", headers: bearer })],
  [400, "invalid_request", () => send("/v1/models/..%2f..%2fmetrics", { headers: bearer })],
  [
    415,
    "unsupported_media_type",
    () =>
      send("/v1/chat/completions", {
        method: "POST",
        headers: { ...bearer, "content-type": "text/plain" },
        body: "text",
      }),
  ],
  [
    413,
    "request_too_large",
    () => send("/v1/chat/completions", { method: "POST", headers: json, body: new Uint8Array(65 * 1024 * 1024) }),
  ],
  [404, "not_found", () => send("/api/nothing")],
  [401, "not_signed_in", () => send("/api/workspaces")],
];

test("logs every refusal with its request id and without the refused content", async () => {
  for (const [status, error, send] of refusals) {
    const answer = await send();
    await answer.arrayBuffer();
    expect(answer.status).toBe(status);
    const line = await lineOf(answer.headers.get("x-request-id") ?? "no request id");
    expect(line).toMatchObject({ level: "info", status, address: "127.0.0.1" });
    expect(line.error).toBe(error);
  }
  expect(setup.gateway.output()).not.toContain("canary");
});

test("logs answers and upstream errors with key, model and status; a stream once its last byte is sent", async () => {
  const whole = await chat(setup.gateway.url, {});
  const expected = { route: "chat", method: "POST", key: expect.stringMatching(/^sk-/), model: "gpt-test" };
  expect(await lineOf(whole.headers.get("x-request-id") ?? "")).toMatchObject({ status: 200, ...expected });
  const failed = await chat(setup.gateway.url, { script: { status: 500 } });
  const line = await lineOf(failed.headers.get("x-request-id") ?? "");
  expect(line).toMatchObject({ level: "warn", status: failed.status, ...expected });
  expect(line.error).toBe("upstream_error");
  const stream = await chat(setup.gateway.url, { stream: true });
  await stream.text();
  expect(await lineOf(stream.headers.get("x-request-id") ?? "")).toMatchObject({ status: 200, ...expected });
  for (const line of setup.gateway.output().split("\n")) expect(line).not.toContain(keys.main);
});

test("logs the start, a reload and the shutdown", async () => {
  setup.gateway.reload();
  await until(() => setup.gateway.output().includes("configuration reloaded") || null);
  expect(await setup.gateway.stop()).toBe(0);
  const output = setup.gateway.output();
  for (const part of ["gateway ready", "shutting down", "draining: refusing new calls", "shutdown complete"]) {
    expect(output).toContain(part);
  }
});
