import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Answer, Failure, type FinishReason, type Turn } from "#core/index.ts";
import { features } from "./codec-features.ts";
import {
  type CodecProfile,
  context,
  junk,
  readBack,
  readStream,
  roundTrip,
  source,
  streamBytes,
  streamedAnswer,
  target,
  withReplacedValue,
} from "./codec-fixture.ts";
import { answerGist, textGist, thoughtsOf, turnGist } from "./codec-gist.ts";
import { answerArbitrary, brokenTurnArbitrary, emptyTurn, eventsOf, turnArbitrary } from "./turn-arbitraries.ts";

const numRuns = 150;
const finishReasons: readonly FinishReason[] = [
  ...(["stop", "stop-sequence", "length", "context-length", "content-filter", "refusal", "pause"] as const),
];

/** Guarantees of every codec that need no other codec. */
export function codecSuite(profile: CodecProfile): void {
  describe(`codec: ${profile.dialect.id}`, () => {
    turnTests(profile);
    featureTests(profile);
    answerTests(profile);
    junkTests(profile);
    rawTests(profile);
  });
}

function turnTests({ codec, lateResults }: CodecProfile): void {
  test("keeps a conversation the same when it is written and read again", () => {
    fc.assert(
      fc.property(turnArbitrary, (turn) => {
        expect(turnGist(roundTrip(codec, turn).turn)).toEqual(turnGist(turn));
      }),
      { numRuns },
    );
  });

  test("keeps tools the same when they are written and read again", () => {
    fc.assert(
      fc.property(turnArbitrary, (turn) => {
        const tools = roundTrip(codec, turn).turn.tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parameters,
        }));
        expect(tools).toEqual(
          turn.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
        );
      }),
      { numRuns: 20 },
    );
  });

  test("repairs a broken history: every call gets a result, and every result has a call", () => {
    fc.assert(
      fc.property(brokenTurnArbitrary, (turn) => {
        expect(unansweredCalls(roundTrip(codec, turn).turn, lateResults)).toEqual([]);
      }),
      { numRuns },
    );
  });
}

/** Faults that an upstream would reject: calls without a result before the next answer, and results without a call. */
function unansweredCalls(turn: Turn, lateResults: boolean): readonly string[] {
  const wrong: string[] = [];
  const called = new Set<string>();
  const answered = new Set<string>();
  const settle = (): void => {
    for (const id of called) if (!answered.has(id)) wrong.push(`call ${id} has no result`);
    called.clear();
    answered.clear();
  };
  for (const { role, parts } of turn.messages) {
    if (!lateResults && role === "assistant" && answered.size > 0) settle();
    for (const part of parts) {
      if (part.kind === "tool-call") called.add(part.id);
      if (part.kind !== "tool-result") continue;
      if (!called.has(part.callId)) wrong.push(`result ${part.callId} has no call`);
      answered.add(part.callId);
    }
  }
  settle();
  return wrong;
}

function featureTests({ codec, warned, refused, silent }: CodecProfile): void {
  test.each(features.map((feature) => [feature.name, feature] as const))(
    "%s is translated, or dropped with a warning",
    (name, feature) => {
      if (refused.includes(name)) {
        expect(() => roundTrip(codec, feature.turn)).toThrow(Failure);
        return;
      }
      const { turn, warnings } = roundTrip(codec, feature.turn);
      const lost = warned.includes(name) || name in silent;
      expect({ name, survives: feature.survives(turn) }).toEqual({ name, survives: !lost });
      if (warned.includes(name)) expect(warnings).not.toEqual([]);
      for (const warning of warnings) expect(warning).toMatch(/^[\x20-\x7e]{1,200}$/);
    },
  );

  test("translates a plain conversation without a warning", () => {
    const turn: Turn = {
      ...emptyTurn,
      messages: [{ role: "user", parts: [{ kind: "text", text: "Hello", cache: null }] }],
    };
    expect(roundTrip(codec, turn).warnings).toEqual([]);
  });

  test("rejects more than one choice, because only one can be translated", () => {
    expect(() => roundTrip(codec, { ...emptyTurn, choices: 2 })).toThrow(Failure);
  });
}

function answerTests({ codec, dialect, finish }: CodecProfile): void {
  test("keeps an answer the same when it is written and read again", () => {
    fc.assert(
      fc.property(answerArbitrary, (answer) => {
        const read = codec.readAnswer(codec.writeAnswer(answer, context()), source());
        expect(textGist(read)).toEqual(textGist(answer));
        expect(thoughtsOf(read)).toBe(thoughtsOf(answer));
      }),
      { numRuns },
    );
  });

  test.each([...finishReasons])("keeps the finish reason %s", (reason) => {
    const answer: Answer = {
      id: "id-1",
      model: "upstream-model",
      blocks: [{ kind: "text", text: "Well" }],
      finish: { reason, stopSequence: null },
      usage: null,
    };
    const read = codec.readAnswer(codec.writeAnswer(answer, context()), source());
    expect(read.finish.reason).toBe(finish[reason] ?? reason);
  });

  test("reads the same answer from a stream as from the whole, wherever the bytes are cut", () => {
    const shape = fc.record({
      pieces: fc.integer({ min: 1, max: 5 }),
      early: fc.boolean(),
      cuts: fc.array(fc.nat(), { maxLength: 12 }),
    });
    fc.assert(
      fc.property(answerArbitrary, shape, (answer, { pieces, early, cuts }) => {
        const bytes = streamBytes(codec, eventsOf(answer, pieces, early));
        const streamed = streamedAnswer(codec, bytes, cuts);
        const whole = codec.readAnswer(codec.writeAnswer(answer, context()), source());
        expect(answerGist(streamed)).toEqual(answerGist(whole));
        expect(thoughtsOf(streamed)).toBe(thoughtsOf(whole));
      }),
      { numRuns },
    );
  });

  test("passes an error within a stream to the reader, as the last event", () => {
    const failure = new Failure("upstream_error", "The upstream broke.");
    const writer = codec.writeEvents(context());
    const beginning = [
      writer.write({ kind: "start", id: null, model: null }),
      writer.write({ kind: "block-start", block: { kind: "text" } }),
      writer.write({ kind: "block-delta", text: "half" }),
    ].join("");
    // A writer may leave the error to its dialect, which adds the request's id.
    const error = writer.write({ kind: "error", failure }) || dialect.renderStreamError(failure, "req_1");
    expect(readStream(codec, new TextEncoder().encode(beginning + error)).at(-1)?.kind).toBe("error");
  });
}

function junkTests({ codec }: CodecProfile): void {
  const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value) ?? "");

  test("fails with a Failure for any request that it does not understand", () => {
    fc.assert(
      fc.property(turnArbitrary, fc.nat(), junk, (turn, at, value) => {
        onlyFailures(() => readBack(codec, encode(value), false));
        onlyFailures(() =>
          readBack(
            codec,
            withReplacedValue(
              codec.writeTurn(turn, target(), () => {}),
              at,
              value,
            ),
            false,
          ),
        );
      }),
      { numRuns: 400 },
    );
  });

  test("fails with a Failure for any answer that it does not understand", () => {
    fc.assert(
      fc.property(answerArbitrary, fc.nat(), junk, (answer, at, value) => {
        onlyFailures(() => codec.readAnswer(encode(value), source()));
        onlyFailures(() =>
          codec.readAnswer(withReplacedValue(codec.writeAnswer(answer, context()), at, value), source()),
        );
      }),
      { numRuns: 400 },
    );
  });

  test("skips any event that it does not understand, or fails with a Failure", () => {
    fc.assert(
      fc.property(answerArbitrary, fc.nat(), fc.nat(), junk, (answer, which, at, value) => {
        const text = new TextDecoder().decode(streamBytes(codec, eventsOf(answer, 3, false)));
        const payloads = text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));
        const replacedIndex = which % payloads.length;
        onlyFailures(() => {
          const reader = codec.readEvents(() => {}, source());
          payloads.forEach((payload, index) => {
            const bytes = new TextEncoder().encode(payload);
            reader.read(
              index === replacedIndex ? new TextDecoder().decode(withReplacedValue(bytes, at, value)) : payload,
            );
          });
          reader.end();
        });
        onlyFailures(() => codec.readEvents(() => {}, source()).read(JSON.stringify(value) ?? ""));
      }),
      { numRuns: 400 },
    );
  });
}

function rawTests({ codec }: CodecProfile): void {
  test("fails with a Failure for bytes that are not JSON, as a body, an answer or an event", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 40 }),
          fc.string().map((text) => new TextEncoder().encode(text)),
        ),
        (bytes) => {
          onlyFailures(() => readBack(codec, bytes, false));
          onlyFailures(() => codec.readAnswer(bytes, source()));
          onlyFailures(() => codec.readEvents(() => {}, source()).read(new TextDecoder().decode(bytes)));
          onlyFailures(() => codec.readEvents(() => {}, source()).end());
        },
      ),
      { numRuns },
    );
  });
}

function onlyFailures(run: () => void): void {
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
  }
}
