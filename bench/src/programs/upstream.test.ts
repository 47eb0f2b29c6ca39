import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { benchModel, chatRequest } from "../chat-request.ts";
import { type Child, startChild } from "../child.ts";
import { RawConnection } from "../raw-connection.ts";

let child: Child;
let port = 0;

beforeAll(async () => {
  child = startChild({ command: [process.execPath, join(import.meta.dir, "upstream.ts"), `{"port":0}`], cores: [] });
  port = JSON.parse((await child.line()) ?? "null").port;
});

afterAll(() => child.stop());

test("An ordinary answer is exactly 1 KB of JSON with the usage of the call", async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: benchModel, messages: [] }),
  });
  const text = await answer.text();
  expect(text.length).toBe(1024);
  expect(JSON.parse(text).usage.total_tokens).toBe(300);
});

test("Bodies of every size are read to their end before the answer, on one kept-alive connection", async () => {
  const connection = await RawConnection.open(port);
  for (const bodyBytes of [1024, 100 * 1024, 2 * 1024 * 1024, 1024]) {
    const { status } = await connection.exchange(chatRequest({ port, key: "none", bodyBytes }));
    expect(status).toBe(200);
  }
  connection.close();
});

test("A stream carries its number of events, each with the moment it was sent, and ends with usage if it was asked for", async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ bench: { gap_ms: 2, events: 5 }, stream_options: { include_usage: true } }).replace(
      "{",
      `{"stream":true,`,
    ),
  });
  const events = (await answer.text()).split("\n\n").filter((event) => event !== "");
  const stamps = events.map((event) => Number(/@(\d{15})/.exec(event)?.[1])).filter(Number.isFinite);
  expect(stamps).toHaveLength(5);
  expect(stamps).toEqual([...stamps].sort((a, b) => a - b));
  expect(events.at(-1)).toBe("data: [DONE]");
  expect(events.at(-2)).toContain(`"choices":[],"usage":`);
});

test("A receiver in another process sees every event of a stream once, however long the request was", async () => {
  const connection = await RawConnection.open(port);
  let stamps = 0;
  connection.onStamp = () => stamps++;
  const stream = { gapMs: 1, eventsMax: 50 };
  for (const bodyBytes of [1024, 1024 * 1024]) {
    stamps = 0;
    const { status } = await connection.exchange(chatRequest({ port, key: "none", bodyBytes, stream }));
    expect(status).toBe(200);
    expect(stamps).toBe(50);
  }
  connection.close();
});
