import { beforeAll, describe, expect, test } from "bun:test";
import type { WireDialectId } from "#core/index.ts";
import { isHarmless, unmatched } from "./harmless.ts";
import { lostFields, lostOfEvents } from "./lost-fields.ts";
import { usualWords } from "./samples.ts";
import { carryAnswer, carryRequest, dialectOf, placesIn, upstreamModels } from "./translate.ts";
import { answers, type Generating, generating, requests } from "./usual-bodies.ts";
import { readVendorTypes, type Shape } from "./vendor-types.ts";

/**
 * Every field of a request, and every field and event of an answer, that the vendors' SDKs have types for goes through every
 * pair of dialects: it is carried, warned of or refused, or it stands in the list of what nobody misses, with the reason. A new
 * release of an SDK brings its new fields by itself.
 */
let types: ReadonlyMap<string, Shape>;
beforeAll(async () => {
  types = await readVendorTypes();
});

const names = { chat: "Chat", responses: "Responses", messages: "Messages", generate: "Gemini" } as const;

function typeOf(name: string): Shape {
  const type = types.get(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

const dialects = Object.keys(upstreamModels) as WireDialectId[];
const requestPairs = generating.flatMap((from) =>
  dialects.filter((to) => to !== dialectOf[from]).map((to) => [from, to] as const),
);
const answerPairs = generating.flatMap((from) =>
  generating.filter((to) => to !== from).map((to) => [from, to] as const),
);
/** What the model says and what the user says hold different things. */
const rolesOf = (from: Generating) => (from === "generate" ? ["user", "model"] : ["user", "assistant"]);

describe("no field is lost without a word", () => {
  test.each(requestPairs)("of a request of %s on its way to %s", (from, to) => {
    const roots = from === "messages" ? ["MessagesRequest", "EarlierMessagesRequest"] : [`${names[from]}Request`];
    const harmless = isHarmless(`request ${from}`);
    const lost = roots.flatMap((root) =>
      rolesOf(from).flatMap((role) =>
        lostFields(typeOf(root), requests[from], { words: { ...usualWords, role }, isHarmless: harmless }, (body) =>
          carryRequest(from, to, body),
        ),
      ),
    );
    expect([...new Set(lost)]).toEqual([]);
  });

  test.each(answerPairs)("of an answer of %s on its way to a caller of %s", (from, to) => {
    const how = { words: { ...usualWords, role: "assistant" }, isHarmless: isHarmless(`answer ${from}`) };
    const carry = (body: unknown) => carryAnswer(from, to, body);
    expect(lostFields(typeOf(`${names[from]}Answer`), answers[from], how, carry)).toEqual([]);
  });

  test.each(answerPairs)("of the events of %s on their way to a caller of %s", (from, to) => {
    const words = { ...usualWords, output_index: 9, role: "assistant" };
    const how = { words, isHarmless: isHarmless(`event ${from}`) };
    const root = typeOf(from === "generate" ? "GeminiAnswer" : `${names[from]}Event`);
    expect(lostOfEvents(root, how, placesIn(from, to))).toEqual([]);
  });

  test("and the list of what nobody misses holds nothing that is not there", () => {
    expect(unmatched()).toEqual([]);
  });
});

describe("the search finds a loss", () => {
  const text: Shape = { kind: "string" };
  const root: Shape = {
    kind: "object",
    name: "Root",
    members: [
      { name: "kept", optional: true, of: text },
      { name: "lost", optional: true, of: text },
      {
        name: "parts",
        optional: false,
        of: {
          kind: "array",
          of: {
            kind: "union",
            of: [
              partOf("told", [{ name: "inner", optional: true, of: text }]),
              partOf("warned", [{ name: "inner", optional: true, of: text }]),
              partOf("dropped", []),
            ],
          },
        },
      },
    ],
  };

  function partOf(type: string, members: Extract<Shape, { kind: "object" }>["members"]): Shape {
    const label = { name: "type", optional: false, of: { kind: "scalar" as const, values: [type] } };
    return { kind: "object", name: type, members: [label, ...members] };
  }

  test("of a member, of an alternative, and inside one that is carried", () => {
    const carry = (body: unknown) => {
      const { kept, parts = [] } = body as { kept?: string; parts?: { type: string }[] };
      const told = parts.filter(({ type }) => type === "told").map(({ type }) => type);
      const warnings = new Set(parts.filter(({ type }) => type === "warned").map(({ type }) => type));
      return { written: JSON.stringify({ kept, told }), warnings };
    };
    const how = { words: {}, isHarmless: () => false };
    expect(lostFields(root, { parts: [] }, how, carry)).toEqual(["lost", "parts[]<told>.inner", "parts[]<dropped>"]);
  });

  test("the vendors' types were read", () => {
    expect([...types.keys()].length).toBe(12);
    for (const name of ["ResponsesRequest", "MessagesRequest", "ResponsesEvent"]) {
      expect(typeOf(name).kind).toBe("union");
    }
  });
});
