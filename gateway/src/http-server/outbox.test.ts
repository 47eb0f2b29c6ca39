import { expect, test } from "bun:test";
import { Pace } from "./held-bytes.ts";
import { Outbox } from "./outbox.ts";

const pace = new Pace(120_000, 1_000);

/** A socket that takes `room` bytes at a time. */
function narrow(room: number) {
  const heard: string[] = [];
  const outbox = new Outbox({
    pace,
    write: (bytes, length) => {
      const taken = Math.min(room, length);
      heard.push(Buffer.from(bytes.subarray(0, taken)).toString("latin1"));
      return taken;
    },
  });
  return { outbox, said: () => heard.join("") };
}

test.each([1, 7, 1_000, 40_000])(
  "what a socket that takes %d bytes did not take is kept, whatever others write meanwhile",
  (room) => {
    const one = narrow(room);
    const two = narrow(room + 1);
    const short = Buffer.from("short");
    const long = Buffer.alloc(40_000, "l");
    for (const [{ outbox }, mark] of [
      [one, "1"],
      [two, "2"],
    ] as const) {
      outbox.begin(`HEAD ${mark}\r\n\r\n`, true);
      outbox.piece(short);
      outbox.piece(Buffer.from(mark));
      outbox.flush();
      outbox.piece(long);
      outbox.flush();
      outbox.finish();
      outbox.flush();
    }
    while (!one.outbox.sent || !two.outbox.sent) {
      one.outbox.drain();
      two.outbox.drain();
    }
    const said = (mark: string) => `HEAD ${mark}\r\n\r\n6\r\nshort${mark}\r\n9c40\r\n${long}\r\n0\r\n\r\n`;
    expect(one.said() === said("1")).toBe(true);
    expect(two.said() === said("2")).toBe(true);
  },
);

test("writes a whole body of any size after its head, and nothing to a closed socket", () => {
  for (const length of [0, 5, 20_000, 300_000]) {
    const { outbox, said } = narrow(Number.POSITIVE_INFINITY);
    outbox.begin("HEAD\r\n\r\n", false);
    outbox.piece(Buffer.alloc(length, "b"));
    outbox.finish();
    outbox.flush();
    expect(said() === `HEAD\r\n\r\n${"b".repeat(length)}`).toBe(true);
    expect(outbox.sent).toBe(true);
  }
  const closed = new Outbox({ pace, write: () => -1 });
  closed.begin("HEAD\r\n\r\n", false);
  closed.flush();
  expect([closed.sent, closed.broken]).toEqual([false, true]);
});

test("detects a caller that reads less than a kilobyte per second on average, and only while bytes wait", () => {
  let takes = 0;
  const outbox = new Outbox({
    pace: new Pace(120_000, 1_000),
    write: (_, length) => Math.min(takes, length),
  });
  /** Turns of a second, of at most so many, until it is too slow. */
  const turnsUntilSlow = (turns: number): number => {
    for (let turn = 1; turn <= turns; turn++) {
      outbox.drain();
      if (outbox.isSlow()) return turn;
    }
    return turns;
  };
  expect(turnsUntilSlow(1_000)).toBe(1_000);
  outbox.raw(new Uint8Array(10_000_000));
  takes = 1;
  expect(turnsUntilSlow(1_000)).toBe(121);
  outbox.clear();
  outbox.raw(new Uint8Array(10_000_000));
  takes = 1_024;
  expect(turnsUntilSlow(3_000)).toBe(3_000);
  // Reading fast earns no more than the usual patience.
  takes = 1_000_000;
  outbox.drain();
  takes = 0;
  expect(turnsUntilSlow(1_000)).toBe(121);
});
