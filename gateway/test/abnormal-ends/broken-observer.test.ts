import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { createMetrics, createObserver, guardedObserver } from "#telemetry/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { transportOf } from "../sending-transport.ts";
import { callWith, messages, noise } from "./relay-fixture.ts";

const throwing = (): never => {
  throw new TypeError("undefined is not an object");
};
const codec = messages().protocol.codec;
if (codec === null) throw new Error("messages can be translated");

describe("an observer that throws", () => {
  test.each([
    ["a whole answer", false],
    ["a stream", true],
  ])("does not affect %s: it is stored once, and its slot and permit are released", async (_, stream) => {
    const { left, entries, faults } = await callWith(codec, stream, { ...noise, attemptEnd: throwing });
    expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
    expect(entries).toEqual([["succeeded", null, true]]);
  });

  test.each([
    ["before its answer", "upstream_unreachable", "failed"],
    ["because its caller disconnected", "client_closed", "cancelled"],
  ] as const)("does not block the end of a call that failed %s", async (_, code, outcome) => {
    const transport = () =>
      transportOf(() => Promise.reject(new Failure(code, "gone", { arrival: "unknown", retry: "never" })));
    const { received, left, entries } = await callWith(codec, false, { ...noise, attemptEnd: throwing }, { transport });
    expect([received, left]).toEqual(["internal_error", [0, 0, 0, 0, 0]]);
    expect(entries).toEqual([[outcome, code, false]]);
  });

  test.each([
    ["a whole answer", false],
    ["a stream", true],
  ])("is not visible to the caller of %s if the gateway guards it", async (_, stream) => {
    const broken: Observer = {
      log: throwing,
      attemptEnd: throwing,
      requestEnd: throwing,
      breakerChange: throwing,
      configReload: throwing,
    };
    const { received, left, entries } = await callWith(codec, stream, guardedObserver(broken));
    expect(received).toMatch(messages().goodEnd.source === "" || !stream ? /"usage"/ : messages().goodEnd);
    expect([left, entries]).toEqual([[0, 0, 0, 0, 0], [["succeeded", null, true]]]);
  });

  test("is logged if the log itself works", () => {
    const lines: string[] = [];
    const metrics = createMetrics();
    const inner = createObserver({
      level: "error",
      format: "json",
      clock: new FakeClock(),
      metrics,
      write: (line) => void lines.push(line),
    });
    guardedObserver({ ...inner, log: inner.log.bind(inner), configReload: throwing }).configReload("applied", "");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("undefined is not an object");
  });
});
