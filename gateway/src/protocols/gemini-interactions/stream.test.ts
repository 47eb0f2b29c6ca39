import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import { pushCut } from "../../../test/cut-stream.ts";
import { InteractionStreamTap } from "./stream.ts";

const event = (event_type: string, members: object = {}): string =>
  `event: ${event_type}\ndata: ${JSON.stringify({ event_type, ...members })}\n\n`;
const usage = (output: number): object => ({
  total_input_tokens: 9,
  total_output_tokens: output,
  total_tokens: 9 + output,
});
const head = { id: "v1_1", object: "interaction", model: "gemini-x" };
const created = event("interaction.created", { interaction: { ...head, status: "in_progress" } });
const text = (content: string): string => event("step.delta", { index: 0, delta: { type: "text", text: content } });
const completed = (status: string, more: object = {}): string =>
  event("interaction.completed", { interaction: { ...head, status, usage: usage(22), ...more } });
const done = "data: [DONE]\n\n";
const whole = [
  created,
  ": keep-alive\n\n",
  event("step.start", { index: 0, step: { type: "model_output" } }),
  text("Grüße "),
  text('"event_type":"interaction.completed","status":"failed"'),
  event("step.stop", { index: 0, usage: usage(5) }),
  event("step.start", { index: 1, step: { type: "function_call", id: "c1", name: "f", arguments: {} } }),
  event("step.delta", { index: 1, delta: { type: "arguments_delta", arguments: '{"usage":{"total_tokens":1}}' } }),
  event("step.stop", { index: 1 }),
  completed("requires_action"),
  done,
].join("");

function listen(stream: string, cuts: readonly number[] = []): { tap: InteractionStreamTap; out: string } {
  const tap = new InteractionStreamTap();
  return { tap, out: pushCut(tap, stream, cuts) };
}

const facts = (tap: InteractionStreamTap): unknown => [
  ...[tap.events, tap.ended, tap.complete(), tap.outputEstimate, tap.contentSeen],
  ...[tap.usage, tap.usageFinal, tap.id, tap.failure, tap.createdIds],
];

describe("a stream of an interaction", () => {
  test("passes every byte, uses the usage of its last event, and ends with [DONE]", () => {
    const { tap, out } = listen(whole);
    expect(out).toBe(whole);
    expect(tap.usage?.usage).toMatchObject({ inputUncached: 9, output: 22 });
    expect([tap.ended, tap.complete(), tap.usageFinal, tap.id, tap.failure]).toEqual([true, true, true, "v1_1", null]);
  });

  test("is read the same way in pieces of any size", () => {
    const expected = facts(listen(whole).tap);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5_000 }), { maxLength: 30 }), (cuts) => {
        const { tap, out } = listen(whole, cuts);
        expect(out).toBe(whole);
        expect(facts(tap)).toEqual(expected);
      }),
    );
  });

  test("without its last event is incomplete, with an estimate of what was sent", () => {
    const { tap } = listen(created + text("word ".repeat(40)));
    expect([tap.complete(), tap.contentSeen, tap.usage, tap.usageFinal]).toEqual([false, true, null, false]);
    expect(tap.outputEstimate).toBeGreaterThan(20);
  });

  test("reports the usage so far, which is not final", () => {
    const { tap } = listen(created + text("a") + event("step.stop", { index: 0, usage: usage(5) }));
    expect([tap.usage?.usage.output, tap.usageFinal]).toEqual([5, false]);
  });

  test.each(["completed", "incomplete", "requires_action", "budget_exceeded", "cancelled", "requires_continuation"])(
    "is complete with the status %s",
    (status) => expect(listen(created + completed(status)).tap).toMatchObject({ failure: null, usageFinal: true }),
  );

  test("keeps the token that continues it", () => {
    const { tap } = listen(created + completed("requires_continuation", { continuation_token: "tok" }));
    expect(tap.createdIds).toHaveLength(1);
  });

  test.each([
    ["an error event", created + text("a") + event("error", { error: { code: "unavailable", message: "Busy." } })],
    ["the status failed", created + completed("failed", { errors: [{ code: "internal", message: "Busy." }] })],
  ])("fails with %s", (_, stream) => {
    const { failure } = listen(stream).tap;
    expect(failure).toBeInstanceOf(Failure);
    expect(failure?.message).toContain("Busy.");
  });

  test("fails if its first event is not JSON", () => {
    expect(() => listen("data: {nonsense\n\n")).toThrow(Failure);
  });

  test.each(["null", "[]", "7", '{"event_type":5}', '{"event_type":"step.delta","delta":[],"index":"x"}', "{"])(
    "ignores an event of an unknown form: %s",
    (data) => {
      const { tap } = listen(`${created}data: ${data}\n\n${completed("completed")}${done}`);
      expect([tap.ended, tap.failure, tap.usageFinal]).toEqual([true, null, true]);
    },
  );
});
