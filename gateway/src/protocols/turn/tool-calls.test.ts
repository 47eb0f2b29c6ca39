import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AnswerEvent } from "#core/index.ts";
import { CallerToolNames, shortToolName } from "./tool-calls.ts";

const long = `mcp__a_server_with_a_long_name__${"a_tool_with_a_long_name".repeat(3)}`;
const toolOf = (name: string) => ({ name, description: null, parameters: null, strict: null, cache: null });

describe("tool names for upstreams with a limit of 64 characters", () => {
  test("are always valid and always the same", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200, unit: "binary" }), (name) => {
        expect(shortToolName(name)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(shortToolName(name)).toBe(shortToolName(name));
      }),
    );
  });

  test("stay unchanged if they fit, and stay distinct if shortened", () => {
    expect(shortToolName("read_file")).toBe("read_file");
    expect(shortToolName(long)).toStartWith("mcp__a_server_with_a_long_name__a_tool");
    expect(shortToolName(`${long}1`)).not.toBe(shortToolName(`${long}2`));
  });

  test("are restored in the answer", () => {
    const names = new CallerToolNames([toolOf("short"), toolOf(long)]);
    const call = (name: string) => ({ kind: "tool-call", id: "c", name }) as const;
    const begun = (name: string): AnswerEvent => ({ kind: "block-start", block: call(name) });
    expect(names.event(begun(shortToolName(long)))).toEqual(begun(long));
    expect(names.event(begun("short"))).toEqual(begun("short"));
    const block = { ...call(shortToolName(long)), argumentsText: "{}", seal: null };
    const finish = { reason: "tool-calls", stopSequence: null } as const;
    const answer = { id: null, model: null, blocks: [block], finish, usage: null };
    expect(names.answer(answer).blocks).toEqual([{ ...block, name: long }]);
  });
});
