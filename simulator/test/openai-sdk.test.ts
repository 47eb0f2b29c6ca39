import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type RunningSimulator, type Script, serveSimulator } from "../src/index.ts";

let running: RunningSimulator;
let client: OpenAI;

beforeAll(() => {
  running = serveSimulator();
  client = new OpenAI({ baseURL: running.url, apiKey: "sk-sim-0000", maxRetries: 0 });
});
afterAll(() => running.stop());

function user(content: string): { role: "user"; content: string } {
  return { role: "user", content };
}

function scripted(script: Script): { headers: Record<string, string> } {
  return { headers: { "x-sim-script": JSON.stringify(script) } };
}

/** Returns the error of a call. The test runner's `rejects` does not recognize the client's promises. */
function thrownBy(call: PromiseLike<unknown>): PromiseLike<unknown> {
  return call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
}

describe("chat completions through the official client", () => {
  test("returns the vendor's format, and counts the words of the prompt and the pieces of the answer", async () => {
    const answer = await client.chat.completions.create(
      { model: "gpt-x", messages: [{ role: "system", content: "be brief" }, user("one two three")] },
      scripted({ tokens: 5, cached_tokens: 2, reasoning_tokens: 7 }),
    );
    expect(answer).toMatchObject({ object: "chat.completion", model: "gpt-x", service_tier: "default" });
    expect(answer.choices[0]).toMatchObject({
      index: 0,
      finish_reason: "stop",
      logprobs: null,
      message: { role: "assistant", content: " the quick brown fox jumps", refusal: null, annotations: [] },
    });
    expect(answer.usage).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: 12,
      total_tokens: 17,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 7 },
    });
    expect(answer._request_id).toMatch(/^req_sim\d+$/);
  });

  test("returns the same answer to the same question, streamed or not, and quotes it", async () => {
    const messages = [user("what is a sluice?")];
    const whole = await client.chat.completions.create({ model: "demo", messages });
    const stream = await client.chat.completions.create({ model: "demo", messages, stream: true });
    let streamed = "";
    for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? "";
    expect(streamed).toBe(whole.choices[0]?.message.content ?? "");
    expect(streamed).toContain('"what is a sluice?"');
    expect(streamed).toContain("OPENAI_API_KEY");
  });

  test("streams the role first, an end for each choice, and the usage last and only if requested", async () => {
    const request = { model: "demo", messages: [user("a b")], n: 2, stream: true as const };
    const plain = await Array.fromAsync(await client.chat.completions.create(request, scripted({ tokens: 2 })));
    expect(plain.every((chunk) => !("usage" in chunk))).toBe(true);
    const withUsage = await Array.fromAsync(
      await client.chat.completions.create(
        { ...request, stream_options: { include_usage: true } },
        scripted({ tokens: 2 }),
      ),
    );
    expect(withUsage.map((chunk) => chunk.choices[0]?.index ?? null)).toEqual([0, 1, 0, 1, 0, 1, 0, 1, null]);
    expect(withUsage[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "", refusal: null });
    expect(withUsage.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(withUsage.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(withUsage.at(-1)?.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    expect(new Set(withUsage.map((chunk) => chunk.id)).size).toBe(1);
  });

  test("limits the answer to max_tokens, with finish_reason length", async () => {
    const answer = await client.chat.completions.create({ model: "demo", max_tokens: 3, messages: [user("hi")] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: "length", message: { content: 'You asked: "hi"' } });
    expect(answer.usage?.completion_tokens).toBe(3);
  });

  test("quotes what the user typed, not the notes of an agent", async () => {
    const texts = ["<system-reminder>\nThe date is …\n</system-reminder>", "Say hello"];
    const content = texts.map((text) => ({ type: "text" as const, text }));
    const answer = await client.chat.completions.create({ model: "demo", messages: [{ role: "user", content }] });
    expect(answer.choices[0]?.message.content).toStartWith('You asked: "Say hello"\n');
  });

  test("calls a tool named in the prompt with arguments that match its schema, streamed or not", async () => {
    const parameters = {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" }, unit: { enum: ["c", "f"] } },
    };
    const request = {
      model: "demo",
      messages: [user("use get_weather for Oslo")],
      tools: [{ type: "function" as const, function: { name: "get_weather", parameters } }],
    };
    const whole = await client.chat.completions.create(request);
    const call = whole.choices[0]?.message.tool_calls?.[0];
    if (call?.type !== "function") throw new Error("no function was called");
    const expected = { city: "use get_weather for Oslo", days: 1, unit: "c" };
    expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
    expect(JSON.parse(call.function.arguments)).toEqual(expected);

    const runner = client.chat.completions.stream(request);
    const final = (await runner.finalChatCompletion()).choices[0];
    const streamed = final?.message.tool_calls?.[0];
    if (streamed?.type !== "function") throw new Error("no function was called in the stream");
    expect(streamed.function.name).toBe("get_weather");
    expect(JSON.parse(streamed.function.arguments)).toEqual(expected);

    const after = await client.chat.completions.create({
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "4 degrees" },
      ],
    });
    expect(after.choices[0]?.finish_reason).toBe("stop");
  });

  test("follows a JSON schema, and returns log probabilities if requested", async () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" }, list: { type: "array", items: {} } } };
    const answer = await client.chat.completions.create({
      model: "demo",
      logprobs: true,
      messages: [user("shape it")],
      response_format: { type: "json_schema", json_schema: { name: "s", schema } },
    });
    const choice = answer.choices[0];
    expect(JSON.parse(choice?.message.content ?? "")).toEqual({ ok: true, list: ["shape it"] });
    expect(choice?.logprobs?.content?.map((row) => row.token).join("")).toBe(choice?.message.content ?? "");
  });
});

describe("errors through the official client", () => {
  test.each([
    [400, OpenAI.BadRequestError, null],
    [401, OpenAI.AuthenticationError, "invalid_api_key"],
    [404, OpenAI.NotFoundError, "model_not_found"],
    [429, OpenAI.RateLimitError, "rate_limit_exceeded"],
    [503, OpenAI.InternalServerError, null],
    [529, OpenAI.InternalServerError, null],
  ])("returns status %i with the vendor's error body", async (status, kind, code) => {
    const call = client.chat.completions.create(
      { model: "demo", messages: [user("x")] },
      scripted({ status, retry_after: 7 }),
    );
    const error = await thrownBy(call);
    expect(error).toBeInstanceOf(kind);
    if (!(error instanceof OpenAI.APIError)) throw new Error("not an API error");
    expect(error.code).toBe(code);
    expect(error.headers?.get("retry-after")).toBe("7");
  });

  test("fail_first lets the client's retries succeed", async () => {
    const retrying = client.withOptions({ maxRetries: 2 });
    const script = scripted({ name: "flaky", fail_first: 2, status: 503, headers: { "retry-after-ms": "1" } });
    const answer = await retrying.chat.completions.create({ model: "demo", messages: [user("x")] }, script);
    expect(answer.choices[0]?.finish_reason).toBe("stop");
  });

  test("an error event inside the stream makes the client throw", async () => {
    const stream = await client.chat.completions.create(
      { model: "demo", stream: true, messages: [user("x")] },
      scripted({ error_event_after: 3 }),
    );
    await expect(Array.fromAsync(stream)).rejects.toThrow();
  });

  test("refuses a request without messages, without a model or without JSON, as the vendor does", async () => {
    const post = (body: string): Promise<Response> =>
      fetch(`${running.url}/chat/completions`, { method: "POST", body });
    expect((await post("{")).status).toBe(400);
    expect((await post('{"messages":[]}')).status).toBe(400);
    const missing = await post('{"model":"demo"}');
    expect(await missing.json()).toMatchObject({
      error: { type: "invalid_request_error", param: "messages", code: "missing_required_parameter" },
    });
  });
});

test("lists and retrieves models, and returns 404 for an unknown model or path", async () => {
  const list = await Array.fromAsync(client.models.list());
  expect(list.map((model) => model.id)).toEqual(["demo", "demo-mini"]);
  expect(await client.models.retrieve("demo")).toMatchObject({ id: "demo", object: "model" });
  expect(await thrownBy(client.models.retrieve("none"))).toBeInstanceOf(OpenAI.NotFoundError);
  expect((await fetch(`${running.url}/nothing`)).status).toBe(404);
});
