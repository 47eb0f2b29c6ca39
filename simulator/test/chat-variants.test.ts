import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { AzureOpenAI } from "openai";
import OpenAIPrevious, { AzureOpenAI as AzureOpenAIPrevious } from "openai-previous";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted, thrownBy } from "./sdk-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());

function clientOf(Sdk: typeof OpenAI | typeof OpenAIPrevious, path = "/v1"): OpenAI {
  const baseURL = `http://127.0.0.1:${running.port}${path}`;
  return new Sdk({ baseURL, apiKey: "sk-sim-0000", maxRetries: 0 }) as unknown as OpenAI;
}

const user = (content: string): { role: "user"; content: string } => ({ role: "user", content });
const lookUpTool = {
  type: "function" as const,
  function: { name: "look_up", parameters: { type: "object", properties: { word: { type: "string" } } } },
};
const patch = { type: "custom" as const, custom: { name: "patch" } };

describe.each([
  ["openai", OpenAI],
  ["openai-previous", OpenAIPrevious],
])("chat completions through %s", (_name, Sdk) => {
  test("calls functions and custom tools in parallel after text, streamed or not", async () => {
    const request = { model: "demo", messages: [user("Oslo")], tools: [lookUpTool, patch] };
    const options = scripted({ tool_calls: 3, preamble: true });
    const whole = (await clientOf(Sdk).chat.completions.create(request, options)).choices[0];
    expect(whole?.finish_reason).toBe("tool_calls");
    expect(whole?.message.content).toBe(" the quick brown fox");
    expect(whole?.message.tool_calls).toMatchObject([
      { type: "function", function: { name: "look_up", arguments: '{"word":"Oslo"}' } },
      { type: "custom", custom: { name: "patch", input: "Oslo" } },
      { type: "function", function: { name: "look_up" } },
    ]);
    expect(new Set(whole?.message.tool_calls?.map((call) => call.id)).size).toBe(3);

    const chunks = await Array.fromAsync(
      await clientOf(Sdk).chat.completions.create({ ...request, stream: true }, options),
    );
    const deltas = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(deltas.flatMap((delta) => (delta.id === undefined ? [] : [[delta.index, delta.type]]))).toEqual([
      [0, "function"],
      [1, "custom" as never],
      [2, "function"],
    ]);
    const first = deltas.filter((delta) => delta.index === 0).map((delta) => delta.function?.arguments ?? "");
    expect(first.join("")).toBe('{"word":"Oslo"}');
  });

  test("returns reasoning in the field that a script names", async () => {
    const request = { model: "demo", messages: [user("x")], reasoning_effort: "low" as const };
    const answer = await clientOf(Sdk).chat.completions.create(
      request,
      scripted({ reasoning_field: "reasoning_content" }),
    );
    expect(answer.choices[0]?.message).toMatchObject({ reasoning_content: "First, what is being asked here?" });
    expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBe(6);
  });

  test("refuses results without calls and calls without results", async () => {
    const call = {
      role: "assistant" as const,
      tool_calls: [{ id: "c1", type: "function" as const, function: { name: "f", arguments: "{}" } }],
    };
    const result = { role: "tool" as const, tool_call_id: "c1", content: "ok" };
    const send = (messages: OpenAI.ChatCompletionMessageParam[]): PromiseLike<unknown> =>
      thrownBy(clientOf(Sdk).chat.completions.create({ model: "demo", messages }));
    expect(await send([user("x"), call, result])).toBeNull();
    expect(await send([user("x"), result])).toMatchObject({ status: 400 });
    expect(await send([user("x"), call])).toMatchObject({ status: 400 });
  });

  test("accepts any base path, and model names with slashes and colons", async () => {
    const answer = await clientOf(Sdk, "/v1beta/openai").chat.completions.create({
      model: "a/b:c",
      messages: [user("x")],
    });
    expect(answer.model).toBe("a/b:c");
    expect(await lastRecord(running)).toMatchObject({
      dialect: "openai-chat",
      path: "/v1beta/openai/chat/completions",
    });
  });
});

describe.each([
  ["openai", AzureOpenAI],
  ["openai-previous", AzureOpenAIPrevious],
])("Azure through %s", (_name, Sdk) => {
  function azure(): OpenAI {
    const endpoint = `http://127.0.0.1:${running.port}`;
    return new Sdk({
      endpoint,
      apiKey: "az-key-1",
      apiVersion: "2024-10-21",
      deployment: "my-gpt",
      maxRetries: 0,
    }) as unknown as OpenAI;
  }

  test("starts a stream with the content filter's results and no choice", async () => {
    const request = { model: "ignored", messages: [user("x")] };
    const chunks = await Array.fromAsync(await azure().chat.completions.create({ ...request, stream: true }));
    expect(chunks[0]).toMatchObject({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] });
    expect(chunks[1]?.choices[0]).toMatchObject({ content_filter_results: { hate: { filtered: false } } });
    expect(await azure().chat.completions.create(request)).toMatchObject({
      prompt_filter_results: [{ prompt_index: 0 }],
    });
    expect(await lastRecord(running)).toMatchObject({
      dialect: "azure-chat",
      model: "my-gpt",
      path: "/openai/deployments/my-gpt/chat/completions",
      query: "api-version=2024-10-21",
      authorization_last4: "ey-1",
    });
  });

  test("returns Azure's bodies for a filtered prompt and a rate limit", async () => {
    const request = { model: "x", messages: [user("x")] };
    const filtered = await thrownBy(azure().chat.completions.create(request, scripted({ blocked: "jailbreak" })));
    expect(filtered).toMatchObject({ status: 400, code: "content_filter" });
    const limited = await thrownBy(azure().chat.completions.create(request, scripted({ status: 429 })));
    expect(limited).toMatchObject({ status: 429, code: "429" });
  });
});

test("the api-key header identifies Azure on its v1 path, which others share", async () => {
  const body = JSON.stringify({ model: "m", messages: [user("x")] });
  const url = `http://127.0.0.1:${running.port}/openai/v1/chat/completions`;
  await (await fetch(url, { method: "POST", headers: { "api-key": "k" }, body })).text();
  expect((await lastRecord(running)).dialect).toBe("azure-chat");
  await (await fetch(url, { method: "POST", headers: { authorization: "Bearer k" }, body })).text();
  expect((await lastRecord(running)).dialect).toBe("openai-chat");
});
