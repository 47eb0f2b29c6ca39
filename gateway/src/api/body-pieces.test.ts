import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { BodyPieces, callerGone, inTime } from "./body.ts";

const { bodyPieceBytes, bodyPieceKeptBytesMin, readInPlaceBytesMax } = bounds;
const sizes = fc.array(
  fc.oneof(
    fc.integer({ min: 1, max: 64 }),
    fc.integer({ min: bodyPieceKeptBytesMin - 1, max: bodyPieceKeptBytesMin + 1 }),
    fc.integer({ min: bodyPieceBytes - 1, max: bodyPieceBytes * 2 }),
  ),
  { maxLength: 40 },
);
const declared = fc.constantFrom("nothing", "its size", "more", "less");

test("collects a body in any pieces, of which only the last is short", () => {
  fc.assert(
    fc.property(sizes, declared, (lengths, says) => {
      const size = lengths.reduce((sum, length) => sum + length, 0);
      const declared = { nothing: null, "its size": size, more: size + 1, less: size >> 1 }[says];
      const pieces = new BodyPieces(declared);
      let next = 0;
      const came = lengths.map((length) => new Uint8Array(length).map(() => next++ % 251));
      for (const piece of came) pieces.add(piece);
      const kept = pieces.end();
      expect(pieces.size).toBe(size);
      expect(Buffer.concat(kept).equals(Buffer.concat(came))).toBe(true);
      for (const { length } of kept.slice(0, -1)) {
        expect(length >= bodyPieceKeptBytesMin || length === declared).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});

test("uses no more memory than bytes for a body that arrives byte by byte", () => {
  const pieces = new BodyPieces(null);
  const size = bodyPieceBytes * 2 + 1;
  for (let at = 0; at < size; at++) pieces.add(new Uint8Array(1));
  expect(pieces.end().map(({ length }) => length)).toEqual([bodyPieceBytes, bodyPieceBytes, 1]);
});

test("leaves no gap between short and long pieces", () => {
  const pieces = new BodyPieces(null);
  for (let turn = 0; turn < 100; turn++) {
    pieces.add(new Uint8Array(1));
    pieces.add(new Uint8Array(bodyPieceKeptBytesMin));
  }
  const held = pieces.end().reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  expect(held).toBeLessThanOrEqual(pieces.size + bodyPieceBytes);
});

test("collects a small body of declared size in one piece", () => {
  const pieces = new BodyPieces(readInPlaceBytesMax);
  for (let at = 0; at < readInPlaceBytesMax; at += bodyPieceBytes) pieces.add(new Uint8Array(bodyPieceBytes));
  expect(pieces.end().map(({ length }) => length)).toEqual([readInPlaceBytesMax]);
});

test("does not copy long pieces", () => {
  const pieces = new BodyPieces(readInPlaceBytesMax + 1);
  const piece = new Uint8Array(bodyPieceKeptBytesMin);
  pieces.add(piece);
  expect(pieces.end()[0]?.buffer).toBe(piece.buffer);
});

describe("the wait for a body", () => {
  const never = new Promise<never>(() => {});

  test("ends with request_timeout and cancels the reader", async () => {
    const clock = new FakeClock();
    let cancelled = 0;
    const reader = {
      read: () => never,
      cancel: async () => {
        cancelled++;
      },
    };
    const reading = inTime(clock, never, reader).catch((thrown: unknown) => thrown);
    clock.advance(bounds.requestBodyTotalMs);
    expect(await reading).toMatchObject({ code: "request_timeout", status: 408 });
    expect(cancelled).toBe(1);
  });

  test("leaves no timer after the body has arrived", async () => {
    const clock = new FakeClock();
    expect(await inTime(clock, Promise.resolve("body"), null)).toBe("body");
    expect(clock.pending).toBe(0);
  });

  test("ends with client_closed if the caller disconnects", async () => {
    const gone = Promise.reject(new Error("gone")).catch(callerGone);
    const failure = await inTime(new FakeClock(), gone, null).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: "client_closed" });
  });
});
