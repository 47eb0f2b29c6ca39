import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import {
  aliceKey,
  type ChatOptions,
  type StartedGateway,
  scriptHeader,
  startGateway,
  upstream,
} from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeEach(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator, { kind: "openai" })],
    models: [
      {
        name: "gpt-test",
        deployments: [{ provider: "main", upstream_model: "upstream-gpt" }],
        price: { input: 1, output: 10 },
      },
    ],
    workspace: {
      groups: [{ name: "default", limits: { concurrency: 100 }, budget: { usd: 1, period: "total" } }],
    },
  });
});
afterEach(() => gateway.stop());

const bearer = { authorization: `Bearer ${aliceKey}` };
/** The gateway's own account at the upstream. */
const account = { authorization: "Bearer sk-upstream-of-main" };
const ask = { model: "gpt-test", input: "Say hello to everyone", background: true };
const done = { tokens: 20, background_ms: 20 };

/** Resolves when the upstream has finished the answer, which nobody has seen yet. */
async function begun(script: NonNullable<ChatOptions["script"]> = done): Promise<string> {
  const made = await gateway.post("/v1/responses", ask, { script });
  const { id, status } = (await made.json()) as { id: string; status: string };
  expect(status).toBe("queued");
  await until(async () => {
    const seen = await fetch(`${gateway.simulator.url}/responses/${id}`, { headers: account });
    return ((await seen.json()) as { status: string }).status === "completed";
  });
  return id;
}

/** How many calls reports count. */
async function requests(): Promise<number> {
  await gateway.entries();
  const { totals } = (await (await gateway.get("/v1/usage")).json()) as { totals: { requests: number } };
  return totals.requests;
}

/** What was paid for the answer, and what the caller's budget says was used. */
async function paid() {
  await until(() => gateway.gateway.outstanding() === 0);
  const entries = await gateway.entries();
  const { limits } = (await (await gateway.get("/v1/usage")).json()) as { limits: { kind: string; used: number }[] };
  return {
    outputs: entries.filter(({ usageSource }) => usageSource !== "none").map(({ usage }) => usage.output),
    ledgerNanoUsd: entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
    budgetNanoUsd: Math.round((limits.find(({ kind }) => kind === "budget")?.used ?? 0) * 1e9),
  };
}

test("a background answer that is seen done counts against the budget of whoever sees it", async () => {
  const id = await begun();
  expect(await paid()).toEqual({ outputs: [], ledgerNanoUsd: 0, budgetNanoUsd: 0 });
  await Promise.all([1, 2, 3].map(async () => (await gateway.get(`/v1/responses/${id}`)).text()));
  const { outputs, ledgerNanoUsd, budgetNanoUsd } = await paid();
  expect(outputs).toEqual([20]);
  expect(await requests()).toBe(1);
  expect([ledgerNanoUsd > 0, budgetNanoUsd]).toEqual([true, ledgerNanoUsd]);
});

test.each([
  ["leaves out its output", { input_tokens: 9 }],
  ["is not there", null],
])("a background answer whose usage %s is not free", async (_, usage) => {
  const id = await begun();
  const content = [{ type: "output_text", text: "a few words to be counted by their size", annotations: [] }];
  const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content }];
  const shown = JSON.stringify({ id, object: "response", status: "completed", output, usage });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${shown.length}\r\n`;
  const script = { [scriptHeader]: JSON.stringify({ raw_reply: `${head}connection: close\r\n\r\n${shown}` }) };
  for (let times = 0; times < 2; times++) {
    expect(await (await gateway.get(`/v1/responses/${id}`, { ...bearer, ...script })).text()).toBe(shown);
  }
  const paidFor = (await gateway.entries()).filter(({ costNanoUsd }) => costNanoUsd > 0);
  expect(paidFor.map(({ usageSource, usage: used }) => [usageSource, used.output > 8])).toEqual([["estimated", true]]);
});

test("pictures that a tool drew for a background answer are paid for with it, once", async () => {
  const id = await begun();
  const image_gen = { input_tokens: 30, output_tokens: 400, output_tokens_details: { image_tokens: 400 } };
  const answer = { id, object: "response", status: "completed", output: [], tools: [{ type: "image_generation" }] };
  const usage = { input_tokens: 9, output_tokens: 3 };
  const shown = JSON.stringify({ ...answer, usage, tool_usage: { image_gen } });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${shown.length}\r\n`;
  const script = { [scriptHeader]: JSON.stringify({ raw_reply: `${head}connection: close\r\n\r\n${shown}` }) };
  for (let times = 0; times < 2; times++) {
    await (await gateway.get(`/v1/responses/${id}`, { ...bearer, ...script })).text();
  }
  const drawn = (await gateway.entries()).filter(({ usage: used }) => used.imageOutput > 0);
  expect(drawn.map(({ usage: used, upstreamModel }) => [used.inputUncached, used.imageOutput, upstreamModel])).toEqual([
    [30, 400, "upstream-gpt"],
  ]);
});

test("cancelling a background answer that is done shows it, and so pays for it", async () => {
  const id = await begun();
  const cancelled = await fetch(`${gateway.url}/v1/responses/${id}/cancel`, { method: "POST", headers: bearer });
  expect(await cancelled.text()).toContain('"output_text"');
  expect((await paid()).outputs).toEqual([20]);
});

test.each([
  [
    "that made it",
    async (): Promise<ReadableStream<Uint8Array> | null> => {
      const script = { ...done, event_ms: 5 };
      return (await gateway.post("/v1/responses", { ...ask, stream: true }, { script, signal: leaving.signal })).body;
    },
  ],
  [
    "that shows it",
    async (): Promise<ReadableStream<Uint8Array> | null> => {
      const headers = { ...bearer, "x-sim-script": '{"event_ms":5}' };
      const url = `${gateway.url}/v1/responses/${await begun()}?stream=true`;
      return (await fetch(url, { headers, signal: leaving.signal })).body;
    },
  ],
])("leaving the stream %s does not save a caller the price of a background answer", async (_, open) => {
  leaving = new AbortController();
  const reader = (await open())?.getReader();
  await reader?.read();
  leaving.abort();
  const { outputs, ledgerNanoUsd, budgetNanoUsd } = await paid();
  expect(outputs).toEqual([20]);
  expect(budgetNanoUsd).toBe(ledgerNanoUsd);
});
let leaving = new AbortController();

test("a shutdown ends the stream of a kept answer with an error, also before anybody has read from it", async () => {
  const id = await begun({ tokens: 400, background_ms: 20 });
  const headers = { ...bearer, "x-sim-script": '{"event_ms":20}' };
  const response = await fetch(`${gateway.url}/v1/responses/${id}?stream=true`, { headers });
  const closing = gateway.gateway.close();
  expect(await response.text()).toContain("event: response.failed\n");
  await closing;
});

test("who has used up a budget may still see what is being made, end it, and have it forgotten", async () => {
  const id = await begun();
  const dear = { model: "gpt-test", messages: [{ role: "user", content: "Say hello" }] };
  expect((await gateway.chat(dear, { script: { tokens: 150_000 } })).status).toBe(200);
  await until(async () => (await gateway.chat(dear)).status === 402);
  expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(200);
  for (const [method, path] of [
    ["POST", `${id}/cancel`],
    ["DELETE", id],
  ] as const) {
    const answer = await fetch(`${gateway.url}/v1/responses/${path}`, { method, headers: bearer });
    expect([method, answer.status === 402]).toEqual([method, false]);
  }
});
