import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { hi } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("cloud", simulator, { kind: "vertex", settings: { project: "proj" } }),
      upstream("other", simulator),
    ],
    models: [
      { name: "claude-test", deployments: [{ provider: "claude", upstream_model: "claude-sonnet-4-5" }] },
      { name: "cloud-test", deployments: [{ provider: "cloud", upstream_model: "claude-sonnet-4-5" }] },
      { name: "gpt-test", deployments: [{ provider: "other", upstream_model: "upstream-gpt" }] },
    ],
  });
});
afterAll(() => gateway.stop());

const call = (headers: Record<string, string>, model = "claude-test", path = "/v1/messages") =>
  gateway.post(path, { ...hi, model }, { key: null, headers: { "x-api-key": aliceKey, ...headers } });
const lastUpstream = () => {
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  const { "acme-version": acme, "anthropic-version": anthropic } = received?.request_headers ?? {};
  return { acme, anthropic, body: received?.body_text ?? "" };
};

describe.each(["/v1/messages", "/v1/messages/count_tokens"])("at %s", (path) => {
  test("accepts any vendor's version, passes it on, and adds the upstream's own version", async () => {
    expect((await call({ "acme-version": "2025-11-30" }, "claude-test", path)).status).toBe(200);
    expect(lastUpstream()).toMatchObject({ acme: "2025-11-30", anthropic: "2023-06-01" });
  });

  test("passes both versions as the caller set them", async () => {
    const chosen = { "acme-version": "2025-11-30", "anthropic-version": "2026-10-21" };
    expect((await call(chosen, "claude-test", path)).status).toBe(200);
    expect(lastUpstream()).toMatchObject({ acme: "2025-11-30", anthropic: "2026-10-21" });
  });
});

test("does not forward a client's program version", async () => {
  expect((await call({ "acme-version": "1.4.2", "anthropic-version": "2023-06-01" })).status).toBe(200);
  expect(lastUpstream()).toMatchObject({ acme: undefined, anthropic: "2023-06-01" });
});

test("puts Anthropic's version into the body for a cloud that expects it there", async () => {
  expect((await call({ "acme-version": "2025-11-30" }, "cloud-test")).status).toBe(200);
  expect(lastUpstream()).toMatchObject({ acme: "2025-11-30", anthropic: undefined });
  expect(lastUpstream().body).toContain('"anthropic_version":"vertex-2023-10-16"');
});

test("sends another dialect's upstream the vendor's version, but none of Anthropic's", async () => {
  expect((await call({ "acme-version": "2025-11-30" }, "gpt-test")).status).toBe(200);
  expect(lastUpstream()).toMatchObject({ acme: "2025-11-30", anthropic: undefined });
});

test("does not forward a vendor's version on other endpoints", async () => {
  const { model, messages } = { ...hi, model: "gpt-test" };
  expect((await gateway.chat({ model, messages }, { headers: { "acme-version": "2025-11-30" } })).status).toBe(200);
  expect(lastUpstream().acme).toBeUndefined();
});
