import { describe, expect, test } from "bun:test";
import type { CallerCodec } from "#protocols/index.ts";
import { callWith, messages } from "./relay-fixture.ts";

function broken(): never {
  throw new TypeError("undefined is not an object");
}

/** The Messages codec with one broken part. `after`: how many events are written before `write` breaks. */
function brokenCodec(part: "readTurn" | "writeAnswer" | "writeEvents" | "write", after = 0): CallerCodec {
  const sound = messages().protocol.codec;
  if (sound === null) throw new Error("messages can be translated");
  return {
    readTurn: part === "readTurn" ? broken : sound.readTurn,
    writeAnswer: part === "writeAnswer" ? broken : sound.writeAnswer,
    writeEvents(context) {
      if (part === "writeEvents") broken();
      const writer = sound.writeEvents(context);
      let written = 0;
      return { write: (event) => (part === "write" && written++ >= after ? broken() : writer.write(event)) };
    },
  };
}

describe("a bug in a codec ends its call and leaves nothing open", () => {
  test.each([
    ["reads the call", brokenCodec("readTurn"), false, 0, false],
    ["writes the whole answer", brokenCodec("writeAnswer"), false, 1, true],
    ["begins to write a stream", brokenCodec("writeEvents"), true, 1, false],
    ["writes the first event", brokenCodec("write"), true, 1, true],
  ])("when it breaks while it %s", async (_, codec, stream, sends, paid) => {
    const { received, sent, left, breakers, entries, faults } = await callWith(codec, stream);
    expect([received, sent]).toEqual(["internal_error", sends]);
    expect(entries).toEqual([["failed", "internal_error", paid]]);
    expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
    expect(breakers).toEqual(new Set(["closed"]));
  });

  test("reports a break in mid-stream to the caller in its API's error format", async () => {
    const { received, left, entries, faults } = await callWith(brokenCodec("write", 3), true);
    expect(received).toEndWith("\n\n");
    expect(received).toContain('event: error\ndata: {"type":"error","error":{"type":"api_error"');
    expect(entries).toEqual([["failed", "internal_error", true]]);
    expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
  });
});
