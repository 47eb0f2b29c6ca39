import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Turn, TurnMessage, TurnPart } from "#core/index.ts";
import { assistant, call, read, result, sealBy, text, thought, user, write } from "../../../test/responses-turns.ts";
import { silentTurn } from "../../../test/silent-turn.ts";

const none: Turn = { ...silentTurn };

describe("a request written for Responses and read again", () => {
  test("keeps every supported field", () => {
    fc.assert(
      fc.property(turns(), (turn) => {
        const { body } = write(turn);
        const back = read({ ...body, model: "m" });
        expect(back.warnings).toEqual([]);
        expect({ ...back.turn, messages: flat(back.turn) }).toEqual({ ...turn, messages: flat(turn) } as never);
      }),
      { numRuns: 300 },
    );
  });
});
/** Parts with their roles; the grouping into messages does not matter. */
function flat(turn: Turn): unknown[] {
  return turn.messages.flatMap(({ role, parts }) => parts.map((part) => ({ role, part })));
}

function turns(): fc.Arbitrary<Turn> {
  const word = fc.string({ minLength: 1, maxLength: 12 });
  const textPart = word.map(text);
  const base64 = fc.base64String({ minLength: 4, maxLength: 12 });
  const blank = { name: null, detail: null, cache: null };
  const picture = fc.oneof(
    base64.map(
      (data): TurnPart => ({
        ...blank,
        kind: "image",
        source: { kind: "base64", mediaType: "image/png", data },
        detail: "low",
      }),
    ),
    fc.constant<TurnPart>({
      ...blank,
      kind: "image",
      source: { kind: "url", url: "https://a.b/c.png", mediaType: null },
    }),
    base64.map(
      (data): TurnPart => ({
        ...blank,
        kind: "document",
        source: { kind: "base64", mediaType: "application/pdf", data },
        name: "a.pdf",
      }),
    ),
    fc.constant<TurnPart>({
      ...blank,
      kind: "image",
      source: { kind: "file", id: "file-1", dialect: "openai-responses" },
    }),
  );
  const asked = fc.array(fc.oneof(textPart, picture), { minLength: 1, maxLength: 3 }).map((parts) => [user(...parts)]);
  const answered = fc
    .record({ thought: fc.boolean(), textPart: fc.option(textPart), refused: fc.boolean() })
    .map((one) => [
      assistant(
        ...(one.thought ? [thought({ ...sealBy(null) })] : []),
        one.textPart ?? text("ok"),
        ...(one.refused ? [{ kind: "refusal", text: "no" } as const] : []),
      ),
    ]);
  const loops = fc
    .tuple(fc.uuid(), fc.boolean(), word)
    .map(([id, twice, output]) => [
      assistant(thought(sealBy(null)), call(`${id}-1`), ...(twice ? [call(`${id}-2`, "g")] : [])),
      user(
        result(`${id}-1`, output),
        ...(twice ? [{ ...(result(`${id}-2`) as TurnPart & { kind: "tool-result" }), name: "g" }] : []),
      ),
    ]);
  const later = textPart.map((part): TurnMessage[] => [{ role: "system", parts: [part] }]);
  return fc
    .record({
      opening: asked,
      rest: fc.array(fc.oneof(asked, answered, loops, later), { maxLength: 6 }),
      system: fc.option(word),
      temperature: fc.option(fc.constantFrom(0, 0.5, 2)),
      cap: fc.option(fc.integer({ min: 16, max: 9_999 })),
      strict: fc.boolean(),
      choice: fc.constantFrom<Turn["toolChoice"]>(
        null,
        { kind: "auto" },
        { kind: "none" },
        { kind: "any" },
        { kind: "tool", name: "f" },
      ),
      effort: fc.constantFrom("minimal", "high", "max"),
      format: fc.constantFrom<Turn["format"]>(
        null,
        { kind: "json" },
        { kind: "text" },
        {
          kind: "schema",
          name: "n",
          description: "d",
          schema: { type: "object", properties: {} },
          strict: true,
        },
      ),
    })
    .map((made) => ({
      ...none,
      system: made.system === null ? [] : [{ kind: "text", text: made.system, cache: null }],
      messages: [...made.opening, ...made.rest.flat()],
      tools: [
        {
          name: "f",
          description: "d",
          parameters: {
            type: "object",
            properties: { a: { type: "number" } },
            ...(made.strict ? { required: ["a"], additionalProperties: false } : {}),
          },
          strict: made.strict ? true : null,
          cache: null,
        },
      ],
      toolChoice: made.choice,
      parallelToolCalls: made.strict,
      outputTokensMax: made.cap,
      temperature: made.temperature,
      topP: 0,
      format: made.format,
      reasoning: { effort: made.effort as "high", budgetTokens: null, visible: true },
      verbosity: "low",
      userId: "u",
      metadata: { a: "b" },
      cacheKey: "k",
      autoCache: { ttl: null },
      serviceTier: "flex",
    }));
}
