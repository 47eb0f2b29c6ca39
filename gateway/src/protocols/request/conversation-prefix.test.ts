import { expect, test } from "bun:test";
import { NameFilter } from "../json/names.ts";
import { type ScanFindings, scanObject } from "../json/scan.ts";
import { conversationFingerprint } from "./conversation-prefix.ts";

const long = "rules of the house ".repeat(400);

/** The same with and without the ends of long strings. */
function fingerprint(messages: unknown): string | null {
  const body = Buffer.from(JSON.stringify({ messages }));
  const findings: ScanFindings = { filter: new NameFilter(), classes: 0, longStrings: null };
  const spans = { messages: scanObject(body, new Set(["messages"]), null, undefined, findings).get("messages") };
  const found = conversationFingerprint(body, { ...spans, longStrings: null });
  expect(conversationFingerprint(body, { ...spans, longStrings: findings.longStrings })).toBe(found);
  return found;
}

const system = { role: "system", content: long };
const user = (content: unknown) => ({ role: "user", content });

test("returns the same prefix for later turns, moved cache marks and text as a list", () => {
  const first = fingerprint([system, user("hello")]);
  expect(first).not.toBeNull();
  expect(fingerprint([system, user("hello"), { role: "assistant", content: "hi" }, user("more")])).toBe(first);
  const marked = [{ type: "text", text: "hello", cache_control: { type: "ephemeral", ttl: "1h" } }];
  expect(fingerprint([system, user(marked)])).toBe(first);
});

test("returns another prefix if the start differs, even at the end of a long text", () => {
  const ends = ["a", "b", "bb"].map((end) => fingerprint([user(`${"x".repeat(100_000)}${end}`)]));
  expect(new Set(ends).size).toBe(3);
  expect(fingerprint([system, user("hello")])).not.toBe(fingerprint([system, user("good day")]));
});

test("returns null for prompts that are too short to cache, unless caching is requested", () => {
  expect(fingerprint([user("hello")])).toBeNull();
  expect(fingerprint([{ ...user("hello"), cache_control: { type: "ephemeral" } }])).not.toBeNull();
});

test("depends on texts only up to the first message of the user", () => {
  const first = fingerprint([system, { role: "assistant", content: "hi" }, user("hello")]);
  const nested = { role: "assistant", content: [{ type: "tool_use", id: "1", input: { role: "user" } }, "hi"] };
  expect(fingerprint([system, nested, user("hello")])).toBe(first);
  expect(fingerprint([system, { content: "hello" }, user("ignored")])).toBe(fingerprint([system, user("hello")]));
});

test("accepts unusual lists", () => {
  for (const messages of [[], [[]], [1, 2], [null], long, { parts: [{ text: long }] }, ["[", long]]) {
    expect(() => fingerprint(messages)).not.toThrow();
  }
});
