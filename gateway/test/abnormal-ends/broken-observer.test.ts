import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { createMetrics, createObserver, guardedObserver } from "#telemetry/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { callWith, messages, noise } from "./relay-ground.ts";

const throwing = (): never => {
  throw new TypeError("undefined is not an object");
};
const codec = messages().protocol.codec;
if (codec === null) throw new Error("messages can be translated");

describe("an observer that throws", () => {
  test.each([
    ["a whole answer", false],
    ["a stream", true],
  ])(
    "keeps %s from nothing: it is booked once, its place in flight and its permit are given back",
    async (_, stream) => {
      const { left, entries, faults } = await callWith(codec, stream, { ...noise, attemptEnd: throwing });
      expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
      expect(entries).toEqual([["succeeded", null, true]]);
    },
  );

  test.each([
    ["before its answer", "upstream_unreachable", "failed"],
    ["because its caller left", "client_closed", "cancelled"],
  ] as const)("does not keep a call that failed %s from its end", async (_, code, outcome) => {
    const transport = () => ({
      send: () => Promise.reject(new Failure(code, "gone", { arrival: "unknown", retry: "never" })),
    });
    const { heard, left, entries } = await callWith(codec, false, { ...noise, attemptEnd: throwing }, { transport });
    expect([heard, left]).toEqual(["internal_error", [0, 0, 0, 0, 0]]);
    expect(entries).toEqual([[outcome, code, false]]);
  });

  test.each([
    ["a whole answer", false],
    ["a stream", true],
  ])("is not noticed by the caller of %s where the gateway guards it", async (_, stream) => {
    const broken: Observer = {
      log: throwing,
      attemptEnd: throwing,
      requestEnd: throwing,
      breakerChange: throwing,
      configReload: throwing,
    };
    const { heard, left, entries } = await callWith(codec, stream, guardedObserver(broken));
    expect(heard).toMatch(messages().goodEnd.source === "" || !stream ? /"usage"/ : messages().goodEnd);
    expect([left, entries]).toEqual([[0, 0, 0, 0, 0], [["succeeded", null, true]]]);
  });

  test("is logged, when the log itself is well", () => {
    const lines: string[] = [];
    const metrics = createMetrics();
    const told = createObserver({
      level: "error",
      format: "json",
      clock: new FakeClock(),
      metrics,
      write: (line) => void lines.push(line),
    });
    guardedObserver({ ...told, log: told.log.bind(told), configReload: throwing }).configReload("applied", "");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("undefined is not an object");
  });
});
