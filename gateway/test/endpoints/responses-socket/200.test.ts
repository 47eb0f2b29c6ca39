import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import type { StartedGateway } from "../../started-gateway.ts";
import { type Frame, openSocket, responseIn, socketGateway } from "./socket-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await socketGateway();
});
afterAll(() => gateway.stop());

const userMessage = (text: string, script: object = { tokens: 3 }): object => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: `${text} [[sim ${JSON.stringify(script)}]]` }],
});
const types = (frames: readonly Frame[]): string[] => frames.map(({ type }) => type);

async function lastBody(): Promise<string> {
  await gateway.entries();
  return gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "";
}

describe.each(["openai", "chat", "claude"])("a WebSocket call of %s", (model) => {
  test("gets the events that HTTP streams, and is one call in the ledger", async () => {
    const socket = await openSocket(gateway);
    const before = (await gateway.entries()).length;
    const frames = await socket.ask({ model, store: false, input: [userMessage("hello")] });
    expect(types(frames).slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
    expect(types(frames)).toContain("response.output_text.delta");
    expect(frames.at(-1)?.type).toBe("response.completed");
    expect(frames.map((frame) => frame["sequence_number"])).toEqual([...frames.keys()]);
    const entries = await gateway.entries();
    expect(entries.length).toBe(before + 1);
    expect(entries[0]).toMatchObject({ endpoint: "responses", stream: true, outcome: "succeeded", httpStatus: 200 });
    expect(entries[0]?.usage.output).toBeGreaterThanOrEqual(3);
    expect(entries[0]?.costNanoUsd).toBeGreaterThan(0);
    expect(entries[0]?.firstTokenMs).not.toBeNull();
    expect(entries[0]?.requestId).toMatch(/^req_/);
    socket.close();
  });

  test("continues from the last response's id, although no upstream stores it", async () => {
    const socket = await openSocket(gateway);
    const warmUp = responseIn(
      await socket.ask({ model, store: false, generate: false, input: [userMessage("my name is Alice")] }),
    );
    expect(warmUp).toMatchObject({ status: "completed", output: [] });
    const before = (await gateway.entries()).length;
    const first = await socket.ask({
      model,
      store: false,
      previous_response_id: warmUp["id"],
      input: [userMessage("first")],
    });
    expect((await gateway.entries()).length).toBe(before + 1);
    const second = await socket.ask({
      model,
      store: false,
      previous_response_id: responseIn(first)["id"],
      input: "second [[sim {}]]",
    });
    expect(second.at(-1)?.type).toBe("response.completed");
    const body = await lastBody();
    const places = ["my name is Alice", "first", "the quick brown", "second"].map((text) => body.indexOf(text));
    expect(
      places.every((place) => place >= 0),
      body,
    ).toBe(true);
    expect([...places].sort((a, b) => a - b)).toEqual(places);
    expect(body).not.toContain("previous_response_id");
    expect(body).not.toContain("response.create");
    expect(body).not.toContain('"generate"');
    socket.close();
  });

  test("sends a tool result back with its call", async () => {
    const socket = await openSocket(gateway);
    const tools = [{ type: "function", name: "search", parameters: { type: "object", properties: {} } }];
    const first = await socket.ask({ model, store: false, tools, input: [userMessage("search", { tool_calls: 1 })] });
    const call = (responseIn(first)["output"] as Frame[]).find(({ type }) => type === "function_call");
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "a river" };
    const next = { model, store: false, tools, previous_response_id: responseIn(first)["id"], input: [output] };
    expect((await socket.ask(next)).at(-1)?.type).toBe("response.completed");
    expect(await lastBody()).toContain("a river");
    socket.close();
  });
});

test("continues at OpenAI from a response that OpenAI stores", async () => {
  const socket = await openSocket(gateway);
  const first = responseIn(await socket.ask({ model: "openai", store: true, input: [userMessage("first")] }));
  const next = await socket.ask({
    model: "openai",
    store: true,
    previous_response_id: first["id"],
    input: [userMessage("second")],
  });
  expect(next.at(-1)?.type).toBe("response.completed");
  expect(await lastBody()).toContain(`"previous_response_id":"${String(first["id"])}"`);
  socket.close();
});

test("rejects continuing without storage from a conversation that only OpenAI stores", async () => {
  const socket = await openSocket(gateway);
  const first = responseIn(
    await socket.ask({ model: "openai", store: true, input: [userMessage("my name is Alice")] }),
  );
  const unstored = { model: "openai", store: false, previous_response_id: first["id"], input: [userMessage("second")] };
  const second = responseIn(await socket.ask(unstored));
  expect(second["status"]).toBe("completed");
  const third = { model: "openai", store: false, previous_response_id: second["id"], input: [userMessage("who am I")] };
  const [refused] = await socket.ask(third);
  expect(refused).toMatchObject({ type: "error", status: 400, error: { code: "previous_response_not_found" } });
  socket.close();
});

test("passes a frame to OpenAI byte for byte, without the members of the frame itself", async () => {
  const socket = await openSocket(gateway);
  const from = socket.frames.length;
  socket.send(
    '{ "type":"response.create", "stream_id":"a", "temperature":1.50 ,"generate":true,"model":"openai", "of_next_year":[1.0,"\\u00e9 é"], "input":"hi", "stream":false ,"event_id":"e"}',
  );
  await socket.until("response.completed", from);
  expect(await lastBody()).toBe(
    '{"stream":true, "temperature":1.50 ,"model":"upstream-gpt", "of_next_year":[1.0,"\\u00e9 é"], "input":"hi"}',
  );
  socket.close();
});

test("answers lanes concurrently and names them in events, and answers one lane in order", async () => {
  const socket = await openSocket(gateway);
  const slow = { tokens: 4, event_ms: 30 };
  for (const [stream_id, script] of [
    ["slow", slow],
    ["slow", slow],
    ["quick", { tokens: 2 }],
  ] as const) {
    socket.send({
      type: "response.create",
      stream_id,
      model: "openai",
      store: false,
      input: [userMessage("x", script)],
    });
  }
  await until(() => socket.frames.filter(({ type }) => type === "response.completed").length === 3);
  const done = socket.frames.filter(({ type }) => type === "response.completed").map((frame) => frame["stream_id"]);
  expect(done[0]).toBe("quick");
  const slowLane = socket.frames.filter((frame) => frame["stream_id"] === "slow").map(({ type }) => type);
  const starts = slowLane.flatMap((type, index) => (type === "response.created" ? [index] : []));
  expect(slowLane.indexOf("response.completed")).toBeLessThan(starts[1] ?? 0);
  socket.close();
});

test("sends Codex, and no other client, the headers of an HTTP answer as an event", async () => {
  const headers = {
    "idempotency-key": "once",
    originator: "codex_cli_rs",
    "openai-beta": "responses_websockets=2026-02-06",
  };
  const codex = await openSocket(gateway, { headers });
  const [metadata, created] = await codex.ask({ model: "openai", store: false, input: [userMessage("hi")] });
  expect([metadata?.type, created?.type]).toEqual(["codex.response.metadata", "response.created"]);
  const headersInEvent = metadata?.["headers"] as Record<string, string>;
  expect([headersInEvent["x-sluice-provider"], headersInEvent["openai-model"]]).toEqual(["openai", "upstream-gpt"]);
  expect(headersInEvent["x-request-id"]).toMatch(/^req_/);
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers["openai-beta"]).toBeUndefined();
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers["idempotency-key"]).toBeUndefined();
  codex.send({ type: "response.processed", response_id: "resp_1" });
  expect((await codex.ask({ model: "openai", store: false, input: [userMessage("hi")] })).at(-1)?.type).toBe(
    "response.completed",
  );
  codex.close();
});
