import { expect, test } from "bun:test";
import { MessageWriter } from "./message-writer.ts";

/** A socket that takes `room` bytes at a time. */
function narrow(room: number) {
  const written: string[] = [];
  const writer = new MessageWriter({
    writeBytes: (bytes, length) => {
      const accepted = Math.min(room, length);
      written.push(Buffer.from(bytes.subarray(0, accepted)).toString("latin1"));
      return accepted;
    },
  });
  return { writer, text: () => written.join("") };
}

test.each([1, 7, 1_000, 40_000])(
  "keeps the bytes that a socket with room for %d did not accept, in the presence of other writers",
  (room) => {
    const one = narrow(room);
    const two = narrow(room + 1);
    const short = Buffer.from("short");
    const long = Buffer.alloc(40_000, "l");
    for (const [{ writer }, mark] of [
      [one, "1"],
      [two, "2"],
    ] as const) {
      writer.begin(["HEAD ", mark, "\r\n\r\n"], true);
      writer.piece(short);
      writer.piece(Buffer.from(mark));
      writer.flush();
      writer.piece(long);
      writer.flush();
      writer.finish();
      writer.flush();
    }
    while (!one.writer.sent || !two.writer.sent) {
      one.writer.drain();
      two.writer.drain();
    }
    const text = (mark: string) => `HEAD ${mark}\r\n\r\n6\r\nshort${mark}\r\n9c40\r\n${long}\r\n0\r\n\r\n`;
    expect(one.text() === text("1")).toBe(true);
    expect(two.text() === text("2")).toBe(true);
  },
);

test.each([1, 7, 1_000, 40_000])("writes short and long pieces of one body in order through room for %d", (room) => {
  const { writer, text } = narrow(room);
  const pieces = ['{"model":', '"a"', "b".repeat(20_000), "c", "d".repeat(17_000), "}"];
  writer.begin(["HEAD\r\n", "\r\n"], false);
  for (const piece of pieces) writer.piece(Buffer.from(piece));
  writer.flush();
  while (!writer.sent) writer.drain();
  expect(text() === `HEAD\r\n\r\n${pieces.join("")}`).toBe(true);
  expect(writer.idle).toBe(true);
});

test("writes a whole body of any size after its head, and nothing to a closed socket", () => {
  for (const length of [0, 5, 20_000, 300_000]) {
    const { writer, text } = narrow(Number.POSITIVE_INFINITY);
    writer.begin(["HEAD\r\n", "\r\n"], false);
    writer.piece(Buffer.alloc(length, "b"));
    writer.finish();
    writer.flush();
    expect(text() === `HEAD\r\n\r\n${"b".repeat(length)}`).toBe(true);
    expect(writer.sent).toBe(true);
  }
  const closed = new MessageWriter({ writeBytes: () => -1 });
  closed.begin(["HEAD\r\n", "\r\n"], false);
  closed.flush();
  expect([closed.sent, closed.broken]).toEqual([false, true]);
});

test("reports a buffer that neighboring unsent pieces share once", () => {
  const reported: number[] = [];
  const writer = new MessageWriter(
    { writeBytes: () => 0 },
    { onUnsent: (bytes) => reported.push(bytes), onWritten: () => undefined },
  );
  const shared = new Uint8Array(40_000);
  writer.raw(shared.subarray(0, 20_000));
  writer.raw(shared.subarray(20_000));
  writer.raw(new Uint8Array(1_000));
  writer.clear();
  expect(reported).toEqual([40_000, 40_000, 41_000, 0]);
});
