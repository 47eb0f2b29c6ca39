import { expect } from "bun:test";
import type { Script } from "@sluice/simulator";
import { type CallResult, type CallSpec, type Tool, type ToolChoice, type Turn, warningsOf } from "./call-spec.ts";
import { type Case, type CaseContext, scripted, wholeAndStreamed } from "./case.ts";
import { expectSameUsage } from "./cases-text.ts";

const weather: Tool = {
  name: "get_weather",
  description: "Returns the temperature.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city", "days"],
    additionalProperties: false,
  },
};
const clock: Tool = {
  name: "get_time",
  description: "Returns the time.",
  parameters: {
    type: "object",
    properties: { zone: { type: "string" } },
    required: ["zone"],
    additionalProperties: false,
  },
};

const noParameters = { type: "object", properties: {} } as const;

export const toolCases: readonly Case[] = [
  {
    name: "tool call and result",
    run: (context) => {
      const spec = specFor(context, { tokens: 3 }, [weather]);
      return wholeAndStreamed(context, spec, async (result, mode) => {
        expect(result.stop).toBe("tool-calls");
        expect(result.calls.map(({ name, args }) => ({ name, args }))).toEqual([
          { name: "get_weather", args: { city: "use get_weather now", days: 1 } },
        ]);
        expectSameUsage(context, result);
        const final = await context.caller[mode](followUp(spec, result));
        expect(final.text).toBe(" the quick brown");
        expect(final.stop).toBe("stop");
        context.checkLater(final.exchange, ({ truth }) => expect(truth.body_text).toContain("minus four degrees"));
      });
    },
  },
  {
    name: "parallel tool calls",
    run: (context) => {
      const spec = specFor(context, { tokens: 3, tool_calls: 2, preamble: true }, [weather, clock]);
      return wholeAndStreamed(context, spec, async (result, mode) => {
        expect(result.stop).toBe("tool-calls");
        expect(result.calls.map((call) => call.name)).toEqual(["get_weather", "get_time"]);
        expect(result.calls[1]?.args).toEqual({ zone: "use get_weather now" });
        expect(result.text).toBe(" the quick brown fox");
        expectSameUsage(context, result);
        const final = await context.caller[mode](followUp(spec, result));
        expect(final.text).toBe(" the quick brown");
        context.checkLater(final.exchange, ({ truth }) => {
          expect(truth.body_text).toContain("result of get_weather");
          expect(truth.body_text).toContain("result of get_time");
        });
      });
    },
  },
  {
    name: "tool without arguments",
    run: (context) => {
      const ping: Tool = { name: "ping", description: "Answers pong.", parameters: noParameters };
      const spec: CallSpec = { model: context.model, turns: [scripted("use ping", { tokens: 3 })], tools: [ping] };
      return wholeAndStreamed(context, spec, async (result, mode) => {
        expect(result.calls.map(({ name, args }) => ({ name, args }))).toEqual([{ name: "ping", args: {} }]);
        expect((await context.caller[mode](followUp(spec, result))).text).toBe(" the quick brown");
      });
    },
  },
  {
    name: "tool choice",
    run: async (context) => {
      const spec: CallSpec = {
        model: context.model,
        turns: [scripted("say hi", { tokens: 3 })],
        tools: [weather, clock],
      };
      const called = async (toolChoice: ToolChoice): Promise<readonly string[]> =>
        (await context.caller.whole({ ...spec, toolChoice })).calls.map((call) => call.name);
      expect(await called({ name: "get_time" })).toEqual(["get_time"]);
      expect(await called("any")).toEqual(["get_weather"]);
      const turns = [scripted("use get_weather now", { tokens: 3 })];
      expect((await context.caller.whole({ ...spec, turns, toolChoice: "none" })).text).toBe(" the quick brown");
    },
  },
  {
    name: "thinking",
    run: (context) => {
      const turns = [scripted("why", thinkingScript)];
      return wholeAndStreamed(context, { model: context.model, turns, thinks: true }, (result) => {
        expect(result.text).toBe(" the quick brown");
        expectThinking(result);
        expectSameUsage(context, result);
        // Converse includes reasoning in the output tokens and does not report it separately.
        context.checkLater(result.exchange, ({ row }) => {
          expect(row.reasoning).toBe(row.upstream_dialect === "bedrock-converse" ? 0 : 6);
          expect(row.output).toBe(9);
        });
      });
    },
  },
  {
    name: "thinking in a tool loop",
    run: (context) => {
      const spec: CallSpec = { ...specFor(context, thinkingScript, [weather]), thinks: true };
      return wholeAndStreamed(context, spec, async (result, mode) => {
        expect(result.stop).toBe("tool-calls");
        expectThinking(result);
        const second = followUp(spec, result);
        const final = await context.caller[mode](second);
        expect(final.text).toBe(" the quick brown");
        // Call again with everything that came before, as an agent's loop does.
        const turns: Turn[] = [
          ...second.turns,
          { by: "echo", result: final },
          scripted("use get_weather now", thinkingScript),
        ];
        const again = await context.caller[mode]({ ...second, turns });
        expect(again.stop).toBe("tool-calls");
        expectReasoningReturned(context, final);
      });
    },
  },
];

const thinkingScript: Script = { tokens: 3, reasoning_field: "reasoning_content" };

function specFor({ model }: CaseContext, script: Script, tools: readonly Tool[]): CallSpec {
  return { model, turns: [scripted("use get_weather now", script)], tools };
}

function followUp(spec: CallSpec, result: CallResult): CallSpec {
  const results = result.calls.map(({ id, name }) => ({ id, name, text: `result of ${name}: minus four degrees` }));
  return { ...spec, turns: [...spec.turns, { by: "echo", result }, { by: "tools", results }] };
}

function expectThinking(result: CallResult): void {
  expect(result.thinking).toBe("First, what is being asked here?");
}

/** How each dialect sends reasoning back in a request. */
const reasoningFields: Readonly<Record<string, RegExp>> = {
  "anthropic-messages": /"type":"thinking","thinking":"First/,
  "openai-responses": /"encrypted_content":"sim_/,
  gemini: /"thoughtSignature":"/,
  "gemini-interactions": /"signature":"/,
  "bedrock-converse": /"reasoningText":\{/,
};

/** The upstream received its encrypted reasoning back, or else the caller was warned that it did not. */
function expectReasoningReturned(context: CaseContext, final: CallResult): void {
  const warned = warningsOf(final.exchange);
  context.checkLater(final.exchange, ({ row, truth }) => {
    const field = reasoningFields[row.upstream_dialect];
    if (field === undefined || field.test(truth.body_text ?? "")) return;
    expect(warned).toMatch(/reasoning|thinking|thought/i);
    // Only chat completions have no field for encrypted reasoning.
    expect(context.caller.dialect).toBe("chat");
  });
}
