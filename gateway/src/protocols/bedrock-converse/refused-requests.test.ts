import { expect, test } from "bun:test";
import type { Turn, TurnPart } from "#core/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import { bedrockConverseCodec } from "./index.ts";

const says = (text: string): TurnPart & { kind: "text" } => ({ kind: "text", text, cache: null });
const user = (...parts: readonly TurnPart[]) => ({ role: "user", parts }) as const;
const assistant = (...parts: readonly TurnPart[]) => ({ role: "assistant", parts }) as const;
const call: TurnPart = { kind: "tool-call", id: "c1", name: "look", argumentsText: "{}", seal: null, cache: null };
const result = (...parts: (TurnPart & { kind: "text" | "image" })[]): TurnPart => ({
  kind: "tool-result",
  callId: "c1",
  name: "look",
  parts,
  isError: false,
  cache: null,
});

function write(turn: Partial<Turn>) {
  const target = { upstreamModel: "amazon.nova-pro-v1:0", account: "aws", traits: {}, newId: (p: string) => `${p}1` };
  const bytes = bedrockConverseCodec.writeTurn({ ...silentTurn, ...turn }, target, () => undefined);
  return JSON.parse(new TextDecoder().decode(bytes));
}

// "text content blocks must contain non-whitespace text": the whole conversation is refused for one.
test("no blank text is sent, wherever it stands", () => {
  const body = write({
    system: [says(" \n"), says("be brief")],
    messages: [user(says("  "), says("go")), assistant(says("\n"), call), user(result(says(" ")), says("\n\n"))],
  });
  expect(body.system).toEqual([{ text: "be brief" }]);
  expect(body.messages).toEqual([
    { role: "user", content: [{ text: "go" }] },
    { role: "assistant", content: [{ toolUse: { toolUseId: "c1", name: "look", input: {} } }] },
    { role: "user", content: [{ toolResult: { toolUseId: "c1", content: [{ text: "done" }] } }] },
  ]);
});

test("the beginning of an answer does not end in white space", () => {
  const { messages } = write({ messages: [user(says("go")), assistant(says("The answer is: \n"))] });
  expect(messages.at(-1)).toEqual({ role: "assistant", content: [{ text: "The answer is:" }] });
});

test("a tool's schema says that it is an object's", () => {
  const tool = { name: "look", description: null, parameters: { properties: {} }, strict: null, cache: null };
  const { toolConfig } = write({ messages: [user(says("go"))], tools: [tool] });
  expect(toolConfig.tools[0].toolSpec.inputSchema.json).toEqual({ type: "object", properties: {} });
});

test("a result whose call is not in the conversation keeps its pictures", () => {
  const source = { kind: "base64", mediaType: "image/png", data: "AAAA" } as const;
  const { messages } = write({
    messages: [user(result(says("see"), { kind: "image", source, name: null, detail: null, cache: null }))],
  });
  expect(messages[0].content).toEqual([
    { text: "Result of look: see" },
    { image: { format: "png", source: { bytes: "AAAA" } } },
  ]);
});
