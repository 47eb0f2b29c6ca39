import { expect } from "bun:test";
import type { Script } from "@sluice/simulator";
import { type Ask, type Heard, type Said, type Tool, type ToolChoice, warningsOf } from "./ask.ts";
import { bothWays, type Case, type Ground, scripted } from "./case.ts";
import { usageAgrees } from "./cases-text.ts";

const weather: Tool = {
  name: "get_weather",
  description: "Tells how warm it is.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city", "days"],
    additionalProperties: false,
  },
};
const clock: Tool = {
  name: "get_time",
  description: "Tells how late it is.",
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
    run: (ground) => {
      const ask = askFor(ground, { tokens: 3 }, [weather]);
      return bothWays(ground, ask, async (heard, way) => {
        expect(heard.stop).toBe("tool-calls");
        expect(heard.calls.map(({ name, args }) => ({ name, args }))).toEqual([
          { name: "get_weather", args: { city: "use get_weather now", days: 1 } },
        ]);
        usageAgrees(ground, heard);
        const final = await ground.caller[way](followUp(ask, heard));
        expect(final.text).toBe(" the quick brown");
        expect(final.stop).toBe("stop");
        ground.later(final.exchange, ({ truth }) => expect(truth.body_text).toContain("minus four degrees"));
      });
    },
  },
  {
    name: "parallel tool calls",
    run: (ground) => {
      const ask = askFor(ground, { tokens: 3, tool_calls: 2, preamble: true }, [weather, clock]);
      return bothWays(ground, ask, async (heard, way) => {
        expect(heard.stop).toBe("tool-calls");
        expect(heard.calls.map((call) => call.name)).toEqual(["get_weather", "get_time"]);
        expect(heard.calls[1]?.args).toEqual({ zone: "use get_weather now" });
        expect(heard.text).toBe(" the quick brown fox");
        usageAgrees(ground, heard);
        const final = await ground.caller[way](followUp(ask, heard));
        expect(final.text).toBe(" the quick brown");
        ground.later(final.exchange, ({ truth }) => {
          expect(truth.body_text).toContain("result of get_weather");
          expect(truth.body_text).toContain("result of get_time");
        });
      });
    },
  },
  {
    name: "tool without arguments",
    run: (ground) => {
      const ping: Tool = { name: "ping", description: "Says that it is there.", parameters: noParameters };
      const ask: Ask = { model: ground.model, turns: [scripted("use ping", { tokens: 3 })], tools: [ping] };
      return bothWays(ground, ask, async (heard, way) => {
        expect(heard.calls.map(({ name, args }) => ({ name, args }))).toEqual([{ name: "ping", args: {} }]);
        expect((await ground.caller[way](followUp(ask, heard))).text).toBe(" the quick brown");
      });
    },
  },
  {
    name: "tool choice",
    run: async (ground) => {
      const ask: Ask = { model: ground.model, turns: [scripted("say hi", { tokens: 3 })], tools: [weather, clock] };
      const called = async (toolChoice: ToolChoice): Promise<readonly string[]> =>
        (await ground.caller.whole({ ...ask, toolChoice })).calls.map((call) => call.name);
      expect(await called({ name: "get_time" })).toEqual(["get_time"]);
      expect(await called("any")).toEqual(["get_weather"]);
      const turns = [scripted("use get_weather now", { tokens: 3 })];
      expect((await ground.caller.whole({ ...ask, turns, toolChoice: "none" })).text).toBe(" the quick brown");
    },
  },
  {
    name: "thinking",
    run: (ground) => {
      const turns = [scripted("why", thinkingScript)];
      return bothWays(ground, { model: ground.model, turns, thinks: true }, (heard) => {
        expect(heard.text).toBe(" the quick brown");
        showsThoughts(heard);
        usageAgrees(ground, heard);
        // Converse counts what was thought in its output and says no more of it.
        ground.later(heard.exchange, ({ row }) => {
          expect(row.reasoning).toBe(row.upstream_dialect === "bedrock-converse" ? 0 : 6);
          expect(row.output).toBe(9);
        });
      });
    },
  },
  {
    name: "thinking in a tool loop",
    run: (ground) => {
      const ask: Ask = { ...askFor(ground, thinkingScript, [weather]), thinks: true };
      return bothWays(ground, ask, async (heard, way) => {
        expect(heard.stop).toBe("tool-calls");
        showsThoughts(heard);
        const second = followUp(ask, heard);
        const final = await ground.caller[way](second);
        expect(final.text).toBe(" the quick brown");
        // And once more, as an agent's loop does: all that came before is sent again.
        const turns: Said[] = [
          ...second.turns,
          { by: "echo", heard: final },
          scripted("use get_weather now", thinkingScript),
        ];
        const again = await ground.caller[way]({ ...second, turns });
        expect(again.stop).toBe("tool-calls");
        thoughtsReturned(ground, final);
      });
    },
  },
];

const thinkingScript: Script = { tokens: 3, reasoning_field: "reasoning_content" };

function askFor({ model }: Ground, script: Script, tools: readonly Tool[]): Ask {
  return { model, turns: [scripted("use get_weather now", script)], tools };
}

function followUp(ask: Ask, heard: Heard): Ask {
  const results = heard.calls.map(({ id, name }) => ({ id, name, text: `result of ${name}: minus four degrees` }));
  return { ...ask, turns: [...ask.turns, { by: "echo", heard }, { by: "tools", results }] };
}

function showsThoughts(heard: Heard): void {
  expect(heard.thinking).toBe("First, what is being asked here?");
}

/** How each upstream dialect has what was thought, in a request. */
const thoughtMembers: Readonly<Record<string, RegExp>> = {
  "anthropic-messages": /"type":"thinking","thinking":"First/,
  "openai-responses": /"encrypted_content":"sim_/,
  gemini: /"thoughtSignature":"/,
  "bedrock-converse": /"reasoningText":\{/,
};

/** The upstream had back what only it can read, unless the caller was told that it could not be. */
function thoughtsReturned(ground: Ground, final: Heard): void {
  const warned = warningsOf(final.exchange);
  ground.later(final.exchange, ({ row, truth }) => {
    const member = thoughtMembers[row.upstream_dialect];
    if (member === undefined || member.test(truth.body_text ?? "")) return;
    expect(warned).toMatch(/reasoning|thinking|thought/i);
    // Chat completions have no place for a seal; every other dialect has one.
    expect(ground.caller.dialect).toBe("chat");
  });
}
