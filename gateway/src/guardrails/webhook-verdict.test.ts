import { expect, test } from "bun:test";
import { readWebhookVerdict } from "./webhook-verdict.ts";

const texts = [{ text: "Ask Jane" }, { text: "🙂 Jane Doe" }];
const read = (answer: unknown) => readWebhookVerdict(Buffer.from(JSON.stringify(answer)), texts);

test.each([
  ["utf-16", 3, 7],
  ["code-points", 2, 6],
])("reads masks with offsets in %s", (offsets, start, end) => {
  const { types, masks } = read({
    flagged: true,
    types: ["name"],
    offsets,
    masks: [{ text: 1, start, end, type: "name" }],
  });
  expect([types, [...(masks ?? [])]]).toEqual([["name"], [[1, [{ start: 3, end: 7, type: "name" }]]]]);
});

test("joins nothing and keeps the order of overlapping masks", () => {
  const masks = [
    { text: 0, start: 4, end: 8 },
    { text: 0, start: 0, end: 5 },
  ];
  expect(read({ flagged: true, masks }).masks?.get(0)).toHaveLength(2);
});

test.each([
  ["no verdict", {}],
  ["null", null],
  ["masks without a flag", { flagged: false, masks: [{ text: 0, start: 0, end: 1 }] }],
  ["masks that are no list", { flagged: true, masks: {} }],
  ["an unknown text", { flagged: true, masks: [{ text: 2, start: 0, end: 1 }] }],
  ["no text", { flagged: true, masks: [{ start: 0, end: 1 }] }],
  ["an end after the text", { flagged: true, masks: [{ text: 0, start: 0, end: 9 }] }],
  ["a negative start", { flagged: true, masks: [{ text: 0, start: -1, end: 3 }] }],
  ["an empty place", { flagged: true, masks: [{ text: 0, start: 3, end: 3 }] }],
  ["a fraction", { flagged: true, masks: [{ text: 0, start: 0.5, end: 3 }] }],
  ["half a character", { flagged: true, masks: [{ text: 1, start: 1, end: 4 }] }],
  ["code points after the text", { flagged: true, offsets: "code-points", masks: [{ text: 1, start: 0, end: 11 }] }],
  ["bytes", { flagged: true, offsets: "utf-8", masks: [{ text: 1, start: 0, end: 4 }] }],
  ["too many masks", { flagged: true, masks: Array(10_001).fill({ text: 0, start: 0, end: 1 }) }],
])("refuses %s", (_title, answer) => {
  expect(() => read(answer)).toThrow();
});
