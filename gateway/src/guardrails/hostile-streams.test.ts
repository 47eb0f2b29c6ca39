import { expect, test } from "bun:test";
import type { Guardrail, WireDialectId } from "#core/index.ts";
import { textsOf } from "#protocols/index.ts";
import { Placeholders } from "./placeholders.ts";
import { detectorOf, isLocating } from "./policy.ts";
import { StreamInspector } from "./stream-inspector.ts";

const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const [first, second] = [secret.slice(0, 17), secret.slice(17)];

function through(dialect: WireDialectId, stream: string, action: Guardrail["action"] = "mask"): string {
  const guardrail: Guardrail = {
    ...{ id: "grl_1", name: "keys", workspaceId: null, workspaces: [], groups: [], keys: [], on: ["output"], at: null },
    ...{ check: { kind: "credentials" }, action, onError: "block", unreadable: "pass", stream: "window" },
    ...{ timeoutMs: 2_000, enforce: true },
  };
  if (!isLocating(guardrail.check)) throw new Error("unreachable");
  const inspector = new StreamInspector({
    shape: textsOf(dialect).stream,
    rules: [{ guardrail, detector: detectorOf(guardrail.check) }],
    placeholders: new Placeholders(() => "secret"),
    judged: null,
    checkTime() {},
    onBlock: () => {
      throw new Error("blocked");
    },
  });
  const out: Uint8Array[] = [];
  for (const byte of Buffer.from(stream)) out.push(...inspector.push(Buffer.from([byte])));
  out.push(...inspector.end());
  return Buffer.concat(out).toString();
}

const delta = (content: string, index = 0): object => ({ choices: [{ index, delta: { content } }] });
const sse = (...events: (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
function framings(first: string, second: string): Readonly<Record<string, string>> {
  const chat = sse(delta("It is "), delta(first), delta(`${second} ok`), "[DONE]");
  return {
    "lines that end with CR": `event: x\r${chat.replaceAll("\n", "\r")}`,
    "lines that end with CR LF": chat.replaceAll("\n", "\r\n"),
    "a byte order mark": `\uFEFF${chat}`,
    "no blank line at the end": chat.slice(0, chat.indexOf(" ok") + 8),
    "data in several lines": chat.replaceAll('"delta":', '\ndata: "delta":\ndata:'),
    "comments between events": chat.replaceAll("data: ", ": comment\n\n: another\ndata: "),
    "[DONE] before the end": sse(delta(first), "[DONE]", delta(`${second} `)),
    "one character in each event": sse(...[...`It is ${first}${second} ok`].map((each) => delta(each))),
    escapes: chat.replace("ghp_", "\\u0067\\u0068p_"),
    "no index of the choice": chat.replace('"index":0,', ""),
    "values that are nested deeply": sse(
      ...[first, `${second} `].map((content) => {
        const deep = `${'{"a":'.repeat(200)}1${"}".repeat(200)}`;
        return JSON.stringify(delta(content)).replace("{", `{"unknown":${deep},`);
      }),
    ),
    "a member that appears twice": sse(
      ...[first, `${second} `].map((content) =>
        JSON.stringify(delta(content)).replace('"delta"', '"delta":{},"delta"'),
      ),
    ),
  };
}

test.each(Object.entries(framings(first, second)))("masks a value in a stream with %s", (_title, stream) => {
  const out = through("openai-chat", stream);
  expect(out).not.toContain(second);
  expect(out).not.toContain("ghp_");
  expect(out).not.toContain("\\u0067");
  expect(out).toContain("‹GITHUB_TOKEN_");
});

test.each(Object.entries(framings("word, ", "other")))(
  "leaves a stream without findings as it is, with %s",
  (_title, stream) => expect(through("openai-chat", stream)).toBe(stream),
);

test.each([
  ["a comment", `: ${secret}\n\n`],
  ["a field other than data", `id: ${secret}\n${sse(delta("hello"))}`],
  ["an event that claims to be a ping", sse({ type: "ping", text: secret })],
  ["data that is not JSON", sse(`oops ${secret}`)],
  ["data that is not JSON, with escapes", sse(`{"text": "\\u0067${secret.slice(1)}" oops`)],
  ["an error", sse({ error: { message: secret } })],
])("blocks a value in %s", (_title, stream) => {
  expect(() => through("openai-chat", stream, "block")).toThrow("blocked");
});

const parts: Readonly<Record<string, readonly [WireDialectId, readonly object[]]>> = {
  "the start of a content block and its first delta": [
    "anthropic-messages",
    [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: first } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: `${second} ` } },
      { type: "content_block_stop", index: 0 },
    ],
  ],
  "parts at different positions": [
    "gemini",
    [
      { candidates: [{ content: { parts: [{ text: "Hm", thought: true }, { text: first }] } }] },
      { candidates: [{ index: 0, content: { parts: [{ text: `${second} ` }] } }] },
    ],
  ],
  "deltas with another item id in each event": [
    "openai-responses",
    [first, `${second} `].map((each, index) => ({
      ...{ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: `m${index}`, delta: each },
    })),
  ],
};

test.each(Object.entries(parts))("masks a value over %s", (_title, [dialect, events]) => {
  const out = through(dialect, sse(...events));
  expect(out).not.toContain(second);
  expect(out).toContain("‹GITHUB_TOKEN_");
});

test.each<[string, WireDialectId, readonly object[]]>([
  ["two choices", "openai-chat", [delta(first, 0), delta(second, 1)]],
  [
    "two content blocks",
    "anthropic-messages",
    [first, second].map((text, index) => ({ type: "content_block_delta", index, delta: { type: "text_delta", text } })),
  ],
  [
    "two tool calls",
    "openai-chat",
    [first, second].map((part, index) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: part } }] } }],
    })),
  ],
])("does not join the texts of %s", (_title, dialect, events) => {
  expect(through(dialect, sse(...events))).toBe(sse(...events));
});

test("masks values of interleaved choices and tool calls", () => {
  const cut = (part: string): object[] => [
    delta(part, 0),
    delta(part, 1),
    ...[0, 1].map((index) => ({
      choices: [{ index: 1, delta: { tool_calls: [{ index, function: { arguments: part } }] } }],
    })),
  ];
  const out = through("openai-chat", sse(...['{"a":"', first, second, '"}'].flatMap(cut)));
  expect(out.match(/‹GITHUB_TOKEN_/g)).toHaveLength(4);
  expect(out).not.toContain(second);
});
