import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TurnPart } from "#core/index.ts";
import { assistant, call, refusal, result, sealBy, text, thought, user, write } from "../../../test/responses-turns.ts";
import { openaiResponsesCodec } from "./index.ts";

describe("writing a Responses request", () => {
  test("sets `store` to false and `strict` for every tool", () => {
    const tools = [{ name: "f", description: null, parameters: null, strict: null, cache: null }];
    const { body } = write({ messages: [user(text("hi"))], tools, toolChoice: { kind: "any" } });
    expect(body).toMatchObject({
      model: "up",
      store: false,
      tool_choice: "required",
      tools: [{ type: "function", strict: false }],
    });
    expect(body).not.toHaveProperty("include");
    expect(body).not.toHaveProperty("stream");
  });

  test("sends the account's own reasoning in place, and drops other reasoning", () => {
    const own = sealBy("acc");
    const { items, body, warnings } = write({
      messages: [
        user(text("go")),
        assistant(
          thought(sealBy("other")),
          thought(sealBy(null, "anthropic-messages")),
          thought(own),
          call("c1"),
          thought(own, "last"),
        ),
        user(result("c1")),
      ],
    });
    expect(items.map((item) => item["type"])).toEqual([
      "message",
      "reasoning",
      "function_call",
      "function_call_output",
    ]);
    expect(items[1]).toEqual({
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "gAAA",
    });
    expect(body.include).toEqual(["reasoning.encrypted_content"]);
    expect(warnings).toHaveLength(1);
  });

  test("fills in a missing result, and writes a result without a call as text", () => {
    const { items, warnings } = write({
      messages: [user(text("go")), assistant(call("c1"), call("c2")), user(result("c2"), result("c9"), text("and?"))],
    });
    expect(items.map((item) => item["type"])).toEqual([
      "message",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
      "message",
    ]);
    expect(items.slice(3, 5).map((item) => item["call_id"])).toEqual(["c1", "c2"]);
    expect(JSON.stringify(items[5])).toContain("Result of the tool f:");
    expect(warnings).toHaveLength(2);
  });

  test("writes exactly one output for every call of any history", () => {
    const part = fc.oneof(
      fc.constantFrom("a", "b", "c").map((id) => call(id)),
      fc.constantFrom("a", "b", "c").map((id) => result(id)),
      fc.constant(text("x")),
    );
    const message = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => {
      const calls = parts.filter((one) => one.kind !== "tool-result");
      return calls.some((one) => one.kind === "tool-call") ? assistant(...calls) : user(...parts);
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        const open = new Set<unknown>();
        for (const item of write({ messages }).items) {
          if (item["type"] === "function_call") open.add(item["call_id"]);
          if (item["type"] === "function_call_output") expect(open.delete(item["call_id"])).toBe(true);
        }
        expect([...open]).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("warns about unsupported settings, and rejects them if dropping would change the answer", () => {
    const hi = { messages: [user(text("hi"))] };
    const { warnings, body } = write({
      ...hi,
      stop: ["x"],
      topK: 1,
      seed: 0,
      presencePenalty: 0,
      frequencyPenalty: 1,
      outputTokensMax: 5,
    });
    expect(warnings).toHaveLength(6);
    expect(body.max_output_tokens).toBe(16);
    expect(refusal(() => write({ ...hi, choices: 2 }))).toEqual({
      code: "unsupported_by_model",
      param: "n",
      retry: "other",
    });
    const foreign = {
      kind: "document",
      source: { kind: "file", id: "f", dialect: "anthropic-messages" },
      name: null,
      detail: null,
      cache: null,
    } as const;
    expect(refusal(() => write({ messages: [user(foreign)] })).code).toBe("unsupported_by_model");
  });

  test.each([
    [{ effort: "high", budgetTokens: 1, visible: false }, { effort: "high" }],
    [{ effort: null, budgetTokens: 0, visible: true }, { effort: "none" }],
    [
      { effort: null, budgetTokens: 2_048, visible: true },
      { effort: "low", summary: "auto" },
    ],
    [{ effort: null, budgetTokens: 10_000, visible: false }, { effort: "medium" }],
    [{ effort: null, budgetTokens: 60_000, visible: false }, { effort: "xhigh" }],
    [{ effort: null, budgetTokens: null, visible: true }, { summary: "auto" }],
  ] as const)("writes reasoning of %j as %j", (reasoning, expected) => {
    const { body } = write({ messages: [user(text("hi"))], reasoning });
    expect(body.reasoning).toEqual(expected);
    expect(body.include !== undefined).toBe(!("effort" in expected && expected.effort === "none"));
  });

  test("replaces a long id with the same digest everywhere", () => {
    const id = "c".repeat(80);
    const { items, body } = write({
      messages: [assistant(call(id)), user(result(id))],
      userId: "u".repeat(200),
      cacheKey: "k",
    });
    expect(items[0]?.["call_id"]).toBe(items[1]?.["call_id"]);
    expect(String(items[0]?.["call_id"]).length).toBeLessThanOrEqual(64);
    expect(String(body.safety_identifier).length).toBeLessThanOrEqual(64);
    expect(body.prompt_cache_key).toBe("k");
  });

  test("states in the result that a tool failed, and keeps its pictures", () => {
    const failed = { ...(result("c1", "boom") as TurnPart & { kind: "tool-result" }), isError: true };
    const image = {
      kind: "image",
      source: { kind: "url", url: "https://x/y.png", mediaType: null },
      name: null,
      detail: null,
      cache: null,
    } as const;
    const seen = { ...(result("c2") as TurnPart & { kind: "tool-result" }), parts: [image] };
    const { items, warnings } = write({ messages: [assistant(call("c1"), call("c2")), user(failed, seen)] });
    expect(items[2]?.["output"]).toBe("Error: boom");
    expect(warnings).toEqual([]);
    expect(items[3]?.["output"]).toEqual([{ type: "input_image", detail: "auto", image_url: "https://x/y.png" }]);
  });

  test("encodes tool names so that they can be restored", () => {
    const tools = [{ name: "files.read", description: null, parameters: null, strict: null, cache: null }];
    const { items, body } = write({
      messages: [user(text("x")), assistant(call("c1", "files.read")), user(result("c1"))],
      tools,
    });
    const written = String(items[1]?.["name"]);
    expect(written).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(body.tools).toMatchObject([{ name: written }]);
    const reply = {
      object: "response",
      status: "completed",
      output: [{ type: "function_call", call_id: "c", name: written, arguments: "{}" }],
    };
    const source = { account: "acc", newId: (prefix: string) => prefix, warn: () => {} };
    const answer = openaiResponsesCodec.readAnswer(new TextEncoder().encode(JSON.stringify(reply)), source);
    expect(answer.blocks).toMatchObject([{ kind: "tool-call", name: "files.read" }]);
  });
});
