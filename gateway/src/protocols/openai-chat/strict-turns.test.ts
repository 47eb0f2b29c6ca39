import { expect, test } from "bun:test";
import type { Turn, TurnPart } from "#core/index.ts";
import { silentTurn } from "../../../test/silent-turn.ts";
import { writeChatTurn } from "./write-turn.ts";

const text = (value: string): TurnPart & { kind: "text" } => ({ kind: "text", text: value, cache: null });
const user = (...parts: readonly TurnPart[]) => ({ role: "user", parts }) as const;
const assistant = (...parts: readonly TurnPart[]) => ({ role: "assistant", parts }) as const;
const system = (value: string) => ({ role: "system", parts: [text(value)] }) as const;
const call = (id: string): TurnPart => ({
  kind: "tool-call",
  id,
  name: "look",
  argumentsText: "{}",
  seal: null,
  cache: null,
});
const result = (callId: string): TurnPart => ({
  kind: "tool-result",
  callId,
  name: "look",
  parts: [text("seen")],
  isError: false,
  cache: null,
});

type Message = Readonly<Record<string, unknown>>;

function write(...messages: Turn["messages"]): readonly Message[] {
  const traits = { strictTurns: true };
  const target = { upstreamModel: "up", account: "acc", traits, newId: (prefix: string) => `${prefix}1` };
  const bytes = writeChatTurn({ ...silentTurn, messages }, target, () => undefined);
  return (JSON.parse(new TextDecoder().decode(bytes)) as { messages: Message[] }).messages;
}

const roles = (messages: readonly Message[]) => messages.map(({ role }) => role);

// Mistral: "Unexpected role 'user' after role 'tool'"; what Claude Code and Codex send has it in nearly every turn.
test("inserts an assistant message after a tool result", () => {
  const messages = write(user(text("go")), assistant(call("c1")), user(result("c1"), text("and now?")));
  expect(roles(messages)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
  expect(messages.at(-1)?.["content"]).toBe("and now?");
});

test("keeps leading instructions and writes others as user text", () => {
  expect(roles(write(user(text("a")), system("b"), assistant(text("c")), user(text("d"))))).toEqual([
    "user",
    "system",
    "assistant",
    "user",
  ]);
  const messages = write(user(text("go")), assistant(call("c1")), user(result("c1")), system("be brief"));
  expect(roles(messages)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
});

// "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9"
test("gives calls ids of nine letters and digits, equal for call and result", () => {
  const [, asked, answered] = write(user(text("go")), assistant(call("toolu_01ABC")), user(result("toolu_01ABC")));
  const calls = asked?.["tool_calls"] as readonly { readonly id: string }[];
  const id = calls[0]?.id;
  expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(answered?.["tool_call_id"]).toBe(id);
  const own = write(user(text("go")), assistant(call("dnEN4JsJy")), user(result("dnEN4JsJy")));
  expect(own[2]?.["tool_call_id"]).toBe("dnEN4JsJy");
});

// "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
test("marks a prefilled answer", () => {
  expect(write(user(text("go")), assistant(text("{")))).toEqual([
    { role: "user", content: "go" },
    { role: "assistant", content: "{", prefix: true },
  ]);
});

test("writes an earlier refusal as text", () => {
  const messages = write(user(text("go")), assistant({ kind: "refusal", text: "No." }), user(text("why?")));
  expect(messages[1]).toEqual({ role: "assistant", content: "No." });
});
