import { expect, test } from "bun:test";
import { forwardLines } from "./spawn-worker.ts";

async function forwarded(pieces: readonly (string | Uint8Array)[], lineBytesMax = 1_000): Promise<readonly string[]> {
  const written: string[] = [];
  const bytes = pieces.map((piece) => (typeof piece === "string" ? new TextEncoder().encode(piece) : piece));
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = bytes.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
  await forwardLines(stream, (lines) => written.push(lines), lineBytesMax);
  return written;
}

test("forwards whole lines however they arrive", async () => {
  expect(await forwarded(["one\ntw", "o", "\nthree\nfour\nfi", "ve\n"])).toEqual([
    "one\n",
    "two\nthree\nfour\n",
    "five\n",
  ]);
});

test("keeps a character that arrives in two pieces", async () => {
  const bytes = new TextEncoder().encode("ü\n");
  expect(await forwarded([bytes.slice(0, 1), bytes.slice(1)])).toEqual(["ü\n"]);
});

test("ends an unfinished last line, and splits a line that is too long", async () => {
  expect(await forwarded(["half a li"])).toEqual(["half a li\n"]);
  expect(await forwarded(["x".repeat(30), "y"], 20)).toEqual([`${"x".repeat(30)}\n`, "y\n"]);
});
