import { describe, expect, test } from "bun:test";
import type { Turn } from "#core/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import type { DialectTraits } from "../codec.ts";
import { openaiChatCodec } from "../openai-chat/index.ts";
import { openaiResponsesCodec } from "../openai-responses/index.ts";

const messages: Turn["messages"] = [{ role: "user", parts: [{ kind: "text", text: "hi", cache: null }] }];
const warmth = { temperature: 0.2, topP: 0.9 };
const reasoning = (effort: "none" | "high") => ({ reasoning: { effort, budgetTokens: null, visible: false } });

describe.each([
  ["chat completions", openaiChatCodec],
  ["responses", openaiResponsesCodec],
])("sampling for %s", (_, codec) => {
  function write(turn: Partial<Turn>, traits: DialectTraits) {
    const warnings: string[] = [];
    const target = { upstreamModel: "up", account: "acc", traits, newId: (prefix: string) => `${prefix}1` };
    const bytes = codec.writeTurn({ ...silentTurn, messages, ...turn }, target, (what) => warnings.push(what));
    return { body: JSON.parse(new TextDecoder().decode(bytes)), warnings };
  }

  test("is sent to models that accept it", () => {
    expect(write(warmth, {})).toMatchObject({ body: { temperature: 0.2, top_p: 0.9 }, warnings: [] });
  });

  test("is dropped for a model that reasons", () => {
    const { body, warnings } = write(warmth, { refusesSampling: true });
    expect(body).not.toContainAnyKeys(["temperature", "top_p"]);
    expect(warnings).toEqual([expect.stringContaining("temperature")]);
  });

  test("is dropped without a warning if it has the default value", () => {
    const usual = { temperature: 1, topP: 1, presencePenalty: 0, frequencyPenalty: 0 };
    const { warnings } = write(usual, { refusesSampling: true });
    expect(warnings.filter((warning) => warning.includes("temperature"))).toEqual([]);
  });

  test("is sent to a model whose reasoning is disabled", () => {
    const traits: DialectTraits = { refusesSampling: "while-reasoning" };
    expect(write({ ...warmth, ...reasoning("none") }, traits).body).toMatchObject({ temperature: 0.2, top_p: 0.9 });
    for (const turn of [warmth, { ...warmth, ...reasoning("high") }]) {
      expect(write(turn, traits).body).not.toContainAnyKeys(["temperature", "top_p"]);
    }
  });
});

test("drops stop sequences for a model that reasons", () => {
  const warnings: string[] = [];
  const target = { upstreamModel: "up", account: "acc", traits: { refusesSampling: true }, newId: String } as const;
  const turn = { ...silentTurn, messages, stop: ["END"] };
  const bytes = openaiChatCodec.writeTurn(turn, target, (what) => warnings.push(what));
  expect(JSON.parse(new TextDecoder().decode(bytes))).not.toContainKey("stop");
  expect(warnings).toEqual([expect.stringContaining("stop")]);
});
