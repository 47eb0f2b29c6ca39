import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const streamed = { ...hello, stream: true };
const upstreamBody = (of: StartedGateway): string => of.simulator.simulator.truth.list().data.at(-1)?.sent_body ?? "";

test("passes the stream byte for byte when the caller asks for usage", async () => {
  const response = await gateway.chat(
    { ...streamed, stream_options: { include_usage: true } },
    { script: { tokens: 20, keep_sent: true } },
  );
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  expect(await response.text()).toBe(upstreamBody(gateway));
});

test("removes only the usage chunk when the caller does not ask for usage", async () => {
  const text = await (await gateway.chat(streamed, { script: { tokens: 20, keep_sent: true } })).text();
  const events = upstreamBody(gateway).split("\n\n");
  expect(text).toBe(events.filter((event) => !event.includes('"choices":[]')).join("\n\n"));
  expect(text).toEndWith("data: [DONE]\n\n");
});

test.each([{ one_byte_chunks: true }, { crlf: true }, { keep_alive_comments: true }])(
  "passes bytes that arrive as %j unchanged",
  async (shape) => {
    const body = { ...streamed, stream_options: { include_usage: true } };
    const text = await (await gateway.chat(body, { script: { tokens: 6, keep_sent: true, ...shape } })).text();
    expect(text).toBe(upstreamBody(gateway));
  },
);

test("sends each event when it arrives, not at the end", async () => {
  const disconnect = new AbortController();
  // The upstream stalls after three words. They must arrive while its stream is still open.
  const script = { tokens: 5, stall_after_events: 4 };
  const response = await gateway.chat(streamed, { script, signal: disconnect.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.split("\n\n").length <= 4) text += (await reader?.read())?.value ?? "";
  expect(text).not.toContain("[DONE]");
  expect(gateway.simulator.simulator.truth.list().in_flight).toBe(1);
  disconnect.abort();
  await until(() => gateway.gateway.outstanding() === 0);
});

test("writes one ledger entry with the stream's exact usage", async () => {
  const response = await gateway.chat(streamed, { script: { tokens: 33, prompt_tokens: 10, reasoning_tokens: 4 } });
  await response.text();
  const entry = (await gateway.entries()).find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entry).toMatchObject({ stream: true, outcome: "succeeded", usageSource: "upstream" });
  expect(entry?.usage).toMatchObject({ inputUncached: 10, output: 37, reasoning: 4 });
  expect(entry?.firstTokenMs).toBeGreaterThanOrEqual(entry?.firstByteMs ?? Number.POSITIVE_INFINITY);
});

test("treats a stream with a finish reason but no [DONE] as complete", async () => {
  const response = await gateway.chat(streamed, { script: { tokens: 3, done: false } });
  expect(await response.text()).not.toContain('"error"');
  const entry = (await gateway.entries()).find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entry?.outcome).toBe("succeeded");
});

test.each([
  ["a connection that closes", { cut_after_events: 4 }, "upstream_truncated"],
  ["a connection that is reset", { reset_after_events: 4 }, "upstream_truncated"],
  ["half an event and a close", { cut_after_events: 4, half_event: true }, "upstream_truncated"],
  ["a clean end that is too early", { end_after_events: 4 }, "upstream_truncated"],
  ["broken framing", { break_chunking_after_events: 4 }, "upstream_truncated"],
] as const)("sends an error event and never a clean end after %s", async (_title, fault, code) => {
  const response = await gateway.chat(streamed, { script: { tokens: 20, event_ms: 5, ...fault } });
  const text = await response.text();
  expect(text).not.toContain("[DONE]");
  const events = text.trimEnd().split("\n\n");
  expect(JSON.parse(events.at(-1)?.slice("data: ".length) ?? "").error.code).toBe(code);
  for (const event of events) JSON.parse(event.slice("data: ".length));
  const entry = (await gateway.entries()).find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entry).toMatchObject({ outcome: "failed", errorCode: code, usageSource: "estimated" });
  // Events that arrive together with the break may be lost, or even all on a busy machine. The entry must count
  // the ones that the caller received.
  const wordsReceived = events.filter(
    (event) => JSON.parse(event.slice("data: ".length)).choices?.[0]?.delta?.content,
  ).length;
  expect(entry?.usage.output).toBe(wordsReceived);
  if ("end_after_events" in fault) expect(wordsReceived).toBe(3);
  expect(wordsReceived).toBeLessThanOrEqual(3);
});

test("passes an upstream's error event unchanged and marks the entry as failed", async () => {
  const response = await gateway.chat(streamed, {
    script: { tokens: 20, event_ms: 5, error_event_after: 4, keep_sent: true },
  });
  expect(await response.text()).toBe(upstreamBody(gateway));
  const entry = (await gateway.entries()).find((each) => each.requestId === response.headers.get("x-request-id"));
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_error" });
});

test("cuts off an event that exceeds the bound, with an error event", async () => {
  const response = await gateway.chat(streamed, { script: { tokens: 3, giant_event_bytes: 40_000_000 } });
  const text = await response.text();
  expect(text.length).toBeLessThan(1_000_000);
  expect(text).toContain('"code":"upstream_error"');
});

test("passes the upstream's Cache-Control for event streams only", async () => {
  const script = { tokens: 1, headers: { "cache-control": "no-cache, no-transform" } };
  for (const [stream, expected] of [
    [true, "no-cache, no-transform"],
    [false, null],
  ] as const) {
    const response = await gateway.chat({ ...hello, stream }, { script });
    await response.text();
    expect(response.headers.get("cache-control")).toBe(expected);
  }
});
