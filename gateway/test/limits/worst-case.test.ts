import { afterEach, expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import { rawAnswer, startRawUpstream } from "../raw-upstream.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
afterEach(() => gateway.stop());

/** 10 USD per million output tokens. A call without its own limit is held for 8,192 of them: 0.08192 USD. */
const price = { input: 1, output: 10 };

const withBudget = (usd: number, models?: Parameters<typeof startGateway>[0]): Promise<StartedGateway> =>
  startGateway({
    models: [{ name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }], price }],
    keys: [{ name: "alice", secret: aliceKey, budget: { usd, period: "total" } }],
    ...models,
  });

const spentUsd = async (): Promise<number> =>
  (await gateway.entries()).reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) / 1e9;

test("any number of simultaneous calls without max_tokens stays within a budget", async () => {
  gateway = await withBudget(0.1);
  const script = { tokens: 6_000, latency_ms: 50 };
  const answers = await Promise.all(Array.from({ length: 60 }, () => gateway.chat(hello, { script })));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  await Promise.all(answers.map((answer) => answer.text()));
  const spent = await spentUsd();
  expect(spent).toBeGreaterThan(0.05);
  expect(spent).toBeLessThanOrEqual(0.1);
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("frees a call's hold as soon as it ends", async () => {
  const begin = Promise.withResolvers<void>();
  const slow = await startRawUpstream((socket) => {
    void begin.promise.then(() => socket.write(rawAnswer(reply, "content-type: application/json\r\n")));
  });
  gateway = await withBudget(0.1, { providers: (simulator) => [upstream("main", simulator, { base_url: slow.url })] });
  const first = gateway.chat(hello);
  await until(() => slow.requests.length === 1);
  expect((await gateway.chat(hello)).status).toBe(429);
  begin.resolve();
  expect((await first).status).toBe(200);
  // The hold is free at once.
  expect((await gateway.chat(hello)).status).toBe(200);
  expect(slow.requests).toHaveLength(2);
  slow.stop();
});

const reply = JSON.stringify({
  id: "c",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
});

test("holds the most expensive model of the plan, not only the requested one", async () => {
  gateway = await withBudget(0.1, {
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }], price: { output: 0.1 }, fallbacks: ["dear"] },
      { name: "dear", deployments: [{ provider: "main" }], price: { output: 100 } },
    ],
  });
  expect((await gateway.chat(hello)).status).toBe(402);
  expect((await gateway.chat({ ...hello, max_tokens: 900 })).status).toBe(200);
});

test("holds the model's maximum output for a call without max_tokens", async () => {
  const deployments = [{ provider: "main" }];
  gateway = await withBudget(0.1, {
    models: [
      { name: "gpt-test", deployments, price, max_output_tokens: 128_000 },
      { name: "small", deployments, price, max_output_tokens: 500 },
    ],
  });
  expect((await gateway.chat(hello)).status).toBe(402);
  const script = { tokens: 400, latency_ms: 100 };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => gateway.chat({ ...hello, model: "small" }, { script })),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(15);
  expect(await spentUsd()).toBeLessThanOrEqual(0.1);
});

test("holds each of several answers", async () => {
  gateway = await withBudget(0.1);
  expect((await gateway.chat({ ...hello, n: 2 })).status).toBe(402);
  expect((await gateway.chat({ ...hello, n: 2, max_tokens: 4_000 })).status).toBe(200);
});

test("a small budget still serves a stream, and ends it in-band when its money is used up", async () => {
  // Enough for 1,000 output tokens, where the model could produce 8,192.
  gateway = await withBudget(0.0101);
  const response = await gateway.chat({ ...hello, stream: true }, { script: { tokens: 8_000, event_ms: 1 } });
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain('"code":"budget_exceeded"');
  expect(text).not.toContain("[DONE]");
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "interrupted", errorCode: "budget_exceeded", usageSource: "estimated" });
  expect(entry?.usage.output).toBeGreaterThan(900);
  // Beyond the hold there is at most one chunk of the upstream, whatever its size.
  expect(await spentUsd()).toBeLessThan(0.05);
  const served = gateway.simulator.simulator.truth.find(entry?.attemptId ?? "");
  expect(served?.terminal_sent).toBe(false);
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("streams with output hidden until their end exceed a budget by the cost of one of them, however many there are", async () => {
  gateway = await withBudget(0.1);
  // 0.08 USD each, and nothing is visible before the last event.
  const script = { tokens: 2, reasoning_tokens: 8_000, event_ms: 20 };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => gateway.chat({ ...hello, stream: true }, { script })),
  );
  await Promise.all(answers.map((answer) => answer.text()));
  const spent = await spentUsd();
  expect(spent).toBeGreaterThan(0.07);
  expect(spent).toBeLessThan(0.1 + 0.082);
  expect(gateway.gateway.outstanding()).toBe(0);
});

test("a stream that used up its hold continues when another call returns money", async () => {
  gateway = await withBudget(0.09);
  // Holds all but 0.008 USD and uses hardly any of it.
  const other = gateway.chat(hello, { script: { tokens: 1, latency_ms: 300 } });
  await until(() => gateway.gateway.outstanding() > 0);
  const response = await gateway.chat({ ...hello, stream: true }, { script: { tokens: 1_500, event_ms: 1 } });
  expect(response.status).toBe(200);
  expect((await other).status).toBe(200);
  expect(await response.text()).toContain("[DONE]");
  expect((await gateway.entries()).map(({ outcome }) => outcome)).toEqual(["succeeded", "succeeded"]);
});

test("a stream does not start without money for its input and a little output", async () => {
  gateway = await withBudget(0.002);
  const refused = await gateway.chat({ ...hello, stream: true });
  expect(refused.status).toBe(402);
  expect(await refused.text()).toContain("needs at least");
});
