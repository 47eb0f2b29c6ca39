import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const bob = "sk-bob-0123456789abcdefghijkl";
const colleague = "sk-colleague-0123456789abcdefg";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { settings: { forward_headers: ["x-sim-script", "x-idempotency-key"] } }),
      upstream("claude", simulator, { kind: "anthropic" }),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "up" }], fallbacks: ["spare"] },
      { name: "spare", deployments: [{ provider: "main", upstream_model: "up-spare" }] },
      { name: "claude", deployments: [{ provider: "claude" }] },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "colleague", secret: colleague },
    ],
    moreWorkspaces: [{ slug: "other", groups: [{ name: "default" }], keys: [{ name: "bob", secret: bob }] }],
  });
});
afterAll(() => gateway.stop());

/** The idempotency keys that the upstream received with each attempt of one call, in order. */
async function keysSent(key: string, idempotencyKey: string, options: { model?: string; script?: Script } = {}) {
  const response = await gateway.chat(
    { ...hello, model: options.model ?? "gpt-test" },
    {
      key,
      headers: { "idempotency-key": idempotencyKey, "x-idempotency-key": idempotencyKey },
      script: options.script ?? {},
    },
  );
  await response.text();
  const requestId = response.headers.get("x-request-id");
  const entries = (await gateway.entries()).filter((entry) => entry.requestId === requestId);
  return entries
    .toSorted((one, other) => one.retryIndex - other.retryIndex)
    .map(({ attemptId }) => gateway.simulator.simulator.truth.find(attemptId)?.request_headers ?? {});
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("keeps equal keys of two workspaces apart at a shared account", async () => {
  const [ofAlice] = await keysSent(aliceKey, "order-17");
  const [ofBob] = await keysSent(bob, "order-17");
  for (const name of ["idempotency-key", "x-idempotency-key"]) {
    expect(ofAlice?.[name]).toMatch(uuid);
    expect(ofBob?.[name]).toMatch(uuid);
    expect(ofAlice?.[name]).not.toBe(ofBob?.[name]);
  }
});

test("a repeated call has the same key with any API key of its workspace, and a different name gives a different key", async () => {
  const [first] = await keysSent(aliceKey, "order-18");
  const [again] = await keysSent(colleague, "order-18");
  const [other] = await keysSent(aliceKey, "order-19");
  expect(again?.["idempotency-key"]).toBe(first?.["idempotency-key"] ?? "");
  expect(other?.["idempotency-key"]).not.toBe(first?.["idempotency-key"]);
});

test("our retry of an attempt repeats its key, and a fallback to another model has its own", async () => {
  const keys = await keysSent(aliceKey, "order-20", { script: { name: "repeat", fail_first: 1, status: 500 } });
  expect(keys).toHaveLength(2);
  expect(keys[1]?.["idempotency-key"]).toBe(keys[0]?.["idempotency-key"] ?? "");
  const [original] = await keysSent(aliceKey, "order-21");
  const [spare] = await keysSent(aliceKey, "order-21", { model: "spare" });
  expect(spare?.["idempotency-key"]).toMatch(uuid);
  expect(spare?.["idempotency-key"]).not.toBe(original?.["idempotency-key"]);
});

test("the same applies to a translated call, and an empty key counts as none", async () => {
  const [sent] = await keysSent(aliceKey, "order-22", { model: "claude" });
  expect(sent?.["idempotency-key"]).toMatch(uuid);
  const [empty] = await keysSent(aliceKey, "");
  expect(empty).not.toHaveProperty("idempotency-key");
  expect(empty).not.toHaveProperty("x-idempotency-key");
});
