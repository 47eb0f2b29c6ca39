import { beforeAll, describe, expect, test } from "bun:test";
import type { WireDialectId } from "#core/index.ts";
import { answers, type Generating, generating, requests } from "./default-bodies.ts";
import { isHarmless, unmatched } from "./harmless.ts";
import { lostEvents, lostFields } from "./lost-fields.ts";
import { defaultValues } from "./samples.ts";
import { carryAnswer, carryRequest, dialectOf, placesIn, upstreamModels } from "./translate.ts";
import { readVendorTypes, type Shape } from "./vendor-types.ts";

/**
 * Sends every field of requests, answers and events in the vendors' SDK types through every pair of dialects. Each is
 * translated, or reported with a warning or an error, or listed as harmless with a reason. A new SDK release adds its
 * new fields automatically.
 */
let types: ReadonlyMap<string, Shape>;
beforeAll(async () => {
  types = await readVendorTypes();
});

const names = {
  chat: "Chat",
  responses: "Responses",
  messages: "Messages",
  generate: "Gemini",
  interactions: "Interactions",
} as const;

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
/** User and model messages have different content. */
const rolesOf = (from: Generating) => (from === "generate" ? ["user", "model"] : ["user", "assistant"]);

describe("drops no field silently", () => {
  test.each(requestPairs)("in a request of %s for %s", (from, to) => {
    const roots = from === "messages" ? ["MessagesRequest", "EarlierMessagesRequest"] : [`${names[from]}Request`];
    const harmless = isHarmless(`request ${from}`);
    const lost = roots.flatMap((root) =>
      rolesOf(from).flatMap((role) =>
        lostFields(typeOf(root), requests[from], { values: { ...defaultValues, role }, isHarmless: harmless }, (body) =>
          carryRequest(from, to, body),
        ),
      ),
    );
    expect([...new Set(lost)]).toEqual([]);
  });

  test.each(answerPairs)("in an answer of %s for a caller of %s", (from, to) => {
    const how = { values: { ...defaultValues, role: "assistant" }, isHarmless: isHarmless(`answer ${from}`) };
    const carry = (body: unknown) => carryAnswer(from, to, body);
    expect(lostFields(typeOf(`${names[from]}Answer`), answers[from], how, carry)).toEqual([]);
  });

  test.each(answerPairs)("in an event of %s for a caller of %s", (from, to) => {
    const values = { ...defaultValues, output_index: 9, role: "assistant" };
    const how = { values, isHarmless: isHarmless(`event ${from}`) };
    const root = typeOf(from === "generate" ? "GeminiAnswer" : `${names[from]}Event`);
    expect(lostEvents(root, how, placesIn(from, to))).toEqual([]);
  });

  test("and lists nothing as harmless that does not exist", () => {
    expect(unmatched()).toEqual([]);
  });
});

describe("the search for dropped fields", () => {
  const text: Shape = { kind: "string" };
  const root: Shape = {
    kind: "object",
    name: "Root",
    members: [
      { name: "carried", optional: true, of: text },
      { name: "lost", optional: true, of: text },
      {
        name: "parts",
        optional: false,
        of: {
          kind: "array",
          of: {
            kind: "union",
            of: [
              partOf("translated", [{ name: "inner", optional: true, of: text }]),
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

  test("finds a dropped field, a dropped alternative, and a field inside a translated one", () => {
    const carry = (body: unknown) => {
      const { carried, parts = [] } = body as { carried?: string; parts?: { type: string }[] };
      const translated = parts.filter(({ type }) => type === "translated").map(({ type }) => type);
      const warnings = new Set(parts.filter(({ type }) => type === "warned").map(({ type }) => type));
      return { written: JSON.stringify({ carried, translated }), warnings };
    };
    const how = { values: {}, isHarmless: () => false };
    expect(lostFields(root, { parts: [] }, how, carry)).toEqual([
      "lost",
      "parts[]<translated>.inner",
      "parts[]<dropped>",
    ]);
  });

  test("reads all the vendors' types", () => {
    expect([...types.keys()].length).toBe(15);
    for (const name of ["ResponsesRequest", "MessagesRequest", "ResponsesEvent"]) {
      expect(typeOf(name).kind).toBe("union");
    }
  });
});
