import { expect, test } from "bun:test";
import { openaiChat, openaiChatCodec, openaiChatWire, sealText } from "#protocols/index.ts";

import type { Speech } from "./call.ts";
import { bearsSeals } from "./foreign-seals.ts";

const speech: Speech = {
  endpoint: "chat",
  bodies: "openai-chat",
  dialect: openaiChat,
  wire: openaiChatWire,
  codec: openaiChatCodec,
};
const bears = (body: object): boolean => bearsSeals({ body: Buffer.from(JSON.stringify(body)), speech });
const seal = sealText({ dialect: "gemini", account: "one", data: "sealed", itemId: null });

test("a seal of ours is found in whatever field it was kept, also as base64", () => {
  expect(bears({ messages: [{ content: [{ type: "thinking", signature: seal }] }] })).toBe(true);
  expect(bears({ contents: [{ parts: [{ thoughtSignature: Buffer.from(seal).toString("base64") }] }] })).toBe(true);
  expect(
    bears({ contents: [{ parts: [{ thoughtSignature: Buffer.from(`redacted:${seal}`).toString("base64") }] }] }),
  ).toBe(true);
});

test("a text that speaks of seals is none, nor is a vendor's own signature", () => {
  for (const text of ['const mark = "sluice1.";', `sluice1. ${seal}`, `"${seal}"`, "sluice1.", "EqQBCkYIARgC"]) {
    expect(bears({ messages: [{ role: "user", content: text }] }), text).toBe(false);
  }
});
