import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { nameOf, reasoningGateway, sendTo, type UpstreamModel } from "../reasoning-gateway.ts";

const refusing = ["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-7", "claude-sonnet-5", "claude-fable-5-1"];
const kinds: readonly UpstreamModel[] = [
  ...[...refusing, "claude-haiku-4-5", "claude-sonnet-4-5"].map((model) => ({ kind: "anthropic", model })),
  { kind: "bedrock", model: "us.anthropic.claude-opus-4-6-v1", settings: { region: "us-east-1" } },
];

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway(kinds);
});
afterAll(() => gateway.stop());

const prefill = "Sure: {";
const question = "Say hello as JSON";
/** How each dialect prefills the answer. */
const callers = [
  ["chat", "/v1/chat/completions", { messages: chat("user", question, "assistant", prefill) }],
  ["Responses", "/v1/responses", { input: chat("user", question, "assistant", prefill) }],
  ["Gemini", null, { contents: [content("user", question), content("model", prefill)] }],
] as const;

function chat(...rolesAndTexts: readonly string[]) {
  return rolesAndTexts.flatMap((role, at) => (at % 2 === 0 ? [{ role, content: rolesAndTexts[at + 1] }] : []));
}

function content(role: string, text: string) {
  return { role, parts: [{ text }] };
}

const texts = (messages: unknown) =>
  (messages as { role: string; content: { text: string }[] }[]).map((one) => [
    one.role,
    one.content.map(({ text }) => text).join(""),
  ]);

function send(served: UpstreamModel, [, path, body]: (typeof callers)[number], more: object = {}) {
  const requestPath = path ?? `/v1beta/models/${encodeURIComponent(nameOf(served))}:generateContent`;
  return sendTo(gateway, served, requestPath, { ...body, ...more });
}

describe.each(callers.map((caller) => [caller[0], caller] as const))("a prefilled answer, from %s", (_, caller) => {
  test.each(kinds.filter(({ model }) => !/4-5/.test(model)))(
    "becomes a message, with a warning, where $model accepts no prefill",
    async (served) => {
      const { status, body, warnings } = await send(served, caller);
      const messages = texts(body["messages"]);
      expect([status, messages.slice(0, 2)]).toEqual([
        200,
        [
          ["user", question],
          ["assistant", prefill],
        ],
      ]);
      expect([messages.length, messages[2]?.[0], messages[2]?.[1]]).toEqual([
        3,
        "user",
        expect.stringContaining("where it ends"),
      ]);
      expect(warnings).toContain("the prefilled answer was sent as a message");
    },
  );

  test.each(kinds.filter(({ model }) => /4-5/.test(model)))("is sent unchanged to $model", async (served) => {
    const { body, warnings } = await send(served, caller);
    expect(texts(body["messages"]).at(-1)).toEqual(["assistant", prefill]);
    expect(warnings).not.toContain("beginning");
  });
});

test("keeps thinking enabled where the prefill has become a message", async () => {
  const [caller] = callers;
  const served = { kind: "anthropic", model: "claude-opus-4-6" };
  const { body, warnings } = await send(served, caller, { reasoning_effort: "high" });
  expect(body["thinking"]).toMatchObject({ type: "adaptive" });
  expect(warnings).not.toContain("disabled");
});

test("ignores a prefill of white space", async () => {
  const blank = { messages: chat("user", question, "assistant", "  \n") };
  for (const model of ["claude-opus-4-6", "claude-haiku-4-5"]) {
    const { body, warnings } = await sendTo(gateway, { kind: "anthropic", model }, "/v1/chat/completions", blank);
    expect(texts(body["messages"])).toEqual([["user", question]]);
    expect(warnings).toBe("");
  }
});

test("forwards /v1/messages unchanged, because its callers use the vendor's own rules", async () => {
  const body = { max_tokens: 9, messages: chat("user", question, "assistant", prefill) };
  const received = await sendTo(gateway, { kind: "anthropic", model: "claude-opus-4-6" }, "/v1/messages", body);
  expect(received.body["messages"]).toEqual(body.messages);
});
