import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Script, TruthRecord } from "@sluice/simulator";
import { until, untilStable } from "../until.ts";
import { type ChatOptions, dechunk, eventsOf, rawChat } from "./chat-call.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { openSlowReader } from "./slow-reader.ts";
import { model, testConfig } from "./test-config.ts";

const shortWaits = ["headers", "first_event", "idle"] as const;
let setup: TestSetup;

beforeAll(async () => {
  setup = await openSetup((url) => {
    const config = testConfig(url);
    const [base] = config.providers ?? [];
    if (base === undefined) throw new Error("the test config has no provider");
    // The upstream model name carries a script, so this deployment always behaves as scripted.
    const faulty = (name: string, script: Script, provider = "short-first_event") =>
      model(name, [
        { provider, upstream_model: `sim${JSON.stringify(script)}bad`, priority: 1 },
        { provider: "sim", upstream_model: "good", priority: 2 },
      ]);
    return {
      ...config,
      providers: [
        ...(config.providers ?? []),
        { ...base, id: "other" },
        // One short timeout each, because on a busy machine another short one might expire first.
        ...shortWaits.map((wait) => ({ ...base, id: `short-${wait}`, timeouts: { [`${wait}_ms`]: 300 } })),
      ],
      // Otherwise a request that was sent but not answered is not retried.
      settings: { ...config.settings, retry_sent: true },
      models: [
        ...(config.models ?? []),
        faulty("falls-back-500", { status: 500 }),
        faulty("falls-back-cut", { cut_after_events: 0 }),
        faulty("falls-back-reset", { reset_after_events: 0 }),
        faulty("falls-back-stall", { stall_after_events: 0 }),
        faulty("falls-back-error", { error_event_after: 0 }),
        faulty("falls-back-drop", { drop: true }),
        faulty("no-way-back", { tokens: 9, event_ms: 20, cut_after_events: 3 }, "other"),
        ...shortWaits.map((wait) =>
          model(`short-${wait}`, [{ provider: `short-${wait}`, upstream_model: "up-short" }]),
        ),
      ],
    };
  });
});
afterAll(() => setup?.close());

const withUsage = { stream_options: { include_usage: true } };

/** Makes a streamed call over a plain socket. Returns the answer and the upstream's record. */
async function stream(options: ChatOptions): Promise<{ text: string; head: string; record: TruthRecord }> {
  await setup.simulator.clear();
  const answer = await rawChat(setup.gateway.port, { stream: true, ...options });
  const record = (await setup.simulator.settled()).at(-1);
  if (record === undefined) throw new Error(`nothing reached the upstream: ${answer.text}`);
  return { text: dechunk(answer.body), head: answer.head, record };
}

describe("the bytes of a stream", () => {
  test.each([
    ["default", {}],
    ["with CRLF line breaks", { crlf: true }],
    ["with comments between events", { keep_alive_comments: true }],
    ["in chunks of one byte", { one_byte_chunks: true }],
    ["with an event of 600 KB", { giant_event_bytes: 600_000 }],
    ["with an event that is not JSON", { malformed: true }],
    ["paced", { event_ms: 3 }],
  ] satisfies [string, Script][])(
    "are identical to the upstream's if the caller requested usage: %s",
    async (_, script) => {
      const { text, record } = await stream({ script: { tokens: 12, keep_sent: true, ...script }, more: withUsage });
      expect(text).toBe(record.sent_body ?? "");
      expect(record.usage_sent).toBe(true);
    },
  );

  test.each([
    ["default", {}],
    ["with CRLF line breaks", { crlf: true }],
    ["in chunks of one byte", { one_byte_chunks: true }],
    ["without [DONE]", { done: false }],
  ] satisfies [string, Script][])(
    "lack only the usage chunk if the caller did not request it: %s",
    async (_, script) => {
      const { text, record } = await stream({ script: { tokens: 12, keep_sent: true, ...script } });
      const sent = record.sent_body ?? "";
      const usage =
        /data: \{[^\n]*"choices":\[\],"usage":\{[^\n]*\r?\n\r?\n/.exec(sent)?.[0] ?? "no usage chunk was sent";
      expect(sent).toContain(usage);
      expect(text).toBe(sent.replace(usage, ""));
    },
  );

  test("arrive without delay: a word is here before the next one is generated", async () => {
    await setup.simulator.clear();
    const abort = new AbortController();
    const first = Promise.withResolvers<void>();
    // The upstream sends a few words and then stalls, so a gateway that buffered the answer would forward nothing.
    const call = rawChat(
      setup.gateway.port,
      { stream: true, script: { tokens: 10, stall_after_events: 4 } },
      { leave: abort.signal, onText: (text) => text.includes("quick") && first.resolve() },
    );
    await first.promise;
    expect((await setup.simulator.truth()).in_flight).toBe(1);
    abort.abort();
    expect((await call).body).not.toContain("[DONE]");
  });

  test("of a whole answer are identical to the upstream's", async () => {
    await setup.simulator.clear();
    const answer = await rawChat(setup.gateway.port, { script: { keep_sent: true } });
    const [record] = await setup.simulator.settled();
    expect(answer.body).toBe(Buffer.from(record?.sent_body ?? "").toString("latin1"));
  });
});

describe("an upstream that breaks off after the first event", () => {
  test.each([
    ["closes the connection", { cut_after_events: 4 }, "upstream_truncated"],
    ["closes it in the middle of an event", { cut_after_events: 4, half_event: true }, "upstream_truncated"],
    ["resets it", { reset_after_events: 4 }, "upstream_truncated"],
    ["ends cleanly before its end", { end_after_events: 4 }, "upstream_truncated"],
    ["breaks the framing", { break_chunking_after_events: 4 }, "upstream_truncated"],
  ] satisfies [string, Script, string][])(
    "%s: the caller receives an error event and no [DONE]",
    async (_, script, code) => {
      const { text, record } = await stream({ script: { tokens: 9, event_ms: 100, ...script } });
      const events = eventsOf(text);
      expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ error: { code, param: null } });
      expect(text).not.toContain("[DONE]");
      expect(events.filter((data) => data.includes('"error"')).length).toBe(1);
      expect(record.hits).toBe(1);
    },
  );

  test("together with its last bytes: the caller receives an error event or an error answer, never a clean end", async () => {
    for (let round = 0; round < 10; round += 1) {
      const fault = round % 2 === 0 ? { cut_after_events: 4 } : { break_chunking_after_events: 4 };
      const answer = await rawChat(setup.gateway.port, { stream: true, script: { tokens: 9, ...fault } });
      expect(answer.text).toContain('"code":"upstream_truncated"');
      expect(answer.text).not.toContain("[DONE]");
    }
  });

  test("forwards the upstream's error event without adding a second one", async () => {
    const { text } = await stream({ script: { tokens: 9, event_ms: 20, error_event_after: 3 } });
    const errors = eventsOf(text).filter((data) => data.includes('"error"'));
    expect(errors.length).toBe(1);
    expect(JSON.parse(errors[0] ?? "")).toMatchObject({ error: { type: "server_error" } });
    expect(text).not.toContain("[DONE]");
  });

  test("a stall becomes a timeout event that names the timeout, and the upstream call is canceled", async () => {
    const { text, record } = await stream({
      model: "short-idle",
      script: { tokens: 9, event_ms: 20, stall_after_events: 3 },
    });
    const last = JSON.parse(eventsOf(text).at(-1) ?? "");
    expect(last).toMatchObject({ error: { code: "upstream_timeout" } });
    expect(last.error.message).toContain("idle");
    expect(record.aborted_at).not.toBeNull();
  });

  test("does not try another deployment, because the answer has already started", async () => {
    await setup.simulator.clear();
    const answer = await rawChat(setup.gateway.port, { stream: true, model: "no-way-back" });
    expect(answer.body).toContain("upstream_truncated");
    expect((await setup.simulator.settled()).length).toBe(1);
  });
});

describe("an upstream that fails before the first event", () => {
  test.each([
    "falls-back-500",
    "falls-back-cut",
    "falls-back-reset",
    "falls-back-stall",
    "falls-back-error",
    "falls-back-drop",
  ])("is replaced without the caller noticing: %s", async (name) => {
    const { text, head, record } = await stream({ model: name, script: { tokens: 3 } });
    expect(head).toContain("200 OK");
    expect(head).toContain("x-sluice-provider: sim\r\n");
    expect(record.model).toBe("good");
    expect(eventsOf(text).at(-1)).toBe("[DONE]");
    expect(text).not.toContain('"error"');
  });

  test.each([
    ["a stall before the status line", "short-headers", { latency_ms: 5_000 }, 504, "upstream_timeout", "headers"],
    [
      "a stall before the first event",
      "short-first_event",
      { stall_after_events: 0 },
      504,
      "upstream_timeout",
      "first_event",
    ],
    ["a cut before the first event", "gpt-test", { cut_after_events: 0 }, 502, "upstream_truncated", ""],
    ["an event that is too large", "gpt-test", { giant_event_bytes: 40_000_000 }, 502, "upstream_error", "bytes"],
  ] satisfies [string, string, Script, number, string, string][])(
    "without a fallback: %s is an error answer",
    async (_, model, script, status, code, part) => {
      const answer = await rawChat(setup.gateway.port, { stream: true, model, script });
      expect(answer.head).toContain(`HTTP/1.1 ${status}`);
      const { error } = JSON.parse(answer.body);
      expect(error.code).toBe(code);
      expect(error.message).toContain(part);
    },
  );
});

describe("an incomplete whole answer", () => {
  test.each([
    ["cut in the middle", { cut_after_events: 0 }],
    ["with a content-length that is too large", { content_length_delta: 10 }],
    ["not JSON", { malformed: true }],
  ] satisfies [string, Script][])("%s is a 502, never a 200", async (_, script) => {
    const answer = await rawChat(setup.gateway.port, { script });
    expect(answer.head).toContain("HTTP/1.1 502");
    expect(JSON.parse(answer.body).error.code).toMatch(/^upstream_(truncated|error)$/);
  });
});

describe("a caller that disconnects", () => {
  test.each([
    ["in the middle of a stream", true, { tokens: 300_000, event_ms: 4 }, "brown"],
    ["during silence inside a stream", true, { tokens: 9, stall_after_events: 3 }, "quick"],
  ] satisfies [string, boolean, Script, string][])("%s cancels the upstream", async (_, streamed, script, word) => {
    await setup.simulator.clear();
    await rawChat(setup.gateway.port, { stream: streamed, script }, { leaveAfter: word });
    expect(await abortedRecord()).toMatchObject({ terminal_sent: false, hits: 1 });
  });

  test.each([
    ["before a whole answer", false],
    ["before a stream's first byte", true],
  ])("%s cancels the upstream", async (_, streamed) => {
    await setup.simulator.clear();
    const abort = new AbortController();
    const call = rawChat(
      setup.gateway.port,
      { stream: streamed, script: { latency_ms: 600_000 } },
      { leave: abort.signal },
    );
    await until(async () => ((await setup.simulator.truth()).in_flight === 1 ? true : null));
    abort.abort();
    expect(await abortedRecord()).toMatchObject({ status: 0, hits: 1 });
    await call;
  });
});

test("a slow reader slows down the upstream, and receives everything in the end", async () => {
  await setup.simulator.clear();
  const reader = openSlowReader(setup.gateway.port, { stream: true, script: { tokens: 300_000 } });
  await reader.begun;
  const emitted = async (): Promise<number> => (await setup.simulator.truth()).data[0]?.bytes_emitted ?? 0;
  const buffered = await untilStable(emitted);
  expect(buffered).toBeGreaterThan(0);
  // Each connection's kernel buffers may hold ten megabytes; the whole answer is seventy.
  expect(buffered).toBeLessThan(32 * 1024 * 1024);
  const total = await reader.readAll();
  expect(total.endsWith("data: [DONE]\n\n\r\n0\r\n\r\n")).toBe(true);
  expect(total.match(/"content":" /g)?.length).toBe(300_000);
});

test("sends a comment after fifteen seconds of silence", async () => {
  const answer = await rawChat(setup.gateway.port, {
    stream: true,
    script: { tokens: 2, stall_after_events: 2, stall_ms: 16_000 },
  });
  const text = dechunk(answer.body);
  expect(text.match(/^:/gm)?.length).toBe(1);
  expect(eventsOf(text).at(-1)).toBe("[DONE]");
});

function abortedRecord(): Promise<TruthRecord> {
  return until(async () => {
    const { data } = await setup.simulator.truth();
    return data.find((record) => record.aborted_at !== null) ?? null;
  });
}
