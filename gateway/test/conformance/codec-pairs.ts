import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type CodecProfile, context, readBack, source, streamBytes, streamedAnswer, target } from "./codec-fixture.ts";
import { textGist, turnGist } from "./codec-gist.ts";
import { answerArbitrary, eventsOf, turnArbitrary } from "./turn-arbitraries.ts";

const numRuns = 80;

/** Guarantees for a caller of one dialect and an upstream of another. */
export function codecPairSuite(caller: CodecProfile, upstream: CodecProfile): void {
  describe(`a caller of ${caller.dialect.id} with an upstream of ${upstream.dialect.id}`, () => {
    test("sends the caller's whole conversation to the upstream in order", () => {
      fc.assert(
        fc.property(turnArbitrary, (turn) => {
          const read = readBack(
            caller.codec,
            caller.codec.writeTurn(turn, target(), () => {}),
            false,
          );
          const sent = upstream.codec.writeTurn(read, target(), () => {});
          expect(turnGist(readBack(upstream.codec, sent, false))).toEqual(turnGist(turn));
        }),
        { numRuns },
      );
    });

    test("returns the upstream's whole answer to the caller", () => {
      fc.assert(
        fc.property(answerArbitrary, (answer) => {
          const fromUpstream = upstream.codec.readAnswer(upstream.codec.writeAnswer(answer, context()), source());
          const toCaller = caller.codec.readAnswer(caller.codec.writeAnswer(fromUpstream, context()), source());
          expect(textGist(toCaller)).toEqual(textGist(answer));
        }),
        { numRuns },
      );
    });

    test("streams the same answer as it returns whole", () => {
      fc.assert(
        fc.property(answerArbitrary, fc.integer({ min: 1, max: 4 }), fc.boolean(), (answer, pieces, early) => {
          const bytes = streamBytes(upstream.codec, eventsOf(answer, pieces, early));
          const writer = caller.codec.writeEvents(context());
          const out: string[] = [];
          const reader = upstream.codec.readEvents((event) => out.push(writer.write(event)), source());
          for (const payload of payloads(bytes)) reader.read(payload);
          reader.end();
          const toCaller = streamedAnswer(caller.codec, new TextEncoder().encode(out.join("")));
          expect(textGist(toCaller)).toEqual(textGist(answer));
        }),
        { numRuns },
      );
    });
  });
}

function payloads(bytes: Uint8Array): readonly string[] {
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
}
