import { describe, expect, test } from "bun:test";
import type { CacheHint } from "#core/index.ts";
import type { Block, CacheControl } from "./write-messages.ts";
import { settleCacheMarks } from "./write-turn.ts";

const block = (text: string, ttl?: "5m" | "1h" | null): Block => ({
  ...{ type: "text", text },
  ...(ttl === undefined ? {} : { cache_control: ttl === null ? { type: "ephemeral" } : { type: "ephemeral", ttl } }),
});
const user = (...content: Block[]) => ({ role: "user" as const, content });

interface Prompt {
  readonly tools: { name: string; cache_control?: CacheControl }[];
  readonly system: Block[];
  readonly messages: ReturnType<typeof user>[];
}

/** The remaining marks as "<name or text> <ttl>", and the warnings. */
function settle(
  prompt: Partial<Prompt>,
  auto: CacheHint | null = null,
): { readonly marks: readonly string[]; readonly warnings: readonly string[] } {
  const whole: Prompt = { tools: [], system: [], messages: [], ...prompt };
  const warnings: string[] = [];
  settleCacheMarks(whole, auto, (what) => warnings.push(what));
  const blocks = [...whole.system, ...whole.messages.flatMap((message) => message.content)];
  const named = [
    ...whole.tools,
    ...blocks.map((one) => ({ name: String(one["text"]), cache_control: one.cache_control })),
  ];
  const marks = named.flatMap(({ name, cache_control: mark }) =>
    mark === undefined ? [] : [`${name} ${mark.ttl ?? "-"}`],
  );
  return { marks, warnings };
}

describe("cache marks", () => {
  test("keeps the caller's marks without adding any", () => {
    const prompt = {
      tools: [{ name: "t" }],
      system: [block("a", "1h")],
      messages: [user(block("b", null), block("c"))],
    };
    expect(settle(prompt)).toEqual({ marks: ["a 1h", "b -"], warnings: [] });
  });

  test("keeps the last four marks, with a warning", () => {
    const messages = [user(...["a", "b", "c", "d", "e"].map((text) => block(text, "5m")))];
    const { marks, warnings } = settle({ messages });
    expect(marks).toEqual(["b 5m", "c 5m", "d 5m", "e 5m"]);
    expect(warnings).toHaveLength(1);
  });

  test("shortens one-hour marks that follow five-minute marks", () => {
    const { marks, warnings } = settle({ messages: [user(block("a", "1h"), block("b", "5m"), block("c", "1h"))] });
    expect(marks).toEqual(["a 1h", "b 5m", "c -"]);
    expect(warnings).toHaveLength(1);
  });

  test("marks the last tool, instruction and user message for automatic caching", () => {
    const prompt = () => ({
      tools: [{ name: "first" }, { name: "last" }],
      system: [block("s")],
      messages: [user(block("a")), user(block("b"), block("c"))],
    });
    expect(settle(prompt(), { ttl: null })).toEqual({ marks: ["last -", "s -", "c -"], warnings: [] });
    expect(settle(prompt(), { ttl: "1h" }).marks).toEqual(["last 1h", "s 1h", "c 1h"]);
    expect(settle(prompt()).marks).toEqual([]);
  });

  test("adds no automatic marks to the caller's own", () => {
    expect(settle({ system: [block("s")], messages: [user(block("a", "5m"))] }, { ttl: null }).marks).toEqual(["a 5m"]);
  });
});
