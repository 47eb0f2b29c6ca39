import { expect, test } from "bun:test";
import fc from "fast-check";
import { splice, splicedPieces } from "./bytes.ts";

const edited = fc
  .tuple(
    fc.uint8Array({ maxLength: 64 }),
    fc.array(fc.tuple(fc.nat(64), fc.string({ maxLength: 4 })), { maxLength: 8 }),
  )
  .map(([bytes, drawn]) => {
    const ends = drawn.map(([end]) => Math.min(end, bytes.length)).sort((a, b) => a - b);
    const edits = ends.map((end, index) => ({ start: ends[index - 1] ?? 0, end, text: drawn[index]?.[1] ?? "" }));
    return { bytes, edits: edits.map((edit, index) => (index % 2 === 0 ? edit : { ...edit, start: edit.end })) };
  });

test("returns pieces equal to the spliced bytes, without copying long ones", () => {
  fc.assert(
    fc.property(edited, fc.boolean(), ({ bytes: begin, edits }, isLong) => {
      const bytes = isLong ? Uint8Array.from([...begin, ...new Uint8Array(5_000)]) : begin;
      const pieces = splicedPieces(bytes, edits);
      expect(Buffer.concat(pieces)).toEqual(Buffer.from(splice(bytes, edits)));
      if (!isLong) return;
      const kept = pieces.filter(({ buffer }) => buffer === bytes.buffer).reduce((sum, { length }) => sum + length, 0);
      expect(kept).toBe(edits.reduce((left, { start, end }) => left - (end - start), bytes.length));
    }),
  );
});
