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
test("drops blank text", () => {
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

test("trims white space at the end of a prefill", () => {
  const { messages } = write({ messages: [user(says("go")), assistant(says("The answer is: \n"))] });
  expect(messages.at(-1)).toEqual({ role: "assistant", content: [{ text: "The answer is:" }] });
});

test("sets the type of every tool schema to object", () => {
  const tool = { name: "look", description: null, parameters: { properties: {} }, strict: null, cache: null };
  const { toolConfig } = write({ messages: [user(says("go"))], tools: [tool] });
  expect(toolConfig.tools[0].toolSpec.inputSchema.json).toEqual({ type: "object", properties: {} });
});

test("finds the media format from an unusual media type or a file extension", () => {
  const about = { name: null, detail: null, cache: null };
  const jpg = { kind: "base64", mediaType: "image/jpg", data: "AAAA" } as const;
  const opus = { kind: "url", url: "s3://bucket/voice.opus", mediaType: null } as const;
  const { messages } = write({
    messages: [user({ kind: "image", source: jpg, ...about }, { kind: "audio", source: opus, ...about }, says("go"))],
  });
  expect(messages[0].content).toMatchObject([
    { image: { format: "jpeg" } },
    { audio: { format: "opus" } },
    { text: "go" },
  ]);
});

test("keeps pictures in a result without a call", () => {
  const source = { kind: "base64", mediaType: "image/png", data: "AAAA" } as const;
  const { messages } = write({
    messages: [user(result(says("see"), { kind: "image", source, name: null, detail: null, cache: null }))],
  });
  expect(messages[0].content).toEqual([
    { text: "Result of look: see" },
    { image: { format: "png", source: { bytes: "AAAA" } } },
  ]);
});
