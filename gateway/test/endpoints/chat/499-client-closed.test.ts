import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { hello, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator), upstream("patient", simulator, { disconnect: "drain" })],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 1 } },
      { name: "gpt-drained", deployments: [{ provider: "patient" }], price: { input: 1, output: 1 } },
    ],
  });
});
afterAll(() => gateway.stop());

/** Resolves to the request's id. */
async function disconnectAfter(events: number, model: string, tokens: number): Promise<string> {
  const disconnect = new AbortController();
  const response = await gateway.chat(
    { ...hello, model, stream: true },
    { script: { tokens, event_ms: 20 }, signal: disconnect.signal },
  );
  const reader = response.body?.getReader();
  for (let read = 0; read < events; read++) await reader?.read();
  disconnect.abort();
  return response.headers.get("x-request-id") ?? "";
}

test("aborts the upstream when the caller disconnects, and charges what was delivered", async () => {
  const requestId = await disconnectAfter(5, "gpt-test", 60_000);
  const truth = gateway.simulator.simulator.truth;
  await until(() => (truth.list().data.at(-1)?.aborted_at ?? null) !== null);
  const upstreamCall = truth.list().data.at(-1);
  expect(upstreamCall?.terminal_sent).toBe(false);
  await until(async () => (await gateway.entries()).some((entry) => entry.requestId === requestId));
  const entry = (await gateway.entries()).find((each) => each.requestId === requestId);
  expect(entry).toMatchObject({
    outcome: "cancelled",
    errorCode: "client_closed",
    httpStatus: 499,
    usageSource: "estimated",
  });
  expect(entry?.usage.output).toBeGreaterThanOrEqual(3);
  expect(entry?.usage.output).toBeLessThanOrEqual(upstreamCall?.output_tokens_emitted ?? 0);
});

test("reads the upstream to its end with `disconnect: drain`, and records the upstream's usage", async () => {
  const requestId = await disconnectAfter(3, "gpt-drained", 60);
  await until(async () => (await gateway.entries()).some((entry) => entry.requestId === requestId));
  const entry = (await gateway.entries()).find((each) => each.requestId === requestId);
  expect(entry).toMatchObject({ outcome: "cancelled", usageSource: "upstream" });
  expect(entry?.usage.output).toBe(60);
});

test("stops the upstream, frees all reservations and charges the input when the caller disconnects before the answer", async () => {
  const disconnect = new AbortController();
  const call = gateway.chat(hello, { script: { latency_ms: 600_000 }, signal: disconnect.signal }).catch(() => "gone");
  const before = (await gateway.entries()).length;
  await until(() => gateway.simulator.simulator.truth.list().in_flight > 0);
  disconnect.abort();
  expect(await call).toBe("gone");
  await until(async () => (await gateway.entries()).length > before);
  expect((await gateway.entries())[0]).toMatchObject({
    outcome: "cancelled",
    usageSource: "estimated",
    usage: { output: 0 },
  });
  expect((await gateway.entries())[0]?.costNanoUsd).toBeGreaterThan(0);
  await until(() => gateway.simulator.simulator.truth.list().in_flight === 0);
  expect(gateway.gateway.outstanding()).toBe(0);
});
