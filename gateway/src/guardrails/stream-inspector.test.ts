import { expect, test } from "bun:test";
import type { Guardrail, WireDialectId } from "#core/index.ts";
import { textsOf } from "#protocols/index.ts";
import { Placeholders } from "./placeholders.ts";
import { detectorOf, isLocating } from "./policy.ts";
import { StreamInspector } from "./stream-inspector.ts";

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

function rule(action: Guardrail["action"], enforce = true): Guardrail {
  return {
    ...{ id: "grl_1", name: "keys", workspaceId: null, workspaces: [], groups: [], keys: [], on: ["output"], at: null },
    ...{ check: { kind: "credentials" }, action, onError: "block", unreadable: "pass", stream: "window" },
    ...{ timeoutMs: 2_000, enforce },
  };
}

interface Dialogue {
  readonly dialect: WireDialectId;
  /** The events of an answer with its text in these pieces. */
  readonly events: (pieces: readonly string[]) => readonly object[];
  /** The text that a client reads. */
  readonly text: (events: readonly never[]) => string;
}

const json = (piece: string): string => JSON.stringify(piece).slice(1, -1);

const dialogues: Readonly<Record<string, Dialogue>> = {
  "chat completions": {
    dialect: "openai-chat",
    events: (pieces) => [
      { id: "c1", choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
      ...pieces.map((content) => ({ id: "c1", choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
      { id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ],
    text: (events: readonly { choices: { delta: { content?: string } }[] }[]) =>
      events.map(({ choices }) => choices[0]?.delta.content ?? "").join(""),
  },
  "arguments of a tool in chat completions": {
    dialect: "openai-chat",
    events: (pieces) => [
      ...[`{"a":"`, ...pieces.map(json), `"}`].map((part) => ({
        choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: part } }] } }],
      })),
      { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ],
    text: (events: readonly { choices: { delta: { tool_calls?: { function: { arguments: string } }[] } }[] }[]) =>
      JSON.parse(events.map(({ choices }) => choices[0]?.delta.tool_calls?.[0]?.function.arguments ?? "").join("")).a,
  },
  messages: {
    dialect: "anthropic-messages",
    events: (pieces) => [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ],
    text: (events: readonly { delta?: { text?: string } }[]) => events.map(({ delta }) => delta?.text ?? "").join(""),
  },
  "input of a tool in Messages": {
    dialect: "anthropic-messages",
    events: (pieces) => [
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t", name: "run", input: {} } },
      ...[`{"a": "`, ...pieces.map(json), `"}`].map((partial_json) => ({
        ...{ type: "content_block_delta", index: 1 },
        delta: { type: "input_json_delta", partial_json },
      })),
      { type: "content_block_stop", index: 1 },
    ],
    text: (events: readonly { delta?: { partial_json?: string } }[]) =>
      JSON.parse(events.map(({ delta }) => delta?.partial_json ?? "").join("")).a,
  },
  responses: {
    dialect: "openai-responses",
    events: (pieces) => [
      ...pieces.map((delta, sequence_number) => ({
        ...{ type: "response.output_text.delta", output_index: 0, item_id: "m1", content_index: 0, delta },
        ...{ sequence_number, logprobs: [] },
      })),
      { type: "response.output_text.done", output_index: 0, item_id: "m1", content_index: 0, text: pieces.join("") },
      {
        type: "response.completed",
        response: {
          id: "r1",
          output: [{ type: "message", content: [{ type: "output_text", text: pieces.join("") }] }],
        },
      },
    ],
    text: (events: readonly { type: string; delta?: string; text?: string; response?: object }[]) => {
      const text = events.map(({ delta }) => delta ?? "").join("");
      // Later events repeat the text, with the same changes.
      expect(events.at(-2)?.text).toBe(text);
      expect(JSON.stringify(events.at(-1)?.response)).toContain(json(text));
      return text;
    },
  },
  gemini: {
    dialect: "gemini",
    events: (pieces) => [
      ...pieces.map((text) => ({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] })),
      { candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "STOP" }] },
    ],
    text: (events: readonly { candidates: { content: { parts: { text?: string }[] } }[] }[]) =>
      events.map(({ candidates }) => candidates[0]?.content.parts[0]?.text ?? "").join(""),
  },
  "arguments of a tool in Gemini, by path": {
    dialect: "gemini",
    events: (pieces) =>
      pieces.map((stringValue) => ({
        candidates: [
          { content: { parts: [{ functionCall: { name: "f", partialArgs: [{ jsonPath: "$.a", stringValue }] } }] } },
        ],
      })),
    text: (
      events: readonly {
        candidates: { content: { parts: { functionCall: { partialArgs: { stringValue: string }[] } }[] } }[];
      }[],
    ) =>
      events
        .map(({ candidates }) => candidates[0]?.content.parts[0]?.functionCall.partialArgs[0]?.stringValue ?? "")
        .join(""),
  },
  interactions: {
    dialect: "gemini-interactions",
    events: (pieces) => [
      { event_type: "step.start", index: 0, step: { type: "model_output" } },
      ...pieces.map((text) => ({ event_type: "step.delta", index: 0, delta: { type: "text", text } })),
      { event_type: "step.stop", index: 0 },
    ],
    text: (events: readonly { delta?: { text: string } }[]) => events.map(({ delta }) => delta?.text ?? "").join(""),
  },
  "arguments of a function in interactions": {
    dialect: "gemini-interactions",
    events: (pieces) => [
      ...[`{"a":"`, ...pieces.map(json), `"}`].map((part) => ({
        ...{ event_type: "step.delta", index: 0, delta: { type: "arguments_delta", arguments: part } },
      })),
      { event_type: "step.stop", index: 0 },
    ],
    text: (events: readonly { delta?: { arguments: string } }[]) =>
      JSON.parse(events.map(({ delta }) => delta?.arguments ?? "").join("")).a,
  },
  "an unknown member of chat completions": {
    dialect: "openai-chat",
    events: (pieces) => pieces.map((text) => ({ choices: [{ index: 0, delta: { invented: [{ text }] } }] })),
    text: (events: readonly { choices: { delta: { invented: { text: string }[] } }[] }[]) =>
      events.map(({ choices }) => choices[0]?.delta.invented[0]?.text ?? "").join(""),
  },
  "an unknown member of Messages": {
    dialect: "anthropic-messages",
    events: (pieces) => pieces.map((invented) => ({ type: "content_block_delta", index: 0, delta: { invented } })),
    text: (events: readonly { delta: { invented: string } }[]) => events.map(({ delta }) => delta.invented).join(""),
  },
  "a provider's own API, like Cohere's": {
    dialect: "any",
    events: (pieces) =>
      pieces.map((text) => ({ type: "content-delta", index: 0, delta: { message: { content: { text } } } })),
    text: (events: readonly { delta: { message: { content: { text: string } } } }[]) =>
      events.map(({ delta }) => delta.message.content.text).join(""),
  },
  "a provider's own API, like OpenAI's threads": {
    dialect: "any",
    events: (pieces) =>
      pieces.map((value) => ({
        ...{ id: "msg_1", object: "thread.message.delta" },
        delta: { content: [{ index: 0, type: "text", text: { value, annotations: [] } }] },
      })),
    text: (events: readonly { delta: { content: { text: { value: string } }[] } }[]) =>
      events.map(({ delta }) => delta.content[0]?.text.value ?? "").join(""),
  },
  "a completion of Mistral's": {
    dialect: "mistral-fim",
    events: (pieces) => pieces.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
    text: (events: readonly { choices: { delta: { content: string } }[] }[]) =>
      events.map(({ choices }) => choices[0]?.delta.content ?? "").join(""),
  },
};

function inspectorOf(dialect: WireDialectId, guardrail: Guardrail, placeholders = new Placeholders(() => "secret")) {
  if (!isLocating(guardrail.check)) throw new Error("unreachable");
  return new StreamInspector({
    shape: textsOf(dialect).stream,
    rules: [{ guardrail, detector: detectorOf(guardrail.check) }],
    placeholders,
    judged: null,
    checkTime() {},
    onBlock: () => {
      throw new Error("blocked");
    },
  });
}

function sse(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function through(inspector: StreamInspector, bytes: string): string {
  return Buffer.concat([...inspector.push(Buffer.from(bytes)), ...inspector.end()]).toString();
}

function eventsOf(stream: string): never[] {
  return stream
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.slice("data: ".length)) as never);
}

describeEach("masks a value that is split at any place", ({ dialect, events, text }) => {
  const whole = `Use "${secret}" \\ now, café 🙂`;
  const placeholders = new Placeholders(() => "secret");
  const expected = whole.replace(secret, placeholders.add("github_token", secret));
  for (let at = 0; at <= whole.length; at++) {
    const pieces = [whole.slice(0, at), whole.slice(at)];
    const out = through(inspectorOf(dialect, rule("mask")), sse(events(pieces)));
    expect(text(eventsOf(out))).toBe(expected);
  }
  const out = through(inspectorOf(dialect, rule("mask")), sse(events([...whole])));
  expect(text(eventsOf(out))).toBe(expected);
});

describeEach("blocks a value that is split at any place", ({ dialect, events }) => {
  for (let at = 0; at <= secret.length; at++) {
    const pieces = ["It is ", secret.slice(0, at), `${secret.slice(at)} `];
    expect(() => through(inspectorOf(dialect, rule("block")), sse(events(pieces)))).toThrow("blocked");
  }
});

describeEach("restores a placeholder that is split at any place", ({ dialect, events, text }) => {
  const value = 'a "quoted" value';
  const placeholders = new Placeholders(() => "secret");
  const whole = `Use ${placeholders.add("email", value)}.`;
  for (let at = 0; at <= whole.length; at++) {
    const pieces = [whole.slice(0, at), whole.slice(at)];
    const out = through(inspectorOf(dialect, rule("flag"), placeholders), sse(events(pieces)));
    expect(text(eventsOf(out))).toBe(`Use ${value}.`);
  }
});

describeEach("leaves a stream without findings byte for byte, in any cut", ({ dialect, events }) => {
  const stream = `: comment\n\nevent: x\r\n${sse(events(["Hello, ", "wor", "ld. 1.0e5 "]))}`.replace("{", "{ ");
  for (let at = 1; at < stream.length; at += 7) {
    const inspector = inspectorOf(dialect, rule("mask"));
    const bytes = Buffer.from(stream);
    const out = [...inspector.push(bytes.subarray(0, at)), ...inspector.push(bytes.subarray(at)), ...inspector.end()];
    expect(Buffer.concat(out).toString()).toBe(stream);
  }
});

function describeEach(title: string, check: (dialogue: Dialogue) => void): void {
  test.each(Object.entries(dialogues))(`${title}: %s`, (_name, dialogue) => check(dialogue));
}

test("does not join the texts of two choices", () => {
  const half = Math.floor(secret.length / 2);
  const events = [secret.slice(0, half), secret.slice(half)].map((content, index) => ({
    choices: [{ index, delta: { content } }],
  }));
  const out = through(inspectorOf("openai-chat", rule("mask")), sse(events));
  expect(out).toBe(sse(events));
});

test("returns an event as soon as its text is final", () => {
  const inspector = inspectorOf("openai-chat", rule("mask"));
  const event = (content: string): Buffer => Buffer.from(sse([{ choices: [{ index: 0, delta: { content } }] }]));
  const counts = ["Hello", " there", ", how", " are"].map((content) => inspector.push(event(content)).length);
  expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(3);
});

test("does not hold an answer back because the reasoning before it might continue", () => {
  const inspector = inspectorOf("openai-chat", rule("mask"));
  const event = (delta: object): Buffer => Buffer.from(sse([{ choices: [{ index: 0, delta }] }]));
  inspector.push(event({ reasoning_content: "So the key is ghp_16C7e42F2" }));
  const counts = [..."abcdefgh"].map((character) => inspector.push(event({ content: `${character} ` })).length);
  expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(7);
  // The reasoning continues after all.
  const rest = inspector.push(event({ reasoning_content: "92c6912E7710c838347Ae178B4a " }));
  expect(Buffer.concat([...rest, ...inspector.end()]).toString()).not.toContain("6912E7710c838347Ae");
  const blocking = inspectorOf("openai-chat", rule("block"));
  blocking.push(event({ reasoning_content: "So the key is ghp_16C7e42F2" }));
  for (const character of "abcdefgh") blocking.push(event({ content: `${character} ` }));
  expect(() => blocking.push(event({ reasoning_content: "92c6912E7710c838347Ae178B4a " }))).toThrow("blocked");
});

test("counts a finding once, although events of Responses repeat it", () => {
  const { events } = dialogues["responses"] as Dialogue;
  const inspector = inspectorOf("openai-responses", rule("mask"));
  through(inspector, sse(events([`${secret} and `, `${secret}.`])));
  expect([...(inspector.tallies.all[0]?.counts ?? [])]).toEqual([["github_token", 2]]);
});

test("returns every byte when it is abandoned, also of an event that has not ended", () => {
  let isLate = false;
  const { check } = rule("mask");
  if (!isLocating(check)) throw new Error("unreachable");
  const inspector = new StreamInspector({
    shape: textsOf("openai-chat").stream,
    rules: [{ guardrail: rule("mask"), detector: detectorOf(check) }],
    placeholders: new Placeholders(() => "secret"),
    judged: null,
    checkTime() {
      if (isLate) throw new Error("late");
    },
    onBlock: () => {
      throw new Error("blocked");
    },
  });
  const event = (content: string): string => sse([{ choices: [{ index: 0, delta: { content } }] }]);
  const out = inspector.push(Buffer.from(event("one")));
  isLate = true;
  const rest = `${event("two")}${event("three")}data: {"half":`;
  expect(() => inspector.push(Buffer.from(rest))).toThrow("late");
  out.push(...inspector.abandon(), ...inspector.push(Buffer.from("1}\n\n")), ...inspector.end());
  expect(Buffer.concat(out).toString()).toBe(`${event("one")}${rest}1}\n\n`);
});
