import { expect, test } from "bun:test";
import fc from "fast-check";
import { sealText } from "../turn/seal-text.ts";
import { removeForeignSeals } from "./foreign-seals.ts";

const seal = sealText({ dialect: "openai-responses", account: "a", itemId: "rs_1", data: "x" });

/** JSON as somebody may write it: white space anywhere, characters as escapes. */
function written(value: unknown, space: () => string, escapes: boolean): string {
  const around = (text: string): string => `${space()}${text}${space()}`;
  const string = (text: string): string => {
    const json = JSON.stringify(text);
    return escapes
      ? json.replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
      : json;
  };
  if (Array.isArray(value)) return around(`[${value.map((one) => written(one, space, escapes)).join(",")}]`);
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([name, one]) => `${around(string(name))}:${written(one, space, escapes)}`,
    );
    return around(`{${members.join(",")}}`);
  }
  return around(typeof value === "string" ? string(value) : JSON.stringify(value));
}

const words = fc.string({ unit: "binary", maxLength: 12 });
const other = fc.oneof(
  words.map((text) => ({ type: "text", text })),
  words.map((thinking) => ({ type: "thinking", thinking, signature: `Eq${thinking.length}` })),
  fc
    .jsonValue({ maxDepth: 2 })
    .map((input) => ({ input: JSON.parse(JSON.stringify(input)) as unknown, type: "of_next_year" })),
  fc.constant({ type: "text", text: seal }),
);
const sealed = fc.oneof(
  words.map((thinking) => ({ thinking, type: "thinking", signature: seal })),
  fc.constant({ data: seal, type: "redacted_thinking", more: [{ a: "}" }] }),
);
const block = fc.oneof(
  other.map((one) => ({ one, gone: false })),
  sealed.map((one) => ({ one, gone: true })),
);
const message = fc.oneof(fc.array(block, { maxLength: 5 }), words);

test("removes only foreign seals from any conversation", () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 5 }),
      fc.array(fc.constantFrom("", "", " ", "\n", "\t \r\n"), { minLength: 1, maxLength: 9 }),
      fc.boolean(),
      (messages, spaces, escapes) => {
        let at = 0;
        const space = (): string => spaces[at++ % spaces.length] ?? "";
        const bodyOf = (contents: readonly unknown[]): object => ({
          model: "m",
          messages: contents.map((content) => ({ role: "assistant", content, "a,b": [1.5, '"]}'] })),
          last: { messages: [{ content: [{ type: "thinking", signature: seal }] }] },
        });
        const full = bodyOf(messages.map((one) => (typeof one === "string" ? one : one.map((each) => each.one))));
        const left = messages
          .map((one) => (typeof one === "string" ? one : one.filter(({ gone }) => !gone).map((each) => each.one)))
          .filter((one, index) => one.length > 0 || (messages[index] ?? []).length === 0);
        const bytes = Buffer.from(written(full, space, escapes));
        const made = removeForeignSeals(bytes, { dialect: "anthropic-messages", upstreamModel: "claude" }, () => {});
        expect(JSON.parse(Buffer.from(made).toString())).toEqual(JSON.parse(JSON.stringify(bodyOf(left))));
      },
    ),
    { numRuns: 300 },
  );
});

test("returns bodies without seals unchanged", () => {
  const bytes = Buffer.from(`{"messages":[{"content":[{"type":"thinking","signature":"${seal}"}]}]}`);
  expect(removeForeignSeals(bytes, { dialect: "openai-chat", upstreamModel: "m" }, () => {})).toBe(bytes);
  const plain = Buffer.from('{"messages":[{"content":[{"type":"text","text":"sluice1.x"}]}]}');
  expect(removeForeignSeals(plain, { dialect: "anthropic-messages", upstreamModel: "m" }, () => {})).toBe(plain);
});
