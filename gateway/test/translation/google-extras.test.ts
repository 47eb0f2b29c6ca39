import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { errorOf } from "../started-gateway.ts";
import { type AnsweringGateway, paths, startAnsweringGateway } from "./answering-gateway.ts";

let gateway: AnsweringGateway;
beforeAll(async () => {
  gateway = await startAnsweringGateway();
});
afterAll(() => gateway.stop());

const question = { role: "user", content: "hi" };
const geminiAnswer = (...parts: readonly object[]) => ({
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

describe("the signature of a text from Gemini, for a caller of chat completions", () => {
  const parts = [
    { text: "so", thought: true },
    { text: "Hello.", thoughtSignature: "c2lnbmVk" },
  ];

  test("is in the message like at Google's own endpoint, and is sent back in its place", async () => {
    const answer = await gateway.call(paths.chat, { model: "of-gemini", messages: [question] }, geminiAnswer(...parts));
    const message = await messageOf(answer);
    expect(message).toMatchObject({ content: "Hello.", ...signed("c2lnbmVk") });
    await gateway.call(
      paths.chat,
      { model: "of-gemini", messages: [question, message, { role: "user", content: "and?" }] },
      geminiAnswer({ text: "x" }),
    );
    const [, model] = gateway.sent()["contents"] as { parts: object[] }[];
    expect(model?.parts.at(-1)).toEqual({ text: "", thoughtSignature: "c2lnbmVk" });
    expect(model?.parts).toContainEqual({ text: "Hello." });
  });

  test("is in a delta without text at the end of a stream", async () => {
    const body = { model: "of-gemini", messages: [question], stream: true };
    const answer = await gateway.call(paths.chat, body, [
      geminiAnswer({ text: "Hel" }),
      geminiAnswer({ text: "lo.", thoughtSignature: "c2lnbmVk" }),
    ]);
    const deltas = deltasOf(await answer.text());
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe("Hello.");
    expect(deltas.filter((delta) => "extra_content" in delta)).toEqual([signed("c2lnbmVk")]);
  });
});

describe("Google's own endpoint for chat completions as the upstream", () => {
  const request = { model: "of-chat", input: [question], include: ["reasoning.encrypted_content"], store: false };

  test("gets the signature of an answer back in the message", async () => {
    const answer = await gateway.call(
      paths.responses,
      request,
      chatAnswer({ content: "Hello.", ...signed("c2lnbmVk") }),
    );
    const { output } = (await answer.json()) as { output: object[] };
    await gateway.call(
      paths.responses,
      { ...request, input: [question, ...output, { role: "user", content: "and?" }] },
      chatAnswer({ content: "x" }),
    );
    const [, message] = gateway.sent()["messages"] as Message[];
    expect(message).toMatchObject({ content: "Hello.", ...signed("c2lnbmVk") });
  });

  test("gets the signature back after a stream", async () => {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: "c1",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const answer = await gateway.call(paths.responses, { ...request, stream: true }, [
      chunk({ role: "assistant", content: "Hello." }),
      chunk(signed("c2lnbmVk"), "stop"),
    ]);
    const last = /^data: (\{"type":"response\.completed".*)$/m.exec(await answer.text())?.[1] ?? "{}";
    const { response } = JSON.parse(last) as { response: { output: { type: string; encrypted_content?: string }[] } };
    expect(response.output.map(({ type }) => type)).toEqual(["message", "reasoning"]);
    expect(response.output[1]?.encrypted_content).toStartWith("sluice1.");
  });

  test("returns thoughts as marked content, which is translated to reasoning", async () => {
    const thought = { extra_content: { google: { thought: true } } };
    const whole = chatAnswer({ content: "<thought>so</thought>", ...thought });
    const answer = await gateway.call(paths.responses, request, whole);
    const { output } = (await answer.json()) as { output: object[] };
    expect(output).toMatchObject([{ type: "reasoning" }]);
    expect(JSON.stringify(output)).toContain('"so"');
  });
});

describe("Google's extra fields in a chat request", () => {
  const google = {
    cached_content: "cachedContents/a",
    safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    thinking_config: { thinking_budget: 512, include_thoughts: true },
  };

  test.each([
    ["extra_body.google", { extra_body: { google } }],
    ["google", { google }],
  ])("%s is translated for Gemini", async (_, more) => {
    const body = { model: "of-gemini", messages: [question], ...more };
    const answer = await gateway.call(paths.chat, body, geminiAnswer({ text: "x" }));
    expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
    expect(gateway.sent()).toMatchObject({
      cachedContent: "cachedContents/a",
      safetySettings: google.safety_settings,
      generationConfig: { thinkingConfig: { thinkingBudget: 512, includeThoughts: true } },
    });
  });

  test("reasoning_effort takes precedence over thinking_config", async () => {
    const body = { model: "of-gemini", messages: [question], reasoning_effort: "low", google };
    await gateway.call(paths.chat, body, geminiAnswer({ text: "x" }));
    expect(gateway.sent()).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } });
  });

  test("for other vendors, a cache is rejected, and safety settings are dropped with a warning", async () => {
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
