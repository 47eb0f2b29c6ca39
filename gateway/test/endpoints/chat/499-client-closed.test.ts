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

/** Resolves to the id of the request. */
async function leaveAfter(events: number, model: string, tokens: number): Promise<string> {
  const leaving = new AbortController();
  const response = await gateway.chat(
    { ...hello, model, stream: true },
    { script: { tokens, event_ms: 20 }, signal: leaving.signal },
  );
  const reader = response.body?.getReader();
  for (let seen = 0; seen < events; seen++) await reader?.read();
  leaving.abort();
  return response.headers.get("x-request-id") ?? "";
}

test("a caller that goes away mid-stream stops the upstream, and what was seen is paid", async () => {
  const requestId = await leaveAfter(5, "gpt-test", 60_000);
  const truth = gateway.simulator.simulator.truth;
  await until(() => (truth.list().data.at(-1)?.aborted_at ?? null) !== null);
  const seen = truth.list().data.at(-1);
  expect(seen?.terminal_sent).toBe(false);
  await until(async () => (await gateway.entries()).some((entry) => entry.requestId === requestId));
  const entry = (await gateway.entries()).find((each) => each.requestId === requestId);
  expect(entry).toMatchObject({
    outcome: "cancelled",
    errorCode: "client_closed",
    httpStatus: 499,
    usageSource: "estimated",
  });
  expect(entry?.usage.output).toBeGreaterThanOrEqual(3);
  expect(entry?.usage.output).toBeLessThanOrEqual(seen?.output_tokens_emitted ?? 0);
});

test("with `disconnect: drain` the upstream is let finish and its own numbers are taken", async () => {
  const requestId = await leaveAfter(3, "gpt-drained", 60);
  await until(async () => (await gateway.entries()).some((entry) => entry.requestId === requestId));
  const entry = (await gateway.entries()).find((each) => each.requestId === requestId);
  expect(entry).toMatchObject({ outcome: "cancelled", usageSource: "upstream" });
  expect(entry?.usage.output).toBe(60);
});

test("a caller that goes away before the answer leaves nothing running and nothing reserved, and pays for its input", async () => {
  const leaving = new AbortController();
  const call = gateway.chat(hello, { script: { latency_ms: 600_000 }, signal: leaving.signal }).catch(() => "gone");
  const before = (await gateway.entries()).length;
  await until(() => gateway.simulator.simulator.truth.list().in_flight > 0);
  leaving.abort();
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
