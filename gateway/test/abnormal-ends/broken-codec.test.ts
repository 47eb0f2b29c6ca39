import { describe, expect, test } from "bun:test";
import type { CallerCodec } from "#protocols/index.ts";
import { callWith, messages } from "./relay-ground.ts";

function broken(): never {
  throw new TypeError("undefined is not an object");
}

/** The codec of messages, with one part of it broken. `after`: events that are still written. */
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

describe("a defect in a codec ends its own call and leaves nothing open", () => {
  test.each([
    ["reads the call", brokenCodec("readTurn"), false, 0, false],
    ["writes the whole answer", brokenCodec("writeAnswer"), false, 1, true],
    ["begins to write a stream", brokenCodec("writeEvents"), true, 1, false],
    ["writes the first event", brokenCodec("write"), true, 1, true],
  ])("when it breaks as it %s", async (_, codec, stream, sends, paid) => {
    const { heard, sent, left, breakers, entries, faults } = await callWith(codec, stream);
    expect([heard, sent]).toEqual(["internal_error", sends]);
    expect(entries).toEqual([["failed", "internal_error", paid]]);
    expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
    expect(breakers).toEqual(new Set(["closed"]));
  });

  test("when it breaks in the middle of a stream, the caller is told in plain words of its dialect", async () => {
    const { heard, left, entries, faults } = await callWith(brokenCodec("write", 3), true);
    expect(heard).toEndWith("\n\n");
    expect(heard).toContain('event: error\ndata: {"type":"error","error":{"type":"api_error"');
    expect(entries).toEqual([["failed", "internal_error", true]]);
    expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
  });
});
