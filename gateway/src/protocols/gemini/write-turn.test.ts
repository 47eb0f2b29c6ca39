import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure, type MediaPart, type Seal, type Turn, type TurnMessage, type TurnPart } from "#core/index.ts";
import { emptyTurn } from "../../../test/conformance/turn-arbitraries.ts";
import type { DialectTraits } from "../codec.ts";
import { writeGeminiTurn } from "./write-turn.ts";

const userMessage: TurnMessage = { role: "user", parts: [{ kind: "text", text: "hi", cache: null }] };
const silentTurn: Turn = { ...emptyTurn, messages: [userMessage] };

interface Written {
  readonly body: Record<string, unknown>;
  readonly warnings: readonly string[];
}

function write(turn: Partial<Turn>, upstreamModel = "gemini-2.5-flash", traits: DialectTraits = {}): Written {
  const warnings: string[] = [];
  let ids = 0;
  const target = { upstreamModel, account: "acc", traits, newId: (prefix: string) => `${prefix}${ids++}` };
  const bytes = writeGeminiTurn({ ...silentTurn, ...turn }, target, (what) => warnings.push(what));
  return { body: JSON.parse(new TextDecoder().decode(bytes)), warnings };
}

function refusal(turn: Partial<Turn>, traits: DialectTraits = {}): readonly (string | null)[] {
  try {
    write(turn, "gemini-2.5-flash", traits);
  } catch (thrown) {
    if (thrown instanceof Failure) return [thrown.code, thrown.param, thrown.retry];
    throw thrown;
  }
  throw new Error("was accepted");
}

const text = (value: string): TurnPart => ({ kind: "text", text: value, cache: null });
const user = (...parts: TurnPart[]): TurnMessage => ({ role: "user", parts });
const model = (...parts: TurnPart[]): TurnMessage => ({ role: "assistant", parts });
const call = (id: string, name: string, argumentsText = "{}", seal: Seal | null = null): TurnPart => ({
  kind: "tool-call",
  id,
  name,
  argumentsText,
  seal,
  cache: null,
});
const result = (callId: string, resultText: string, isError = false): TurnPart => ({
  kind: "tool-result",
  callId,
  name: null,
  parts: [{ kind: "text", text: resultText, cache: null }],
  isError,
  cache: null,
});
const seal = (data: string, account: string | null = "acc", dialect: Seal["dialect"] = "gemini"): Seal => ({
  dialect,
  account,
  data,
  itemId: null,
});
const media = (kind: MediaPart["kind"], source: MediaPart["source"], detail: string | null = null): MediaPart => ({
  kind,
  source,
  name: null,
  detail,
  cache: null,
});

describe("writing a conversation for Gemini", () => {
  test("separates instructions and alternates roles", () => {
    const { body, warnings } = write({
      system: [{ kind: "text", text: "be brief", cache: null }],
      messages: [user(text("a"), text("")), user(text("b")), model(text("c")), model(text("d")), user(text("e"))],
    });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "be brief" }] },
      contents: [
        { role: "user", parts: [{ text: "a" }, { text: "b" }] },
        { role: "model", parts: [{ text: "c" }, { text: "d" }] },
        { role: "user", parts: [{ text: "e" }] },
      ],
    });
    expect(warnings).toEqual([]);
  });

  test("starts with a user message and writes later instructions as user text, with warnings", () => {
    const { body, warnings } = write({ messages: [model(text("a")), { role: "system", parts: [text("b")] }] });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "Continue." }] },
      { role: "model", parts: [{ text: "a" }] },
      { role: "user", parts: [{ text: "b" }] },
    ]);
    expect(warnings).toHaveLength(2);
  });

  test("sends instructions as a user message if there is no other, and rejects an empty conversation", () => {
    const { body, warnings } = write({ system: [{ kind: "text", text: "a", cache: null }], messages: [] });
    expect(body).toEqual({ contents: [{ role: "user", parts: [{ text: "a" }] }] });
    expect(warnings).toHaveLength(1);
    expect(refusal({ messages: [] })).toEqual(["missing_required_parameter", "messages", "never"]);
  });
});

describe("writing calls and results for Gemini", () => {
  test("keeps the number and order of results, before other content of the user", () => {
    const { body, warnings } = write({
      messages: [
        user(text("go")),
        model(text("ok"), call("c1", "f", '{"a":1}'), call("c2", "g", "{}")),
        user(text("also"), result("c2", "plain"), result("c1", '{"deg":20}')),
      ],
    });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { text: "ok" },
          { functionCall: { id: "c1", name: "f", args: { a: 1 } } },
          { functionCall: { id: "c2", name: "g", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "f", response: { deg: 20 } } },
          { functionResponse: { id: "c2", name: "g", response: { result: "plain" } } },
          { text: "also" },
        ],
      },
    ]);
    expect(warnings).toEqual([]);
  });

  test("answers a missing result with an error, and writes an extra one as text", () => {
    const { body, warnings } = write({
      messages: [user(text("go")), model(call("c1", "f")), user(result("c9", "late")), model(call("c2", "f"))],
    });
    const contents = body["contents"] as { parts: Record<string, unknown>[] }[];
    expect(contents[2]?.parts[0]?.["functionResponse"]).toMatchObject({
      id: "c1",
      response: { error: expect.any(String) },
    });
    expect(contents[2]?.parts[1]).toEqual({ text: "Result of a tool: late" });
    expect(warnings).toHaveLength(2);
  });

  test.each([
    ["20", false, { result: "20" }],
    ["", false, { result: "" }],
    ["[1]", false, { result: "[1]" }],
    ['{"a":1}', false, { a: 1 }],
    ['{"result":"x"}', false, { result: '{"result":"x"}' }],
    ['{"id":12345678901234567890}', false, { result: '{"id":12345678901234567890}' }],
    ["no such file", true, { error: "no such file" }],
    ['{"a":1}', true, { error: '{"a":1}' }],
  ])("writes the result %j (error: %p) as %j", (resultText, isError, response) => {
    const { body } = write({
      messages: [user(text("go")), model(call("c", "f")), user(result("c", resultText, isError))],
    });
    const contents = body["contents"] as { parts: { functionResponse?: { response: unknown } }[] }[];
    expect(contents[2]?.parts[0]?.functionResponse?.response).toEqual(response);
  });

  test("puts pictures of a result after the results", () => {
    const picture = media("image", { kind: "base64", mediaType: "image/png", data: "AAAA" });
    const shown: TurnPart = {
      kind: "tool-result",
      callId: "c",
      name: null,
      parts: [picture],
      isError: false,
      cache: null,
    };
    const { body } = write({ messages: [user(text("go")), model(call("c", "shot")), user(shown)] });
    expect((body["contents"] as { parts: unknown[] }[])[2]?.parts).toEqual([
      { functionResponse: { id: "c", name: "shot", response: { result: "" } } },
      { text: "Attached to the result of shot:" },
      { inlineData: { mimeType: "image/png", data: "AAAA" } },
    ]);
  });

  test("repairs any damaged history", () => {
    const id = fc.constantFrom("c1", "c2", "c3");
    const part = fc.oneof(
      id.map((one) => call(one, "f")),
      id.map((one) => result(one, "ok")),
      fc.constant(text("a")),
    );
    const message = fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const, "system" as const),
      parts: fc.array(part, { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), (messages) => {
        const contents = write({ messages }).body["contents"] as { role: string; parts: Record<string, unknown>[] }[];
        const idsOf = (index: number, kind: string): unknown[] =>
          (contents[index]?.parts ?? []).flatMap((one) =>
            one[kind] === undefined ? [] : [(one[kind] as { id: string }).id],
          );
        contents.forEach((content, index) => {
          expect(content.role).toBe(index % 2 === 0 ? "user" : "model");
          expect(content.parts.length).toBeGreaterThan(0);
          if (content.role === "user")
            expect(idsOf(index, "functionResponse")).toEqual(idsOf(index - 1, "functionCall"));
        });
      }),
      { numRuns: 300 },
    );
  });

  test("sends arguments that are not an object as _raw, with a warning", () => {
    const { body, warnings } = write({ messages: [user(text("go")), model(call("c", "f", '{"a":'))] });
    expect((body["contents"] as { parts: unknown[] }[])[1]?.parts).toEqual([
      { functionCall: { id: "c", name: "f", args: { _raw: '{"a":' } } },
    ]);
    expect(warnings).toHaveLength(1);
  });
});

describe("writing thoughts and signatures for Gemini", () => {
  const thought = (thoughtText: string, by: Seal | null): TurnPart => ({
    kind: "reasoning",
    text: thoughtText,
    seal: by,
    redacted: false,
  });
  const turn = (by: Seal | null): Partial<Turn> => ({
    messages: [
      user(text("go")),
      model(thought("hm", by), thought("", by), call("c", "f", "{}", by)),
      user(result("c", "1")),
    ],
  });

  test("sends thoughts and signatures back to their own account, in place", () => {
    const signed = [
      { text: "hm", thought: true, thoughtSignature: "S" },
      { text: "", thoughtSignature: "S" },
      { functionCall: { id: "c", name: "f", args: {} }, thoughtSignature: "S" },
    ];
    for (const account of ["acc", null]) {
      const { body } = write(turn(seal("S", account)));
      expect((body["contents"] as { parts: unknown[] }[])[1]?.parts).toEqual(signed);
    }
  });

  test("drops thoughts and signatures of other accounts and vendors", () => {
    for (const by of [seal("S", "other"), seal("S", null, "anthropic-messages"), null]) {
      const { body, warnings } = write(turn(by));
      expect((body["contents"] as { parts: unknown[] }[])[1]?.parts).toEqual([
        { functionCall: { id: "c", name: "f", args: {} } },
      ]);
      expect(warnings).toEqual([]);
    }
  });

  test("adds the signature that Gemini 3 requires to the first call of another model", () => {
    const messages = [
      user(text("go")),
      model(call("a", "f"), call("b", "f")),
      user(result("a", "1"), result("b", "2")),
    ];
    const parts = (name: string): unknown =>
      (write({ messages }, name).body["contents"] as { parts: unknown[] }[])[1]?.parts;
    expect(parts("gemini-3-pro-preview")).toEqual([
      {
        functionCall: { id: "a", name: "f", args: {} },
        thoughtSignature: "skip_thought_signature_validator",
      },
      { functionCall: { id: "b", name: "f", args: {} } },
    ]);
    expect(JSON.stringify(parts("gemini-2.5-pro"))).not.toContain("thoughtSignature");
  });
});

describe("writing media for Gemini", () => {
  const sent = (part: MediaPart, traits: DialectTraits = {}): unknown =>
    (write({ messages: [user(part)] }, "gemini-2.5-flash", traits).body["contents"] as { parts: unknown[] }[])[0]
      ?.parts;

  test("sends inline data of every kind inline", () => {
    for (const [kind, mediaType] of [
      ["image", "image/png"],
      ["audio", "audio/wav"],
      ["document", "application/pdf"],
    ] as const) {
      expect(sent(media(kind, { kind: "base64", mediaType, data: "AAAA" }))).toEqual([
        { inlineData: { mimeType: mediaType, data: "AAAA" } },
      ]);
    }
    expect(sent(media("document", { kind: "text", text: "notes" }))).toEqual([{ text: "notes" }]);
  });

  test("rejects a URL unless the upstream fetches it", () => {
    const far = media("image", { kind: "url", url: "https://example.com/a.webp?x=1", mediaType: null });
    expect(refusal({ messages: [user(far)] })).toEqual(["unsupported_by_model", "messages", "other"]);
    expect(sent(far, { fetchesUrls: true })).toEqual([
      { fileData: { fileUri: "https://example.com/a.webp?x=1", mimeType: "image/webp" } },
    ]);
    const film = media("video", { kind: "url", url: "https://www.youtube.com/watch?v=1", mediaType: null });
    expect(sent(film)).toEqual([{ fileData: { fileUri: "https://www.youtube.com/watch?v=1", mimeType: "video/mp4" } }]);
  });

  test("rejects a file of another vendor, and names a Gemini file", () => {
    const file = (dialect: Seal["dialect"]): MediaPart =>
      media("document", { kind: "file", id: "gs://b/a.pdf", dialect });
    expect(refusal({ messages: [user(file("openai-chat"))] })).toEqual(["unsupported_by_model", "messages", "other"]);
    expect(sent(file("gemini"))).toEqual([{ fileData: { fileUri: "gs://b/a.pdf", mimeType: "application/pdf" } }]);
  });

  test("warns about the detail setting once", () => {
    const picture = media("image", { kind: "base64", mediaType: "image/png", data: "AAAA" }, "high");
    expect(write({ messages: [user(picture, picture)] }).warnings).toHaveLength(1);
  });
});
