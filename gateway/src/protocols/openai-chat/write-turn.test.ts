import { describe, expect, test } from "bun:test";
import { Failure, type Turn, type TurnPart } from "#core/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import type { DialectTraits } from "../codec.ts";
import { writeChatTurn } from "./write-turn.ts";

const text = (value: string): TurnPart & { kind: "text" } => ({ kind: "text", text: value, cache: null });
const call = (id: string, seal: (TurnPart & { kind: "tool-call" })["seal"] = null): TurnPart => ({
  kind: "tool-call",
  id,
  name: "look",
  argumentsText: "",
  seal,
  cache: null,
});
const result = (callId: string, ...parts: (TurnPart & { kind: "text" | "image" })[]): TurnPart => ({
  kind: "tool-result",
  callId,
  name: "look",
  parts,
  isError: false,
  cache: null,
});
const image: TurnPart & { kind: "image" } = {
  kind: "image",
  source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
  name: null,
  detail: null,
  cache: null,
};
const thought = (value: string, seal: (TurnPart & { kind: "reasoning" })["seal"] = null): TurnPart => ({
  kind: "reasoning",
  text: value,
  seal,
  redacted: false,
});
const hello: Turn["messages"] = [{ role: "user", parts: [text("Hello")] }];
const plain: Turn = {
  ...silentTurn,
  messages: hello,
};

interface Sent {
  readonly body: Record<string, unknown>;
  readonly messages: readonly Record<string, unknown>[];
  readonly warnings: readonly string[];
}

function write(change: Partial<Turn>, traits: DialectTraits = {}): Sent {
  const warnings: string[] = [];
  const target = { upstreamModel: "up", account: "acc", traits, newId: (prefix: string) => `${prefix}1` };
  const bytes = writeChatTurn({ ...plain, ...change }, target, (what) => warnings.push(what));
  const body = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  return { body, messages: body["messages"] as Record<string, unknown>[], warnings };
}

const callsOf = (message: Record<string, unknown> | undefined): readonly Record<string, unknown>[] =>
  (message?.["tool_calls"] ?? []) as Record<string, unknown>[];

describe("writing a chat request", () => {
  test("writes only fields that are set", () => {
    expect(write({}).body).toEqual({ model: "up", messages: [{ role: "user", content: "Hello" }] });
  });

  test("requests usage of a stream", () => {
    expect(write({ stream: true }).body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test("writes fields as each vendor's traits require", () => {
    const change = { outputTokensMax: 9, system: [text("a"), text("b")] };
    expect(write(change).body).toMatchObject({
      max_completion_tokens: 9,
      messages: [{ role: "system", content: "a\n\nb" }, {}],
    });
    const { body } = write(change, { outputCapName: "max_tokens", instructionRole: "developer" });
    expect(body).toMatchObject({ max_tokens: 9, messages: [{ role: "developer" }, {}] });
  });

  test.each([
    [{ effort: "low", budgetTokens: 30_000 }, "low"],
    [{ effort: null, budgetTokens: 0 }, "none"],
    [{ effort: null, budgetTokens: 1_024 }, "minimal"],
    [{ effort: null, budgetTokens: 4_096 }, "low"],
    [{ effort: null, budgetTokens: 10_000 }, "medium"],
    [{ effort: null, budgetTokens: 31_999 }, "high"],
    [{ effort: null, budgetTokens: 32_768 }, "xhigh"],
    [{ effort: null, budgetTokens: null }, undefined],
  ] as const)("writes reasoning of %j as %p", (requested, expected) => {
    expect(write({ reasoning: { ...requested, visible: true } }).body["reasoning_effort"]).toBe(expected as string);
  });

  test("writes a result as text if its call is in a user message", () => {
    const { messages, warnings } = write({
      messages: [
        ...hello,
        { role: "user", parts: [call("c1")] },
        { role: "user", parts: [result("c1", text("blue"))] },
      ],
    });
    expect(JSON.stringify(messages)).toContain("blue");
    expect(warnings).toEqual([
      expect.stringContaining("tool-call in a user message"),
      expect.stringContaining("a tool result without its call"),
    ]);
  });

  test("writes a result in an assistant message after its call, and warns only if the call is missing", () => {
    const { messages, warnings } = write({
      messages: [...hello, { role: "assistant", parts: [call("c1"), result("c1", text("blue"))] }],
    });
    expect(messages.at(-1)).toMatchObject({ role: "tool", content: "blue" });
    expect(warnings).toEqual([]);
    const orphan = write({
      messages: [...hello, { role: "assistant", parts: [text("x"), result("c2", text("red"))] }],
    });
    expect(orphan.warnings).toEqual(["a tool result in an answer of the model was dropped"]);
  });

  test("puts a schema into the instructions where it is not supported", () => {
    const format = { kind: "schema", name: null, description: null, schema: { type: "object" }, strict: null } as const;
    const { body, messages, warnings } = write({ format }, { noSchemaOutput: true });
    expect(body["response_format"]).toEqual({ type: "json_object" });
    expect(String(messages[0]?.["content"])).toContain('{"type":"object"}');
    expect(warnings).toHaveLength(1);
  });

  test("mentions JSON in the prompt for JSON mode", () => {
    expect(write({ format: { kind: "json" } }).messages[0]?.["content"]).toContain("JSON");
    expect(write({ format: { kind: "json" }, system: [text("as json")] }).messages[0]?.["content"]).toBe("as json");
  });

  test("shortens an id the same way in its call and result", () => {
    const id = "toolu_".padEnd(60, "x");
    const { body, messages } = write({
      userId: "u".repeat(100),
      messages: [...hello, { role: "assistant", parts: [call(id)] }, { role: "user", parts: [result(id, text("r"))] }],
    });
    const sent = String(callsOf(messages[1])[0]?.["id"]);
    expect(sent.length).toBeLessThanOrEqual(40);
    expect(messages[2]?.["tool_call_id"]).toBe(sent);
    expect(String(body["user"]).length).toBeLessThanOrEqual(64);
  });

  test("rejects content that the upstream cannot read, so that another is tried", () => {
    const video: TurnPart = { ...image, kind: "video" };
    expect(() => write({ messages: [{ role: "user", parts: [video] }] })).toThrow(Failure);
    const byUrl: TurnPart = { ...image, source: { kind: "url", url: "https://example.com/a.png", mediaType: null } };
    expect(() => write({ messages: [{ role: "user", parts: [byUrl] }] }, { fetchesUrls: false })).toThrow(Failure);
    expect(() => write({ choices: 2 })).toThrow(Failure);
  });

  test("writes a text document as text", () => {
    const document: TurnPart = { ...image, kind: "document", source: { kind: "text", text: "body" }, name: "a.txt" };
    expect(write({ messages: [{ role: "user", parts: [document] }] }).messages).toEqual([
      { role: "user", content: "a.txt:\nbody" },
    ]);
  });
});

describe("tool calls", () => {
  test("writes all calls in one message, then each result, then other content", () => {
    const { messages, warnings } = write({
      messages: [
        ...hello,
        { role: "assistant", parts: [call("c1")] },
        { role: "assistant", parts: [call("c2")] },
        { role: "user", parts: [text("and?"), result("c2", text("two"))] },
        { role: "user", parts: [result("c1", text("one"))] },
      ],
    });
    expect(messages.slice(1)).toMatchObject([
      { role: "assistant", content: null, tool_calls: [{ id: "c1" }, { id: "c2" }] },
      { role: "tool", tool_call_id: "c1", content: "one" },
      { role: "tool", tool_call_id: "c2", content: "two" },
      { role: "user", content: "and?" },
    ]);
    expect(warnings).toEqual([]);
  });

  test("fills in a missing result, and writes a result without a call as text", () => {
    const { messages, warnings } = write({
      messages: [
        { role: "assistant", parts: [call("c1")] },
        { role: "user", parts: [result("c9", text("lost"))] },
      ],
    });
    expect(messages).toMatchObject([
      { role: "assistant" },
      { role: "tool", tool_call_id: "c1", content: "No result was given for this call." },
      { role: "user" },
    ]);
    expect(String(messages[2]?.["content"])).toContain("lost");
    expect(warnings).toHaveLength(2);
  });

  test("moves pictures in results into a user message", () => {
    const { messages, warnings } = write({
      messages: [
        { role: "assistant", parts: [call("c1"), call("c2")] },
        { role: "user", parts: [result("c1", image), result("c2", text("two"))] },
      ],
    });
    expect(messages.slice(1)).toMatchObject([
      { role: "tool", tool_call_id: "c1" },
      { role: "tool", tool_call_id: "c2", content: "two" },
      {
        role: "user",
        content: [{ type: "text" }, { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
      },
    ]);
    expect(warnings).toHaveLength(1);
  });

  test("states in the text that a tool failed", () => {
    const failed = (...parts: (TurnPart & { kind: "text" })[]): TurnPart => ({
      ...result("c1", ...parts),
      ...{ isError: true },
    });
    const content = (part: TurnPart): unknown =>
      write({
        messages: [
          { role: "assistant", parts: [call("c1")] },
          { role: "user", parts: [part] },
        ],
      }).messages[1];
    expect(content(failed(text("no such file")))).toMatchObject({ content: "Error: no such file" });
    expect(content(failed())).toMatchObject({ content: "Error: the tool failed" });
  });

  test("sends Gemini's signature only to its own account", () => {
    const sealed = (account: string | null): unknown => {
      const seal = { dialect: "gemini" as const, account, data: "sig", itemId: null };
      const { messages } = write({ messages: [{ role: "assistant", parts: [call("c1", seal)] }] });
      return callsOf(messages[0])[0]?.["extra_content"];
    };
    expect(sealed("acc")).toEqual({ google: { thought_signature: "sig" } });
    expect(sealed("other")).toBeUndefined();
    expect(sealed(null)).toBeUndefined();
  });
});

describe("reasoning", () => {
  const seal = { dialect: "anthropic-messages" as const, account: null, data: "sig", itemId: null };
  const messages: Turn["messages"] = [
    ...hello,
    { role: "assistant", parts: [thought("old"), text("Hi")] },
    ...hello,
    { role: "assistant", parts: [thought("foreign", seal), thought("own"), call("c1")] },
    { role: "user", parts: [result("c1", text("r"))] },
  ];

  test("sends reasoning back in the vendor's field within its tool loop", () => {
    const sent = write({ messages }, { reasoningField: "reasoning_content" }).messages;
    expect(sent.map((message) => message["reasoning_content"])).toEqual([
      undefined,
      undefined,
      undefined,
      "own",
      undefined,
    ]);
  });

  test("drops reasoning for other upstreams", () => {
    expect(JSON.stringify(write({ messages }).body)).not.toContain("own");
  });
});
