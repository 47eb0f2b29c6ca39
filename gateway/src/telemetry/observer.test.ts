import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { LogLevel, RequestEnd } from "#ports/index.ts";
import { ledgerEntry } from "../../test/conformance/store-fixture.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { type AccessLogMode, createMetrics, createObserver, type ObserverOptions } from "./index.ts";
import { createLogWriter } from "./observer.ts";

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
  return {
    observer,
    lines,
    clock,
    parsed: () =>
      lines.flatMap((text) => text.trimEnd().split("\n")).map((line): Record<string, unknown> => JSON.parse(line)),
  };
}

const failed = ledgerEntry("1", { outcome: "failed", errorCode: "upstream_timeout", httpStatus: 504 });

test("a line is one JSON object with time, level, message and its fields", () => {
  const { observer, lines, parsed } = setUp("info");
  observer.log("info", "Ready.", { port: 8787 });
  expect(parsed()).toEqual([{ level: "info", time: "2026-01-01T12:00:00.000Z", msg: "Ready.", port: 8787 }]);
  expect(lines[0]).toEndWith("\n");
});

test("no line contains a credential, in a field or a text", () => {
  const { observer, lines } = setUp("info");
  observer.log("error", "Refused sk-canary-1234.", {
    headers: { authorization: "Bearer canary" },
    error: new Error("sk-canary"),
  });
  expect(lines.join("")).not.toContain("canary");
});

const answered: RequestEnd = {
  requestId: "req_1",
  method: "POST",
  route: "chat",
  status: 200,
  outcome: "succeeded",
  totalMs: 5.04,
  address: "192.0.2.1",
  key: "sk-sluice-ab",
  model: "gpt-5",
  error: null,
};

test("names the owner of the key in the access line, if it has one", () => {
  const { observer, parsed } = setUp("info");
  const principal = {
    ...{ workspace: { id: "ws_1", slug: "acme" }, group: { id: "grp_1", name: "default" } },
    ...{ key: { id: "key_1", name: "ci" }, person: "usr_ada", scopes: [] },
  } as unknown as NonNullable<RequestEnd["principal"]>;
  observer.requestEnd({ ...answered, principal });
  observer.requestEnd({ ...answered, principal: { ...principal, person: null } });
  observer.flush?.();
  const [own, shared] = parsed();
  expect(own).toMatchObject({ workspace: "acme", keyId: "key_1", keyName: "ci", person: "usr_ada" });
  expect(shared).toMatchObject({ workspace: "acme", keyId: "key_1", keyName: "ci" });
  expect(shared).not.toHaveProperty("person");
});

test("each request has an access line, in order with other lines", () => {
  const { observer, parsed, clock } = setUp("info");
  observer.requestEnd(answered);
  observer.log("info", "Between.");
  observer.requestEnd({
    ...answered,
    requestId: "req_2",
    status: 401,
    outcome: "refused",
    key: null,
    model: null,
    error: "invalid_api_key",
  });
  observer.requestEnd({ ...answered, requestId: "req_3", status: 502, outcome: "failed", error: "upstream_error" });
  clock.advance(bounds.accessLogMs);
  const common = { time: "2026-01-01T12:00:00.000Z", msg: "request", method: "POST", route: "chat" };
  const of = { totalMs: 5, address: "192.0.2.1" };
  expect(parsed()).toEqual([
    {
      level: "info",
      ...common,
      requestId: "req_1",
      status: 200,
      outcome: "succeeded",
      ...of,
      key: "sk-sluice-ab",
      model: "gpt-5",
    },
    { level: "info", time: common.time, msg: "Between." },
    { level: "info", ...common, requestId: "req_2", status: 401, outcome: "refused", ...of, error: "invalid_api_key" },
    {
      level: "warn",
      ...common,
      requestId: "req_3",
      status: 502,
      outcome: "failed",
      ...of,
      key: "sk-sluice-ab",
      model: "gpt-5",
      error: "upstream_error",
    },
  ]);
});

test("with several processes each line names its process", () => {
  const lines: string[] = [];
  const clock = new FakeClock();
  const write = (text: string) => lines.push(...text.trimEnd().split("\n"));
  const observer = createObserver({
    level: "info",
    format: "json",
    clock,
    metrics: createMetrics(),
    instance: "proc_1",
    write,
  });
  observer.requestEnd(answered);
  observer.log("info", "Ready.");
  expect(lines.map((line) => [JSON.parse(line).msg, JSON.parse(line).instance])).toEqual([
    ["request", "proc_1"],
    ["Ready.", "proc_1"],
  ]);
});

test("access lines are written in batches, and at once when the buffer is full", () => {
  const { observer, lines, clock } = setUp("info");
  for (let i = 0; i < 3; i++) observer.requestEnd(answered);
  expect(lines).toEqual([]);
  clock.advance(bounds.accessLogMs);
  expect(lines.map((text) => text.split("\n").length)).toEqual([4]);
  for (let i = 0; i < 1_000; i++) observer.requestEnd(answered);
  expect(lines.length).toBeGreaterThan(1);
  observer.flush();
  expect(lines.join("").split("\n")).toHaveLength(1_004);
});

test("a model name from a caller cannot break a line, leak a credential or flood the log", () => {
  const { observer, parsed } = setUp("info");
  const names = ['a"b\n{', "sk-canary-0123456789", "\u001b[2J", "x".repeat(100_000)];
  for (const model of names) observer.requestEnd({ ...answered, model });
  observer.flush();
  const lines = parsed().map((line) => JSON.stringify(line));
  expect(lines.join()).not.toContain("canary");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1_000);
});

test("successful probes have no line, and SLUICE_ACCESS_LOG filters the rest", () => {
  const linesOf = (mode: AccessLogMode): unknown[] => {
    const lines: string[] = [];
    const observer = createObserver({
      level: "info",
      format: "json",
      accessLog: mode,
      clock: new FakeClock(0),
      metrics: createMetrics(),
      write: (text) => lines.push(...text.trimEnd().split("\n")),
    });
    observer.requestEnd({ ...answered, route: "readyz" });
    observer.requestEnd({ ...answered, route: "readyz", status: 503, outcome: "failed" });
    observer.requestEnd(answered);
    observer.requestEnd({ ...answered, status: 404, outcome: "refused", error: "model_not_found" });
    observer.flush();
    return lines.map((line) => JSON.parse(line).status);
  };
  expect(linesOf("all")).toEqual([503, 200, 404]);
  expect(linesOf("errors")).toEqual([503, 404]);
  expect(linesOf("off")).toEqual([503]);
});

test("a successful attempt writes a line only at level debug", () => {
  const quiet = setUp("info");
  quiet.observer.attemptEnd(ledgerEntry("1"));
  expect(quiet.lines).toEqual([]);
  const loud = setUp("debug");
  loud.observer.attemptEnd(ledgerEntry("1"));
  expect(loud.parsed().map((line) => line["level"])).toEqual(["debug"]);
});

test("a failed attempt and, without access lines, a 5xx answer are one warning each with the ids", () => {
  const { observer, parsed } = setUp("warn");
  observer.attemptEnd(failed);
  observer.requestEnd({ ...answered, status: 502, outcome: "failed", error: "upstream_error" });
  observer.requestEnd(answered);
  expect(parsed()).toMatchObject([
    { level: "warn", requestId: "req_1", attemptId: "att_1", provider: "openai-main", error: "upstream_timeout" },
    { level: "warn", requestId: "req_1", route: "chat", status: 502, error: "upstream_error" },
  ]);
});

test("repeated failures are counted instead of written", () => {
  const { observer, lines, clock, parsed } = setUp("info");
  for (let i = 0; i < 1_000; i++) observer.attemptEnd(failed);
  expect(lines).toHaveLength(bounds.failureLinesPerSecond);
  clock.advance(1_000);
  observer.attemptEnd(failed);
  expect(parsed().at(-1)).toMatchObject({ suppressed: 1_000 - bounds.failureLinesPerSecond });
});

test("logs an error for a refused config file: the current configuration stays", () => {
  const { observer, parsed } = setUp("info");
  observer.configReload("applied", "provider openai added");
  observer.configReload("refused", "providers: expected an array");
  expect(parsed()).toMatchObject([
    { level: "info", msg: "configuration reloaded", result: "applied", detail: "provider openai added" },
    {
      level: "error",
      msg: "config file refused; keeping the current configuration",
      detail: "providers: expected an array",
    },
  ]);
});

test("does not write lines below the level", () => {
  const { observer, parsed } = setUp("error");
  for (const level of ["debug", "info", "warn", "error"] as const) observer.log(level, level);
  expect(parsed().map((line) => line["msg"])).toEqual(["error"]);
});

test("writes audit entries as lines for other programs, and not in pretty form", () => {
  for (const [format, count] of [
    ["json", 1],
    ["pretty", 0],
  ] as const) {
    const { observer, lines } = setUp("info", format);
    observer.log("info", "audit", { event: "audit", auditId: 1 });
    expect(lines.length).toBe(count);
  }
});

test("the pretty form is one line without control characters", () => {
  const { observer, lines } = setUp("info", "pretty");
  observer.log("warn", "Evil \u001b[2J\nline", {
    model: "a\u001b[31m",
    port: 1,
    agents: ["\u009b2J", "\u009d0;x\u009c"],
  });
  const plain = Bun.stripANSI(lines[0] ?? "");
  expect(plain).toContain("12:00:00.000  warn   Evil  [2J line");
  expect(plain).toContain("port=1");
  expect([...plain.trimEnd()].filter((c) => c < " ")).toEqual([]);
  // Single characters that start a control sequence; `Bun.stripANSI` removes them too.
  expect([...(lines[0] ?? "")].filter((c) => c >= "\u007f" && c <= "\u009f")).toEqual([]);
});

test("logging never throws", () => {
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

test("drops lines for a stalled reader and reports how many", () => {
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
