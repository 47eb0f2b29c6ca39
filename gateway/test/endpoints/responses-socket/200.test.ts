import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import type { StartedGateway } from "../../started-gateway.ts";
import { type Frame, openSocket, responseIn, socketGateway } from "./socket-ground.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await socketGateway();
});
afterAll(() => gateway.stop());

const said = (text: string, script: object = { tokens: 3 }): object => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: `${text} [[sim ${JSON.stringify(script)}]]` }],
});
const types = (frames: readonly Frame[]): string[] => frames.map(({ type }) => type);

async function lastBody(): Promise<string> {
  await gateway.entries();
  return gateway.simulator.simulator.truth.list().data.at(-1)?.body_text ?? "";
}

describe.each(["openai", "chat", "claude"])("over a WebSocket, on %s", (model) => {
  test("a response comes as the events that HTTP streams, and is one call in the ledger", async () => {
    const socket = await openSocket(gateway);
    const before = (await gateway.entries()).length;
    const frames = await socket.ask({ model, store: false, input: [said("hello")] });
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

  test("goes on from the last response by its id, although no upstream keeps it", async () => {
    const socket = await openSocket(gateway);
    const warm = responseIn(
      await socket.ask({ model, store: false, generate: false, input: [said("my name is Alice")] }),
    );
    expect(warm).toMatchObject({ status: "completed", output: [] });
    const before = (await gateway.entries()).length;
    const first = await socket.ask({ model, store: false, previous_response_id: warm["id"], input: [said("first")] });
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

  test("a tool is called, and its result goes back with the call that it answers", async () => {
    const socket = await openSocket(gateway);
    const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} } }];
    const first = await socket.ask({ model, store: false, tools, input: [said("look", { tool_calls: 1 })] });
    const call = (responseIn(first)["output"] as Frame[]).find(({ type }) => type === "function_call");
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "a river" };
    const next = { model, store: false, tools, previous_response_id: responseIn(first)["id"], input: [output] };
    expect((await socket.ask(next)).at(-1)?.type).toBe("response.completed");
    expect(await lastBody()).toContain("a river");
    socket.close();
  });
});

test("what OpenAI keeps is gone on from at OpenAI", async () => {
  const socket = await openSocket(gateway);
  const first = responseIn(await socket.ask({ model: "openai", store: true, input: [said("first")] }));
  const next = await socket.ask({
    model: "openai",
    store: true,
    previous_response_id: first["id"],
    input: [said("second")],
  });
  expect(next.at(-1)?.type).toBe("response.completed");
  expect(await lastBody()).toContain(`"previous_response_id":"${String(first["id"])}"`);
  socket.close();
});

test("a response that goes on from what only OpenAI keeps is not taken for the whole conversation", async () => {
  const socket = await openSocket(gateway);
  const first = responseIn(await socket.ask({ model: "openai", store: true, input: [said("my name is Alice")] }));
  const kept = { model: "openai", store: false, previous_response_id: first["id"], input: [said("second")] };
  const second = responseIn(await socket.ask(kept));
  expect(second["status"]).toBe("completed");
  const third = { model: "openai", store: false, previous_response_id: second["id"], input: [said("who am I")] };
  const [refused] = await socket.ask(third);
  expect(refused).toMatchObject({ type: "error", status: 400, error: { code: "previous_response_not_found" } });
  socket.close();
});

test("a frame passes to OpenAI byte for byte, but for what belongs to the frame", async () => {
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

test("lanes are answered beside each other and named in their events; in a lane one waits for the other", async () => {
  const socket = await openSocket(gateway);
  const slow = { tokens: 4, event_ms: 30 };
  for (const [stream_id, script] of [
    ["slow", slow],
    ["slow", slow],
    ["quick", { tokens: 2 }],
  ] as const) {
    socket.send({ type: "response.create", stream_id, model: "openai", store: false, input: [said("x", script)] });
  }
  await until(() => socket.frames.filter(({ type }) => type === "response.completed").length === 3);
  const done = socket.frames.filter(({ type }) => type === "response.completed").map((frame) => frame["stream_id"]);
  expect(done[0]).toBe("quick");
  const lane = socket.frames.filter((frame) => frame["stream_id"] === "slow").map(({ type }) => type);
  const begun = lane.flatMap((type, index) => (type === "response.created" ? [index] : []));
  expect(lane.indexOf("response.completed")).toBeLessThan(begun[1] ?? 0);
  socket.close();
});

test("Codex is told what stands in the headers of an answer over HTTP; nobody else is", async () => {
  const headers = {
    "idempotency-key": "once",
    originator: "codex_cli_rs",
    "openai-beta": "responses_websockets=2026-02-06",
  };
  const codex = await openSocket(gateway, { headers });
  const [metadata, created] = await codex.ask({ model: "openai", store: false, input: [said("hi")] });
  expect([metadata?.type, created?.type]).toEqual(["codex.response.metadata", "response.created"]);
  const told = metadata?.["headers"] as Record<string, string>;
  expect([told["x-sluice-provider"], told["openai-model"]]).toEqual(["openai", "upstream-gpt"]);
  expect(told["x-request-id"]).toMatch(/^req_/);
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers["openai-beta"]).toBeUndefined();
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.request_headers["idempotency-key"]).toBeUndefined();
  codex.send({ type: "response.processed", response_id: "resp_1" });
  expect((await codex.ask({ model: "openai", store: false, input: [said("hi")] })).at(-1)?.type).toBe(
    "response.completed",
  );
  codex.close();
});
