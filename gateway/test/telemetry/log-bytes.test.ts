import { expect, test } from "bun:test";
import fc from "fast-check";
import { bounds } from "#core/index.ts";
import type { RequestEnd } from "#ports/index.ts";
import { type LogEvent, LogMaker } from "../../src/telemetry/otlp/log-maker.ts";
import { requestAsJson } from "../../src/telemetry/otlp/otlp-json.ts";
import { LogBytes } from "../../src/telemetry/otlp/request-bytes.ts";
import { Traces } from "../../src/telemetry/otlp/traces.ts";
import { ledgerEntry } from "../conformance/store-fixture.ts";
import { attributesOf, origin, read, readJson, theirLogs } from "./opentelemetry.ts";
import { logs } from "./otlp-shapes.ts";

const maker = () =>
  new LogMaker(new Traces({ sampler: { parentBased: true, ratio: 1 }, propagates: true }), {
    now: () => 1_800_000_000_123,
  });

const name = fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).filter((key) => key !== "__proto__");
const word = fc.string({ unit: "binary", maxLength: 300 });
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    word,
    fc.boolean(),
    fc.maxSafeNat(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: 0.1, max: 1e9 }).filter((one) => !Number.isInteger(one)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const requestId = fc.oneof(fc.constant("req_01KX4ABCDEFGHJKMNPQRSTVWXY"), fc.string({ minLength: 1, maxLength: 20 }));
const lines: fc.Arbitrary<LogEvent> = fc
  .record({
    level: fc.constantFrom("debug", "info", "warn", "error"),
    time: fc.constantFrom("2026-11-23T08:00:00.123Z", "2026-11-23T08:00:00.000Z"),
    msg: fc.string({ unit: "binary", minLength: 1, maxLength: 200 }),
    requestId: fc.option(requestId, { nil: undefined }),
    more: fc.dictionary(name, value, { maxKeys: 6, noNullPrototype: true }),
  })
  .map(({ more, ...line }) => JSON.stringify({ ...more, ...line }));
const requests: fc.Arbitrary<LogEvent> = fc.record({
  level: fc.constantFrom("info", "warn"),
  atMs: fc.nat({ max: 4e12 }),
  end: fc.record({
    requestId,
    method: fc.constantFrom("GET", "POST"),
    route: fc.constantFrom("chat", "messages"),
    status: fc.constantFrom(200, 404, 500),
    outcome: fc.constantFrom("succeeded", "refused", "failed"),
    path: fc.option(fc.constantFrom("/x", "/chat/completions")),
    message: fc.option(fc.string({ unit: "binary", minLength: 1, maxLength: 500 })),
    totalMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    address: fc.constantFrom("10.0.0.1", "::1"),
    key: fc.option(fc.constantFrom("sk-ali", "sk-bob")),
    model: fc.option(fc.string({ unit: "binary", minLength: 1, maxLength: 400 })),
    error: fc.option(fc.constant("upstream_error")),
  }) as fc.Arbitrary<RequestEnd>,
});

test("encodes log records as OpenTelemetry's own writer does", () => {
  const logMaker = maker();
  const row = new LogBytes(origin);
  fc.assert(
    fc.property(fc.array(fc.oneof(lines, requests), { minLength: 1, maxLength: 4 }), (events) => {
      for (const event of events) {
        const fields = logMaker.recordOf(event);
        if (fields !== null) row.put(fields);
      }
      expect(row.size).toBe(events.length);
      const request = row.take(events.length);
      // The fields object of one record is reused for the next.
      const theirs = maker();
      expect(read(request, logs)).toEqual(theirLogs(events, (event) => theirs.recordOf(event)));
      expect(readJson(requestAsJson(request, "logs"))).toEqual(read(request, logs));
    }),
    { numRuns: 200 },
  );
});

test("encodes events; keeps values that are nested too deeply as text", () => {
  const deep = `${"[".repeat(40)}${"]".repeat(40)}`;
  const input = '[{"role":"user","parts":[{"type":"text","content":"a \\"[{ ü"}]}]';
  const content = { system: null, input, output: deep, truncated: true };
  const row = new LogBytes(origin);
  const event = { entry: ledgerEntry("1"), content };
  const fields = maker().recordOf(event);
  if (fields === null) throw new Error("there is no record");
  row.put(fields);
  expect(read(row.take(1), logs)).toEqual(theirLogs([fields], (one) => one));
  expect(fields.attributes).toMatchObject({
    "gen_ai.input.messages": JSON.parse(input),
    "gen_ai.output.messages": deep,
    "sluice.content.truncated": true,
  });
});

test.each([
  ["01", 0, 1],
  ["00", 1, 0],
  [null, 1, 1],
  [null, 0, 0],
])("a record states whether the spans of its trace are exported (parent %s, ratio %d: %d)", (parent, ratio, flags) => {
  const traces = new Traces({ sampler: { parentBased: true, ratio }, propagates: true });
  const traceparent = parent === null ? null : `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${parent}`;
  traces.arrived("req_1", { get: (header) => (header === "traceparent" ? traceparent : null) });
  const logMaker = new LogMaker(traces, { now: () => 1 });
  const end = { requestId: "req_1", method: "POST", route: "chat", status: 200, outcome: "succeeded" };
  const request = {
    end: { ...end, totalMs: 1, address: "::1", key: null, model: null, error: null } as RequestEnd,
    level: "info",
    atMs: 1,
  } as const;
  const line = JSON.stringify({ level: "warn", msg: "A line.", requestId: "req_1" });
  const attempt = {
    entry: { ...ledgerEntry("1"), requestId: "req_1" },
    content: { system: null, input: "[]", output: null, truncated: false },
  };
  for (const event of [request, line, attempt]) {
    const fields = logMaker.recordOf(event);
    if (fields === null) throw new Error("there is no record");
    const row = new LogBytes(origin);
    row.put(fields);
    expect(JSON.stringify(read(row.take(1), logs))).toContain(`"flags":${flags}`);
  }
});

test("a request line contains no credential that a caller used as model or method", () => {
  const end = {
    requestId: "req_1",
    method: "POST",
    route: "chat",
    status: 200,
    totalMs: 1.26,
    address: "::1",
    key: null,
  };
  const model = `sk-proj-${"x".repeat(40)}`;
  const fields = maker().recordOf({ end: { ...end, model, error: null } as RequestEnd, level: "info", atMs: 1 });
  expect(fields === null ? null : { ...fields.shared?.attributes, ...attributesOf(fields.own) }).toEqual({
    ...{ requestId: "req_1", method: "POST", route: "chat", status: 200, totalMs: 1.3, address: "::1" },
    model: "sk-[redacted]",
  });
});

test("exports only the message of a very long line, and no line that is not ours", () => {
  const long = JSON.stringify({ level: "warn", msg: "Long.", a: 1, b: "x".repeat(bounds.logRecordCharactersMax) });
  expect(maker().recordOf(long)).toMatchObject({ body: "Long.", severity: 13, attributes: {}, dropped: 2 });
  for (const odd of ["", "[]", "null", "a line", '{"level":']) expect(maker().recordOf(odd)).toBeNull();
});
