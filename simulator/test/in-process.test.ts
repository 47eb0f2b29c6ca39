import { expect, test } from "bun:test";
import { createSimulator, type Script } from "../src/index.ts";

function call(script: Script, signal?: AbortSignal): Request {
  return new Request("demo://simulator/v1/chat/completions".replace("demo:", "http:"), {
    method: "POST",
    headers: { "x-attempt-id": "one", "x-sim-script": JSON.stringify(script) },
    body: JSON.stringify({ model: "demo", stream: true, messages: [{ role: "user", content: "hi" }] }),
    ...(signal === undefined ? {} : { signal }),
  });
}

test("fetch streams word by word: each read returns one event", async () => {
  const simulator = createSimulator({ defaults: { event_ms: 1 } });
  const response = await simulator.fetch(call({ tokens: 4 }));
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const pieces = await Array.fromAsync(response.body ?? []);
  // role, four words, finish, [DONE]
  expect(pieces.length).toBe(7);
  expect(Buffer.concat(pieces).toString().endsWith("data: [DONE]\n\n")).toBe(true);
  expect(simulator.truth.find("one")).toMatchObject({ output_tokens_emitted: 4, terminal_sent: true });
});

test("the simulator stops producing while the reader does not read", async () => {
  const simulator = createSimulator();
  const response = await simulator.fetch(call({ tokens: 1_000_000 }));
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  for (let index = 0; index < 3; index += 1) await reader.read();
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  expect(simulator.truth.find("one")?.bytes_emitted).toBeLessThan(128 * 1024);
  await reader.cancel();
  expect(simulator.truth.find("one")?.aborted_at).not.toBeNull();
});

test("the answer ends when the caller's signal aborts", async () => {
  const simulator = createSimulator();
  const caller = new AbortController();
  const response = await simulator.fetch(call({ stall_after_events: 1 }, caller.signal));
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  await reader.read();
  caller.abort();
  await expect(reader.read()).rejects.toThrow();
  expect(simulator.truth.find("one")?.aborted_at).not.toBeNull();
});

test("a cut makes reading the body fail, and a drop makes the call fail", async () => {
  const simulator = createSimulator();
  const cut = await simulator.fetch(call({ cut_after_events: 2 }));
  await expect(cut.text()).rejects.toThrow("the connection was closed");
  await expect(simulator.fetch(call({ drop: true }))).rejects.toThrow("the connection was closed");
});
