import { describe, expect, test } from "bun:test";
import { Failure, type Turn, type TurnMessage } from "#core/index.ts";
import { emptyTurn } from "../../../test/conformance/turn-arbitraries.ts";
import type { DialectTraits } from "../codec.ts";
import { writeGeminiTurn } from "./write-turn.ts";

const userMessage: TurnMessage = { role: "user", parts: [{ kind: "text", text: "hi", cache: null }] };

interface Written {
  readonly body: Record<string, unknown>;
  readonly warnings: readonly string[];
}

function write(turn: Partial<Turn>, upstreamModel = "gemini-2.5-flash", traits: DialectTraits = {}): Written {
  const warnings: string[] = [];
  let ids = 0;
  const target = { upstreamModel, account: "acc", traits, newId: (prefix: string) => `${prefix}${ids++}` };
  const bytes = writeGeminiTurn({ ...emptyTurn, messages: [userMessage], ...turn }, target, (what) =>
    warnings.push(what),
  );
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

describe("writing tools and settings for Gemini", () => {
  const tool = { name: "f", description: "d", parameters: { type: "object", $defs: {} }, strict: null, cache: null };

  test("keeps the JSON Schema of tools", () => {
    expect(write({ tools: [tool, { ...tool, name: "g", description: null, parameters: null }] }).body["tools"]).toEqual(
      [
        {
          functionDeclarations: [
            { name: "f", description: "d", parametersJsonSchema: { type: "object", $defs: {} } },
            { name: "g" },
          ],
        },
      ],
    );
  });

  test.each([
    [{ kind: "auto" }, { mode: "AUTO" }],
    [{ kind: "none" }, { mode: "NONE" }],
    [{ kind: "any" }, { mode: "ANY" }],
    [
      { kind: "tool", name: "f" },
      { mode: "ANY", allowedFunctionNames: ["f"] },
    ],
  ] as const)("writes the choice %j as %j", (toolChoice, functionCallingConfig) => {
    expect(write({ tools: [tool], toolChoice }).body["toolConfig"]).toEqual({ functionCallingConfig });
  });

  test("warns about unsupported settings unless they have no effect", () => {
    expect(
      write({ tools: [{ ...tool, strict: true }], parallelToolCalls: false, verbosity: "low" }).warnings,
    ).toHaveLength(3);
    expect(write({ parallelToolCalls: false, cacheKey: "k", userId: "u", metadata: { a: "b" } }).warnings).toEqual([]);
  });

  test("writes sampling unchanged, including zeros", () => {
    const { body, warnings } = write({
      temperature: 0,
      topP: 0.5,
      topK: 3,
      outputTokensMax: 9,
      presencePenalty: 0,
      frequencyPenalty: 1,
      seed: 7,
      stop: ["a"],
      serviceTier: "flex",
    });
    expect(body["generationConfig"]).toEqual({
      temperature: 0,
      topP: 0.5,
      topK: 3,
      maxOutputTokens: 9,
      presencePenalty: 0,
      frequencyPenalty: 1,
      seed: 7,
      stopSequences: ["a"],
    });
    expect([body["serviceTier"], warnings]).toEqual(["flex", []]);
  });

  test("drops a sixth stop sequence, a long seed and an unknown tier with warnings", () => {
    const { body, warnings } = write({ stop: [..."abcdef"], seed: 2 ** 40, serviceTier: "scale" });
    expect(body["generationConfig"]).toEqual({ stopSequences: [..."abcde"] });
    expect(warnings).toHaveLength(3);
  });

  test("rejects more than one answer", () => {
    expect(refusal({ choices: 2 })).toEqual(["unsupported_by_model", "n", "other"]);
  });

  test("requests JSON and its schema by media type", () => {
    const format = { kind: "schema", name: "n", description: null, schema: { type: "object" }, strict: true } as const;
    const type = { responseMimeType: "application/json" };
    expect(write({ format: { kind: "json" } }).body["generationConfig"]).toEqual(type);
    expect(write({ format }).body["generationConfig"]).toEqual({ ...type, responseJsonSchema: { type: "object" } });
    const without = write({ format }, "gemini-2.5-flash", { noSchemaOutput: true });
    expect([without.body["generationConfig"], without.warnings.length]).toEqual([type, 1]);
  });

  test.each([
    ["gemini-2.5-flash", { effort: "none" }, { thinkingBudget: 0 }, 0],
    ["gemini-2.5-pro", { effort: "none" }, { thinkingBudget: 128 }, 1],
    ["gemini-2.5-flash", { effort: "minimal" }, { thinkingBudget: 1_024 }, 0],
    ["gemini-2.5-flash", { effort: "high", visible: true }, { thinkingBudget: 24_576, includeThoughts: true }, 0],
    ["gemini-2.5-flash", { effort: "max" }, { thinkingBudget: 24_576 }, 0],
    ["gemini-2.5-pro", { effort: "max" }, { thinkingBudget: 32_768 }, 0],
    ["gemini-2.5-flash", { budgetTokens: 31_999 }, { thinkingBudget: 24_576 }, 1],
    ["gemini-2.5-flash", { effort: "high", budgetTokens: 2_000 }, { thinkingBudget: 2_000 }, 0],
    ["gemini-2.5-flash", { visible: true }, { includeThoughts: true }, 0],
    ["gemini-2.5-flash", { effort: "none", visible: true }, { thinkingBudget: 0 }, 0],
    ["gemini-3-flash-preview", { effort: "minimal" }, { thinkingLevel: "MINIMAL" }, 0],
    ["gemini-3-flash-preview", { effort: "xhigh", budgetTokens: 5 }, { thinkingLevel: "HIGH" }, 0],
    ["gemini-3.1-pro-preview", { effort: "none", visible: true }, { thinkingLevel: "LOW", includeThoughts: true }, 1],
    ["gemini-3.1-pro-preview", { budgetTokens: 2_000 }, { thinkingBudget: 2_000 }, 0],
    ["my-model", { effort: "low" }, { thinkingBudget: 4_096 }, 0],
    ["gemini-2.0-flash", { effort: "high" }, undefined, 1],
    ["gemini-2.0-flash", { effort: "none" }, undefined, 0],
    ["gemini-2.5-flash", {}, undefined, 0],
  ] as const)("writes for %s the thinking request %j as %j", (name, requested, expected, warned) => {
    const reasoning = { effort: null, budgetTokens: null, visible: false, ...requested };
    const { body, warnings } = write({ reasoning }, name);
    const config = body["generationConfig"] as { thinkingConfig?: unknown } | undefined;
    expect([config?.thinkingConfig, warnings.length]).toEqual([expected, warned]);
  });
});
