import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { benchModel, callRequest, paths } from "../call-request.ts";
import { type Child, startChild } from "../child.ts";
import { RawConnection } from "../raw-connection.ts";

let child: Child;
let port = 0;

beforeAll(async () => {
  child = startChild({ command: [process.execPath, join(import.meta.dir, "upstream.ts"), `{"port":0}`], cores: [] });
  port = JSON.parse((await child.line()) ?? "null").port;
});

afterAll(() => child.stop());

test("a response without streaming is exactly 1 KB of JSON with usage", async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: benchModel, messages: [] }),
  });
  const text = await answer.text();
  expect(text.length).toBe(1024);
  expect(JSON.parse(text).usage.total_tokens).toBe(300);
});

test("reads bodies of every size before it responds, on one keep-alive connection", async () => {
  const connection = await RawConnection.open(port);
  for (const bodyBytes of [1024, 100 * 1024, 2 * 1024 * 1024, 1024]) {
    const { status } = await connection.exchange(callRequest({ port, key: "none", bodyBytes }));
    expect(status).toBe(200);
  }
  connection.close();
});

test("a stream has the requested number of events with timestamps, and usage at its end if requested", async () => {
  const events = await streamed(paths.chat, {
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: "gap_ms=2 events=5 ends_at_ms=0" }],
  });
  expectStamps(events);
  expect(events.at(-1)).toBe("data: [DONE]");
  expect(events.at(-2)).toContain(`"choices":[],"usage":`);
});

test("a Messages stream has a start, one block of timestamped words, and an end", async () => {
  const events = await streamed(paths.messages, {
    messages: [{ role: "user", content: "gap_ms=2 events=5 ends_at_ms=0" }],
  });
  expectStamps(events);
  const types = events.map((event) => JSON.parse(event.slice(event.indexOf("{"))).type);
  expect(types.slice(0, 3)).toEqual(["message_start", "content_block_start", "content_block_delta"]);
  expect(types.slice(-3)).toEqual(["content_block_stop", "message_delta", "message_stop"]);
});

test("reads an image edit form and responds with an image", async () => {
  const connection = await RawConnection.open(port);
  for (const bodyBytes of [4096, 2 * 1024 * 1024]) {
    const { status } = await connection.exchange(callRequest({ port, key: "none", caller: "edit", bodyBytes }));
    expect(status).toBe(200);
  }
  connection.close();
  const answer = await fetch(`http://127.0.0.1:${port}${paths.edit}`, { method: "POST", body: "--" });
  expect(await answer.json()).toHaveProperty("data.length", 1);
});

test("a receiver in another process gets every event of a stream once, for requests of any size", async () => {
  const connection = await RawConnection.open(port);
  let stamps = 0;
  connection.onStamp = () => stamps++;
  const stream = { gapMs: 1, eventsMax: 50 };
  for (const bodyBytes of [1024, 1024 * 1024]) {
    stamps = 0;
    const { status } = await connection.exchange(callRequest({ port, key: "none", bodyBytes, stream }));
    expect(status).toBe(200);
    expect(stamps).toBe(50);
  }
  connection.close();
});

async function streamed(path: string, body: object): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: JSON.stringify(body) });
  return (await answer.text()).split("\n\n").filter((event) => event !== "");
}

function expectStamps(events: readonly string[]): void {
  const stamps = events.map((event) => Number(/@(\d{15})/.exec(event)?.[1])).filter(Number.isFinite);
  expect(stamps).toHaveLength(5);
  expect(stamps).toEqual([...stamps].sort((a, b) => a - b));
}
