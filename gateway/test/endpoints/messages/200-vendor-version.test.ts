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
const arrived = () => {
  const seen = gateway.simulator.simulator.truth.list().data.at(-1);
  const { "acme-version": acme, "anthropic-version": anthropic } = seen?.request_headers ?? {};
  return { acme, anthropic, body: seen?.body_text ?? "" };
};

describe.each(["/v1/messages", "/v1/messages/count_tokens"])("at %s", (path) => {
  test("any vendor's version will do, goes on as it is, and the upstream's own is put beside it", async () => {
    expect((await call({ "acme-version": "2025-11-30" }, "claude-test", path)).status).toBe(200);
    expect(arrived()).toMatchObject({ acme: "2025-11-30", anthropic: "2023-06-01" });
  });

  test("both are passed on as the caller chose them", async () => {
    const chosen = { "acme-version": "2025-11-30", "anthropic-version": "2026-10-21" };
    expect((await call(chosen, "claude-test", path)).status).toBe(200);
    expect(arrived()).toMatchObject({ acme: "2025-11-30", anthropic: "2026-10-21" });
  });
});

test("a client's own version beside one of those is none of them, and stays here", async () => {
  expect((await call({ "acme-version": "1.4.2", "anthropic-version": "2023-06-01" })).status).toBe(200);
  expect(arrived()).toMatchObject({ acme: undefined, anthropic: "2023-06-01" });
});

test("a cloud that has the version in its body gets it there", async () => {
  expect((await call({ "acme-version": "2025-11-30" }, "cloud-test")).status).toBe(200);
  expect(arrived()).toMatchObject({ acme: "2025-11-30", anthropic: undefined });
  expect(arrived().body).toContain('"anthropic_version":"vertex-2023-10-16"');
});

test("an upstream of another dialect gets it too, and no version of Anthropic's", async () => {
  expect((await call({ "acme-version": "2025-11-30" }, "gpt-test")).status).toBe(200);
  expect(arrived()).toMatchObject({ acme: "2025-11-30", anthropic: undefined });
});

test("at other endpoints a vendor's version is no business of the upstream's", async () => {
  const { model, messages } = { ...hi, model: "gpt-test" };
  expect((await gateway.chat({ model, messages }, { headers: { "acme-version": "2025-11-30" } })).status).toBe(200);
  expect(arrived().acme).toBeUndefined();
});
