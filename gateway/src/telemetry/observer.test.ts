import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { LogLevel } from "#ports/index.ts";
import { ledgerEntry } from "../../test/conformance/store-ground.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { createMetrics, createObserver, type ObserverOptions } from "./index.ts";
import { createLogWriter } from "./log-writer.ts";

function setUp(level: LogLevel, format: ObserverOptions["format"] = "json") {
  const lines: string[] = [];
  const clock = new FakeClock(Date.UTC(2026, 0, 1, 12));
  const observer = createObserver({
    level,
    format,
    clock,
    metrics: createMetrics(),
    write: (line) => lines.push(line),
  });
  return { observer, lines, clock, parsed: () => lines.map((line): Record<string, unknown> => JSON.parse(line)) };
}

const failed = ledgerEntry("1", { outcome: "failed", errorCode: "upstream_timeout", httpStatus: 504 });

test("a line is one JSON object with time, level, message and its fields", () => {
  const { observer, lines, parsed } = setUp("info");
  observer.log("info", "Ready.", { port: 8787 });
  expect(parsed()).toEqual([{ level: "info", time: "2026-01-01T12:00:00.000Z", msg: "Ready.", port: 8787 }]);
  expect(lines[0]).toEndWith("\n");
});

test("a credential reaches no line, in a field or in a text", () => {
  const { observer, lines } = setUp("info");
  observer.log("error", "Refused sk-canary-1234.", {
    headers: { authorization: "Bearer canary" },
    error: new Error("sk-canary"),
  });
  expect(lines.join("")).not.toContain("canary");
});

test("requests and attempts that went well write a line only at level debug", () => {
  const quiet = setUp("info");
  quiet.observer.attemptEnd(ledgerEntry("1"));
  quiet.observer.requestEnd("chat", 200, 5);
  quiet.observer.requestEnd("chat", 404, 5);
  expect(quiet.lines).toEqual([]);
  const loud = setUp("debug");
  loud.observer.attemptEnd(ledgerEntry("1"));
  loud.observer.requestEnd("chat", 200, 5);
  expect(loud.parsed().map((line) => line["level"])).toEqual(["debug", "debug"]);
});

test("a failed attempt and an answer of 5xx are one warning each, with what is needed to find them", () => {
  const { observer, parsed } = setUp("info");
  observer.attemptEnd(failed);
  observer.requestEnd("chat", 502, 5);
  expect(parsed()).toMatchObject([
    { level: "warn", requestId: "req_1", attemptId: "att_1", provider: "openai-main", error: "upstream_timeout" },
    { level: "warn", route: "chat", status: 502 },
  ]);
});

test("a storm of failures is counted, not written", () => {
  const { observer, lines, clock, parsed } = setUp("info");
  for (let i = 0; i < 1_000; i++) observer.attemptEnd(failed);
  expect(lines).toHaveLength(bounds.failureLinesPerSecond);
  clock.advance(1_000);
  observer.attemptEnd(failed);
  expect(parsed().at(-1)).toMatchObject({ suppressed: 1_000 - bounds.failureLinesPerSecond });
});

test("a level that is not asked for is not written", () => {
  const { observer, parsed } = setUp("error");
  for (const level of ["debug", "info", "warn", "error"] as const) observer.log(level, level);
  expect(parsed().map((line) => line["msg"])).toEqual(["error"]);
});

test("the pretty form is one line that cannot move the reader's cursor", () => {
  const { observer, lines } = setUp("info", "pretty");
  observer.log("warn", "Evil \u001b[2J\nline", { model: "a\u001b[31m", port: 1 });
  const plain = Bun.stripANSI(lines[0] ?? "");
  expect(plain).toContain("12:00:00.000  warn   Evil  [2J line");
  expect(plain).toContain("port=1");
  expect([...plain.trimEnd()].filter((c) => c < " ")).toEqual([]);
});

test("logging never throws, whatever it is given", () => {
  const { observer, lines } = setUp("info");
  const trap = {
    get bomb(): never {
      throw new Error("bomb");
    },
  };
  observer.log("info", "trap", trap);
  observer.log("info", "ok", { big: 1n, symbol: Symbol("s"), f: () => 1 });
  expect(lines).toHaveLength(1);
});

test("a reader of the log that stalls loses lines and is told how many", () => {
  const written: string[] = [];
  const stream = {
    writableLength: 0,
    write: (text: string) => written.push(text),
    on: () => {},
  };
  const write = createLogWriter(stream);
  write("a\n");
  stream.writableLength = bounds.logBacklogBytesMax + 1;
  write("b\n");
  write("c\n");
  stream.writableLength = 0;
  write("d\n");
  expect(written[0]).toBe("a\n");
  expect(written[1]).toContain('"dropped":2');
  expect(written[2]).toBe("d\n");
});
