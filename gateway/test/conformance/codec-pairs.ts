import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { spokenGist, turnGist } from "./codec-gist.ts";
import { type CodecProfile, context, readBack, source, streamBytes, streamedAnswer, target } from "./codec-ground.ts";
import { answerArbitrary, eventsOf, turnArbitrary } from "./turn-arbitraries.ts";

const numRuns = 80;

/** What a caller of one dialect and an upstream of another can rely on. */
export function codecPairSuite(caller: CodecProfile, upstream: CodecProfile): void {
  describe(`a caller of ${caller.dialect.id}, an upstream of ${upstream.dialect.id}`, () => {
    test("the caller's conversation reaches the upstream whole and in order", () => {
      fc.assert(
        fc.property(turnArbitrary, (turn) => {
          const asked = readBack(
            caller.codec,
            caller.codec.writeTurn(turn, target(), () => {}),
            false,
          );
          const sent = upstream.codec.writeTurn(asked, target(), () => {});
          expect(turnGist(readBack(upstream.codec, sent, false))).toEqual(turnGist(turn));
        }),
        { numRuns },
      );
    });

    test("the upstream's answer reaches the caller whole", () => {
      fc.assert(
        fc.property(answerArbitrary, (answer) => {
          const heard = upstream.codec.readAnswer(upstream.codec.writeAnswer(answer, context()), source());
          const told = caller.codec.readAnswer(caller.codec.writeAnswer(heard, context()), source());
          expect(spokenGist(told)).toEqual(spokenGist(answer));
        }),
        { numRuns },
      );
    });

    test("the upstream's stream is the same answer to the caller as the whole", () => {
      fc.assert(
        fc.property(answerArbitrary, fc.integer({ min: 1, max: 4 }), fc.boolean(), (answer, pieces, early) => {
          const bytes = streamBytes(upstream.codec, eventsOf(answer, pieces, early));
          const writer = caller.codec.writeEvents(context());
          const out: string[] = [];
          const reader = upstream.codec.readEvents((event) => out.push(writer.write(event)), source());
          for (const payload of payloads(bytes)) reader.read(payload);
          reader.end();
          const told = streamedAnswer(caller.codec, new TextEncoder().encode(out.join("")));
          expect(spokenGist(told)).toEqual(spokenGist(answer));
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
