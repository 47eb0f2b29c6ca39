import { expect, test } from "bun:test";
import {
  anthropicMessages,
  anthropicMessagesCodec,
  anthropicMessagesWire,
  type EndpointProtocol,
  gemini,
  geminiCodec,
  geminiWire,
  sealText,
} from "#protocols/index.ts";

import { bearsSeals } from "./outbound.ts";

const messages: EndpointProtocol = {
  endpoint: "messages",
  wireDialect: "anthropic-messages",
  dialect: anthropicMessages,
  wire: anthropicMessagesWire,
  codec: anthropicMessagesCodec,
};
const generate: EndpointProtocol = {
  endpoint: "generate",
  wireDialect: "gemini",
  dialect: gemini,
  wire: geminiWire,
  codec: geminiCodec,
};
const bears = (protocol: EndpointProtocol, body: object): boolean =>
  bearsSeals({ body: Buffer.from(JSON.stringify(body)), protocol, marks: null });
const seal = sealText({ dialect: "gemini", account: "one", data: "sealed", itemId: null });

test("finds a body with our seal, in the form of its dialect", () => {
  expect(bears(messages, { messages: [{ content: [{ type: "thinking", signature: seal }] }] })).toBe(true);
  for (const text of [seal, `redacted:${seal}`]) {
    const thoughtSignature = Buffer.from(text).toString("base64");
    expect(bears(generate, { contents: [{ parts: [{ thoughtSignature }] }] })).toBe(true);
  }
});

test("ignores a body without a seal, and a text that contains the mark", () => {
  for (const text of [` ${seal}`, "EqQBCkYIARgC", "caf\u00e9"]) {
    expect(bears(messages, { messages: [{ role: "user", content: text }] }), text).toBe(false);
  }
});
