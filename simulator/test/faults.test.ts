import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../../test/until.ts";
import { type RunningSimulator, type Script, serveSimulator, type TruthRecord } from "../src/index.ts";
import { dechunk, eventsOf, type RawAnswer, type RawOptions, rawCall } from "./raw-call.ts";

let running: RunningSimulator;

beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());

let attempts = 0;

/** Makes one scripted call. Returns the answer, and the truth record once the simulator has finished. */
async function play(
  script: Script,
  stream: boolean,
  options: Partial<RawOptions> = {},
): Promise<{ answer: RawAnswer; record: TruthRecord }> {
  attempts += 1;
  const id = `att-${attempts}`;
  const answer = await rawCall(running.port, {
    body: {
      model: "demo",
      stream,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "x" }],
    },
    ...options,
    headers: { "x-attempt-id": id, "x-sim-script": asciiJson({ tokens: 8, ...script }) },
  });
  return { answer, record: await endedRecord(id) };
}

async function endedRecord(id: string): Promise<TruthRecord> {
  return await until(() => {
    const record = running.simulator.truth.find(id);
    return record?.ended_at == null ? null : record;
  });
}

describe("a healthy stream", () => {
  test("contains every event once and ends cleanly, as the truth records", async () => {
    const { answer, record } = await play({}, true);
    const events = eventsOf(dechunk(answer.body));
    // role, eight pieces, finish, usage, [DONE]
    expect(events.length).toBe(12);
    expect(events.at(-1)).toBe("[DONE]");
    expect(record).toMatchObject({
      status: 200,
      events_emitted: 11,
      output_tokens_emitted: 8,
      prompt_tokens: 1,
      terminal_sent: true,
      usage_sent: true,
      aborted_at: null,
    });
    expect(record.bytes_emitted).toBe(dechunk(answer.body).length);
  });
});

describe("faults in a stream", () => {
  test("cut_after_events: ends with FIN, without a terminal event or the end of the framing", async () => {
    const { answer, record } = await play({ cut_after_events: 4 }, true);
    expect(answer.ending).toBe("fin");
    expect(() => dechunk(answer.body)).toThrow();
    expect(answer.body.match(/data: /g)?.length).toBe(4);
    expect(answer.body).not.toContain("[DONE]");
    expect(record).toMatchObject({ events_emitted: 4, output_tokens_emitted: 3, terminal_sent: false });
  });

  test("reset_after_events: ends with RST", async () => {
    const { answer } = await play({ reset_after_events: 2, event_ms: 5 }, true);
    expect(answer.ending).toBe("reset");
  });

  test("end_after_events: the framing ends correctly although the stream is not complete", async () => {
    const { answer, record } = await play({ end_after_events: 3 }, true);
    expect(eventsOf(dechunk(answer.body)).length).toBe(3);
    expect(record.terminal_sent).toBe(false);
  });

  test("half_event: sends the first half of an event before the cut", async () => {
    const { answer } = await play({ cut_after_events: 3, half_event: true }, true);
    const tail = answer.body.slice(answer.body.lastIndexOf("data: "));
    expect(tail).not.toContain("\n\n");
    expect(answer.body.match(/data: /g)?.length).toBe(4);
  });

  test("break_chunking_after_events: sends bytes that are not a chunk size", async () => {
    const { answer } = await play({ break_chunking_after_events: 2 }, true);
    expect(() => dechunk(answer.body)).toThrow(/invalid chunk size/);
  });

  test("error_event_after: sends an error inside the 200 response, and no [DONE]", async () => {
    const { answer } = await play({ error_event_after: 2 }, true);
    const events = eventsOf(dechunk(answer.body));
    expect(events.length).toBe(3);
    expect(JSON.parse(events[2] ?? "")).toMatchObject({ error: { type: "server_error", code: null } });
  });

  test("malformed: only the third event is not JSON", async () => {
    const { answer } = await play({ malformed: true }, true);
    const malformed = eventsOf(dechunk(answer.body)).map((data) => data !== "[DONE]" && !isJson(data));
    expect(malformed.flatMap((isMalformed, index) => (isMalformed ? [index] : []))).toEqual([2]);
  });

  test("no_usage and zero_usage: send no usage chunk, or one with zeros", async () => {
    const none = await play({ no_usage: true }, true);
    expect(none.answer.body).not.toContain('"usage"');
    expect(none.record.usage_sent).toBe(false);
    const zero = await play({ zero_usage: true }, true);
    expect(zero.answer.body).toContain('"completion_tokens":0');
    expect(zero.record.output_tokens_emitted).toBe(8);
  });

  test("done false: sends everything except [DONE]", async () => {
    const { answer, record } = await play({ done: false }, true);
    expect(dechunk(answer.body)).not.toContain("[DONE]");
    expect(record).toMatchObject({ usage_sent: true, terminal_sent: false });
  });

  test("giant_event_bytes: the second event is that large, and the stream still ends correctly", async () => {
    const { answer } = await play({ giant_event_bytes: 2_000_000 }, true);
    const events = eventsOf(dechunk(answer.body));
    expect(events[1]?.length).toBeGreaterThan(2_000_000);
    expect(events.at(-1)).toBe("[DONE]");
  });

  test("one_byte_chunks, crlf and keep_alive_comments change the bytes, but not the events", async () => {
    const { answer } = await play({ one_byte_chunks: true, crlf: true, keep_alive_comments: true, tokens: 2 }, true);
    const text = dechunk(answer.body);
    expect(answer.body.startsWith("1\r\n:\r\n1\r\n \r\n")).toBe(true);
    expect(text.replaceAll("\r\n", "").includes("\n")).toBe(false);
    expect(text.match(/: keep-alive\r\n\r\n/g)?.length).toBe(6);
    expect(eventsOf(text).length).toBe(6);
  });
});

describe("a delay", () => {
  test("of latency_ms comes before the status line, one of first_event_ms after it", async () => {
    const { answer } = await play({ latency_ms: 60, first_event_ms: 60 }, true);
    expect(answer.firstByteMs).toBeGreaterThanOrEqual(55);
    expect(answer.firstBodyMs).toBeGreaterThanOrEqual(115);
    const headOnly = await play({ first_event_ms: 600_000 }, true, { leaveAfter: "\r\n\r\n" });
    expect([headOnly.answer.head.includes("200 OK"), headOnly.answer.body]).toEqual([true, ""]);
  });

  test("of event_ms separates events, and keep_alive_ms fills it with comments", async () => {
    const { answer } = await play({ tokens: 3, event_ms: 40, keep_alive_ms: 15 }, true);
    expect(answer.endMs).toBeGreaterThanOrEqual(5 * 40);
    expect(answer.body.match(/: keep-alive/g)?.length).toBeGreaterThanOrEqual(8);
    expect(eventsOf(dechunk(answer.body)).length).toBeGreaterThan(0);
  });

  test("of stall_after_events lasts for stall_ms, and the stream then continues", async () => {
    const { answer } = await play({ stall_after_events: 2, stall_ms: 80 }, true);
    expect(answer.endMs).toBeGreaterThanOrEqual(78);
    expect(eventsOf(dechunk(answer.body)).at(-1)).toBe("[DONE]");
  });

  test("between events ends at once when the caller disconnects, as the truth records", async () => {
    const before = Date.now();
    const { record } = await play({ tokens: 100_000, event_ms: 5 }, true, { leaveAfter: "brown" });
    expect(record.aborted_at).toBeWithin(before, (record.ended_at ?? 0) + 1);
    expect(record.output_tokens_emitted).toBeLessThan(100_000);
    expect(record.terminal_sent).toBe(false);
  });

  test("without an end ends when the caller disconnects", async () => {
    const { record } = await play({ stall_after_events: 1 }, true, { leaveAfter: "assistant" });
    expect(record).toMatchObject({ events_emitted: 1, output_tokens_emitted: 0 });
    expect(record.aborted_at).not.toBeNull();
  });
});

describe("faults in a whole response", () => {
  test("content_length_delta: the header is wrong", async () => {
    const { answer } = await play({ content_length_delta: 10 }, false);
    const declared = Number(/content-length: (\d+)/.exec(answer.head)?.[1]);
    expect(declared).toBe(Buffer.from(answer.body, "latin1").length + 10);
    expect(answer.ending).toBe("fin");
  });

  test("malformed: the response is not JSON", async () => {
    const { answer } = await play({ malformed: true }, false);
    expect(answer.head).toContain("200 OK");
    expect(isJson(answer.body)).toBe(false);
  });

  test("cut and reset happen in the middle of the body", async () => {
    const cut = await play({ cut_after_events: 0 }, false);
    const declared = Number(/content-length: (\d+)/.exec(cut.answer.head)?.[1]);
    expect(cut.answer.body.length).toBe(declared >> 1);
    const reset = await play({ reset_after_events: 0 }, false);
    expect(reset.answer.ending).toBe("reset");
  });

  test("drop: the connection closes without sending anything", async () => {
    const { answer, record } = await play({ drop: true }, false);
    expect(answer.text).toBe("");
    expect(record.status).toBe(0);
  });

  test("raw_reply: sends exactly these bytes", async () => {
    const { answer } = await play({ raw_reply: "HTTP/1.1 999 \u00ff\r\n\u0000" }, false);
    expect(answer.text).toBe("HTTP/1.1 999 \u00ff\r\n\u0000");
  });

  test("status, headers and body: are sent as scripted", async () => {
    const script = { status: 502, headers: { "x-odd": "yes" }, body: "<html>bad gateway</html>" };
    const { answer, record } = await play(script, false);
    expect(answer.head).toContain("HTTP/1.1 502");
    expect(answer.head).toContain("x-odd: yes");
    expect(answer.body).toBe("<html>bad gateway</html>");
    expect(record.status).toBe(502);
  });
});

/** JSON for a header: everything outside ASCII is escaped. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([true, false])("answer_lost: processes the prompt but sends nothing (stream: %p)", async (stream) => {
  const { answer, record } = await play({ answer_lost: "cut" }, stream);
  expect([answer.text, answer.ending]).toEqual(["", "fin"]);
  expect(record).toMatchObject({ status: 0, prompt_tokens: 1, output_tokens_emitted: 0, aborted_at: null });
});
