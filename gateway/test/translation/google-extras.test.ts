import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errorOf } from "../started-gateway.ts";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const question = { role: "user", content: "hi" };
const ofGoogle = (...parts: readonly object[]) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
});
const chatAnswer = (message: object) => ({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "gemini-3-pro",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", ...message } }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
const signed = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } });

type Message = Readonly<Record<string, unknown>>;
const messageOf = async (answer: Response) =>
  ((await answer.json()) as { choices: { message: Message }[] }).choices[0]?.message ?? {};
const deltasOf = (text: string) =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].flatMap(([, data]) =>
    (JSON.parse(data ?? "{}") as { choices: { delta: Message }[] }).choices.map(({ delta }) => delta),
  );

describe("the signature of a text, for a caller of chat completions on Gemini", () => {
  const parts = [
    { text: "so", thought: true },
    { text: "Hello.", thoughtSignature: "c2lnbmVk" },
  ];

  test("stands in the message as Google's own endpoint has it, and goes back to its place", async () => {
    const answer = await gateway.call(paths.chat, { model: "of-gemini", messages: [question] }, ofGoogle(...parts));
    const message = await messageOf(answer);
    expect(message).toMatchObject({ content: "Hello.", ...signed("c2lnbmVk") });
    await gateway.call(
      paths.chat,
      { model: "of-gemini", messages: [question, message, { role: "user", content: "and?" }] },
      ofGoogle({ text: "x" }),
    );
    const [, model] = gateway.sent()["contents"] as { parts: object[] }[];
    expect(model?.parts.at(-1)).toEqual({ text: "", thoughtSignature: "c2lnbmVk" });
    expect(model?.parts).toContainEqual({ text: "Hello." });
  });

  test("stands in a delta without words at the end of a stream", async () => {
    const body = { model: "of-gemini", messages: [question], stream: true };
    const answer = await gateway.call(paths.chat, body, [
      ofGoogle({ text: "Hel" }),
      ofGoogle({ text: "lo.", thoughtSignature: "c2lnbmVk" }),
    ]);
    const deltas = deltasOf(await answer.text());
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe("Hello.");
    expect(deltas.filter((delta) => "extra_content" in delta)).toEqual([signed("c2lnbmVk")]);
  });
});

describe("an upstream that is Google's own endpoint for chat completions", () => {
  const asked = { model: "of-chat", input: [question], include: ["reasoning.encrypted_content"], store: false };

  test("gets the signature of an answer back in the message", async () => {
    const answer = await gateway.call(paths.responses, asked, chatAnswer({ content: "Hello.", ...signed("c2lnbmVk") }));
    const { output } = (await answer.json()) as { output: object[] };
    await gateway.call(
      paths.responses,
      { ...asked, input: [question, ...output, { role: "user", content: "and?" }] },
      chatAnswer({ content: "x" }),
    );
    const [, message] = gateway.sent()["messages"] as Message[];
    expect(message).toMatchObject({ content: "Hello.", ...signed("c2lnbmVk") });
  });

  test("gets it back after a stream too", async () => {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: "c1",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const answer = await gateway.call(paths.responses, { ...asked, stream: true }, [
      chunk({ role: "assistant", content: "Hello." }),
      chunk(signed("c2lnbmVk"), "stop"),
    ]);
    const last = /^data: (\{"type":"response\.completed".*)$/m.exec(await answer.text())?.[1] ?? "{}";
    const { response } = JSON.parse(last) as { response: { output: { type: string; encrypted_content?: string }[] } };
    expect(response.output.map(({ type }) => type)).toEqual(["message", "reasoning"]);
    expect(response.output[1]?.encrypted_content).toStartWith("sluice1.");
  });

  test("says its thoughts in the content, with a mark: they are no words of the answer", async () => {
    const thought = { extra_content: { google: { thought: true } } };
    const whole = chatAnswer({ content: "<thought>so</thought>", ...thought });
    const answer = await gateway.call(paths.responses, asked, whole);
    const { output } = (await answer.json()) as { output: object[] };
    expect(output).toMatchObject([{ type: "reasoning" }]);
    expect(JSON.stringify(output)).toContain('"so"');
  });
});

describe("what Google's endpoint takes beside a chat request", () => {
  const google = {
    cached_content: "cachedContents/a",
    safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    thinking_config: { thinking_budget: 512, include_thoughts: true },
  };

  test.each([
    ["extra_body.google", { extra_body: { google } }],
    ["google", { google }],
  ])("%s goes to Gemini in its own words", async (_, more) => {
    const body = { model: "of-gemini", messages: [question], ...more };
    const answer = await gateway.call(paths.chat, body, ofGoogle({ text: "x" }));
    expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
    expect(gateway.sent()).toMatchObject({
      cachedContent: "cachedContents/a",
      safetySettings: google.safety_settings,
      generationConfig: { thinkingConfig: { thinkingBudget: 512, includeThoughts: true } },
    });
  });

  test("reasoning_effort, where it is said, goes before thinking_config", async () => {
    const body = { model: "of-gemini", messages: [question], reasoning_effort: "low", google };
    await gateway.call(paths.chat, body, ofGoogle({ text: "x" }));
    expect(gateway.sent()).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } });
  });

  test("elsewhere a cache is refused, and settings of safety are left out with a warning", async () => {
    const [messages, extra_body] = [[question], { google: { cached_content: "cachedContents/a" } }];
    for (const model of ["of-messages", "of-responses"]) {
      expect(await errorOf(await gateway.call(paths.chat, { model, messages, extra_body }, {}))).toMatchObject({
        status: 400,
        code: "unsupported_by_model",
        param: "extra_body.google.cached_content",
      });
    }
    const safe = { model: "of-messages", messages, google: { safety_settings: google.safety_settings, odd: 1 } };
    const answer = await gateway.call(paths.chat, safe, {
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "x" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 1 },
    });
    expect(answer.headers.get("x-sluice-warnings")).toMatch(/odd of google.*safety_settings/);
  });
});
