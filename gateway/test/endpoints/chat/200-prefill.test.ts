import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { nameOf, reasoningGateway, type Served, toldTo } from "../reasoning-gateway.ts";

const refusing = ["claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-7", "claude-sonnet-5", "claude-fable-5-1"];
const kinds: readonly Served[] = [
  ...[...refusing, "claude-haiku-4-5", "claude-sonnet-4-5"].map((model) => ({ kind: "anthropic", model })),
  { kind: "bedrock", model: "us.anthropic.claude-opus-4-6-v1", settings: { region: "us-east-1" } },
];

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await reasoningGateway(kinds);
});
afterAll(() => gateway.stop());

const begun = "Sure: {";
const question = "Say hello as JSON";
/** Each dialect's way to begin the answer for the model. */
const callers = [
  ["chat", "/v1/chat/completions", { messages: chat("user", question, "assistant", begun) }],
  ["Responses", "/v1/responses", { input: chat("user", question, "assistant", begun) }],
  ["Gemini", null, { contents: [content("user", question), content("model", begun)] }],
] as const;

function chat(...said: readonly string[]) {
  return said.flatMap((role, at) => (at % 2 === 0 ? [{ role, content: said[at + 1] }] : []));
}

function content(role: string, text: string) {
  return { role, parts: [{ text }] };
}

const texts = (messages: unknown) =>
  (messages as { role: string; content: { text: string }[] }[]).map((one) => [
    one.role,
    one.content.map(({ text }) => text).join(""),
  ]);

function tell(served: Served, [, path, body]: (typeof callers)[number], more: object = {}) {
  const where = path ?? `/v1beta/models/${encodeURIComponent(nameOf(served))}:generateContent`;
  return toldTo(gateway, served, where, { ...body, ...more });
}

describe.each(callers.map((caller) => [caller[0], caller] as const))(
  "the beginning of an answer, from %s",
  (_, caller) => {
    test.each(kinds.filter(({ model }) => !/4-5/.test(model)))(
      "is sent as a message with a warning where $model accepts no prefill",
      async (served) => {
        const { status, body, warnings } = await tell(served, caller);
        const said = texts(body["messages"]);
        expect([status, said.slice(0, 2)]).toEqual([
          200,
          [
            ["user", question],
            ["assistant", begun],
          ],
        ]);
        expect([said.length, said[2]?.[0], said[2]?.[1]]).toEqual([
          3,
          "user",
          expect.stringContaining("where it ends"),
        ]);
        expect(warnings).toContain("the prefilled answer was sent as a message");
      },
    );

    test.each(kinds.filter(({ model }) => /4-5/.test(model)))("is told to $model as it is", async (served) => {
      const { body, warnings } = await tell(served, caller);
      expect(texts(body["messages"]).at(-1)).toEqual(["assistant", begun]);
      expect(warnings).not.toContain("beginning");
    });
  },
);

test("thinking stays on where the beginning has become a request", async () => {
  const [caller] = callers;
  const served = { kind: "anthropic", model: "claude-opus-4-6" };
  const { body, warnings } = await tell(served, caller, { reasoning_effort: "high" });
  expect(body["thinking"]).toMatchObject({ type: "adaptive" });
  expect(warnings).not.toContain("disabled");
});

test("a beginning of white space alone is none", async () => {
  const blank = { messages: chat("user", question, "assistant", "  \n") };
  for (const model of ["claude-opus-4-6", "claude-haiku-4-5"]) {
    const { body, warnings } = await toldTo(gateway, { kind: "anthropic", model }, "/v1/chat/completions", blank);
    expect(texts(body["messages"])).toEqual([["user", question]]);
    expect(warnings).toBe("");
  }
});

test("messages at /v1/messages go on as they are: their caller speaks to the vendor", async () => {
  const body = { max_tokens: 9, messages: chat("user", question, "assistant", begun) };
  const told = await toldTo(gateway, { kind: "anthropic", model: "claude-opus-4-6" }, "/v1/messages", body);
  expect(told.body["messages"]).toEqual(body.messages);
});
