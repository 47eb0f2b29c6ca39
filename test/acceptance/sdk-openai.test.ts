import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import OpenAI from "openai";
import { until } from "../until.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, upstreamKey } from "./test-config.ts";

let setup: TestSetup;
let client: OpenAI;

beforeAll(async () => {
  setup = await openSetup();
  client = new OpenAI({ baseURL: `${setup.gateway.url}/v1`, apiKey: keys.main, maxRetries: 0 });
});
afterAll(() => setup?.close());

function user(content: string, script?: Script): { role: "user"; content: string } {
  return { role: "user", content: script === undefined ? content : `${content} [[sim ${JSON.stringify(script)}]]` };
}

/** The runner's `rejects` does not work with the client's promises. */
async function thrownBy(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const thrown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (thrown instanceof OpenAI.APIError) return thrown;
  throw new Error(`not an API error: ${String(thrown)}`);
}

describe("models", () => {
  test("are listed, sorted by id, with Sluice's additional fields", async () => {
    const models = await Array.fromAsync(client.models.list());
    expect(models.map((model) => model.id)).toEqual(["gpt-impatient", "gpt-test"]);
    expect(models[1]).toMatchObject({
      object: "model",
      type: "chat",
      endpoints: [
        "/v1/chat/completions",
        "/v1/messages",
        "/v1/responses",
        "/v1/responses/compact",
        "/v1beta/models/{model}:generateContent",
        "/v1beta/interactions",
        "/v1/completions",
      ],
      available: true,
    });
  });

  test("are retrieved by id; a model that the key may not call looks like one that does not exist", async () => {
    expect(await client.models.retrieve("gpt-test")).toMatchObject({ id: "gpt-test", object: "model" });
    const narrow = client.withOptions({ apiKey: keys.narrow });
    expect((await Array.fromAsync(narrow.models.list())).map((model) => model.id)).toEqual(["gpt-impatient"]);
    const hidden = await thrownBy(narrow.models.retrieve("gpt-test"));
    const missing = await thrownBy(narrow.models.retrieve("gpt-none"));
    for (const error of [hidden, missing]) {
      expect(error).toBeInstanceOf(OpenAI.NotFoundError);
      expect(error.code).toBe("model_not_found");
    }
    expect(hidden.message.replace("gpt-test", "?")).toBe(missing.message.replace("gpt-none", "?"));
  });
});

describe("chat completions", () => {
  test("return the upstream's text and usage, and headers that name who served the call", async () => {
    const call = client.chat.completions.create({
      model: "gpt-test",
      messages: [user("one two three", { tokens: 5, cached_tokens: 2 })],
    });
    const { data, response } = await call.withResponse();
    expect(data.choices[0]?.message.content).toBe(" the quick brown fox jumps");
    expect(data.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 });
    expect(response.headers.get("x-request-id")).toMatch(/^req_/);
    expect(response.headers.get("x-sluice-provider")).toBe("sim");
    expect(response.headers.get("x-sluice-deployment")).not.toBeNull();
    expect(response.headers.get("x-sluice-attempts")).toBe("1");
    expect(Number(response.headers.get("x-sluice-overhead-ms"))).toBeGreaterThan(0);
    expect(response.headers.get("openai-model")).toBe("up-test");
    expect(response.headers.get("openai-organization")).toBeNull();
  });

  test("forward every field of the body except the model unchanged, with the provider's key instead of the caller's", async () => {
    await setup.simulator.clear();
    const body = {
      model: "gpt-test",
      messages: [user("héllo \u{1f30a}", { keep_received: true })],
      seed: 7,
      a_field_of_next_year: { deep: [1, 2.5, "x"], flag: null },
    };
    await client.chat.completions.create(body);
    const [record] = await setup.simulator.settled();
    expect(JSON.parse(record?.received_body ?? "")).toEqual({ ...body, model: "up-test" });
    expect(record?.authorization_last4).toBe(upstreamKey.slice(-4));
    expect(record?.request_headers["x-stainless-lang"]).toBe("js");
    expect(JSON.stringify(record)).not.toContain(keys.main);
  });

  test("stream, with usage only if the caller requested it", async () => {
    const request = { model: "gpt-test", stream: true as const, messages: [user("a b c", { tokens: 4 })] };
    const without = await Array.fromAsync(await client.chat.completions.create(request));
    expect(without.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe(" the quick brown fox");
    expect(without.every((chunk) => chunk.choices.length === 1 && !chunk.usage)).toBe(true);
    const withUsage = await Array.fromAsync(
      await client.chat.completions.create({ ...request, stream_options: { include_usage: true } }),
    );
    expect(withUsage.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } });
    expect(withUsage.length).toBe(without.length + 1);
  });

  test("return tool calls, whole and streamed", async () => {
    const parameters = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };
    const request = {
      model: "gpt-test",
      messages: [user("use get_weather now")],
      tools: [{ type: "function" as const, function: { name: "get_weather", parameters } }],
    };
    const whole = await client.chat.completions.create(request);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    for (const answer of [whole, streamed]) {
      expect(answer.choices[0]?.finish_reason).toBe("tool_calls");
      const call = answer.choices[0]?.message.tool_calls?.[0];
      if (call?.type !== "function") throw new Error("no function was called");
      expect(call.function.name).toBe("get_weather");
      expect(JSON.parse(call.function.arguments)).toEqual({ city: "use get_weather now", days: 1 });
    }
  });

  test("return several choices, log probabilities and the finish reason length, like the upstream", async () => {
    const answer = await client.chat.completions.create({
      model: "gpt-test",
      n: 2,
      logprobs: true,
      max_tokens: 2,
      messages: [user("x")],
    });
    expect(answer.choices.map((choice) => choice.finish_reason)).toEqual(["length", "length"]);
    expect(answer.choices[1]?.logprobs?.content?.length).toBe(2);
  });

  test("stop the upstream when the caller aborts the stream", async () => {
    await setup.simulator.clear();
    const stream = await client.chat.completions.create({
      model: "gpt-test",
      stream: true,
      messages: [user("x", { tokens: 200_000, event_ms: 5 })],
    });
    let seen = 0;
    for await (const chunk of stream) {
      seen += chunk.choices[0]?.delta.content ? 1 : 0;
      if (seen < 5) continue;
      break;
    }
    const record = await until(async () => {
      const { data } = await setup.simulator.truth();
      return data[0]?.aborted_at ? data[0] : null;
    });
    expect(record.terminal_sent).toBe(false);
  });
});

describe("errors arrive as the SDK's own error classes", () => {
  const call = (script: Script, model = "gpt-test"): PromiseLike<unknown> =>
    client.chat.completions.create({ model, messages: [user("x", script)] });

  test("an unknown key is an AuthenticationError", async () => {
    const unauthorized = client.withOptions({ apiKey: "sk-unknown-key-of-the-tests-0001" });
    const error = await thrownBy(unauthorized.models.list());
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error.code).toBe("invalid_api_key");
    expect(error.requestID).toMatch(/^req_/);
  });

  test("an unknown model is a NotFoundError that names the field", async () => {
    const error = await thrownBy(client.chat.completions.create({ model: "gpt-none", messages: [user("x")] }));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ code: "model_not_found", param: "model" });
  });

  test("missing messages are a BadRequestError that names the field, and never reach the upstream", async () => {
    await setup.simulator.clear();
    const error = await thrownBy(client.post("/chat/completions", { body: { model: "gpt-test" } }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "missing_required_parameter", param: "messages" });
    expect((await setup.simulator.truth()).total).toBe(0);
  });

  test("the upstream's 4xx is forwarded unchanged", async () => {
    const body =
      '{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}';
    const error = await thrownBy(call({ status: 400, body }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: "context_length_exceeded", param: "messages" });
  });

  test("the upstream's 429 is a RateLimitError with its retry-after", async () => {
    const error = await thrownBy(call({ status: 429, retry_after: 60 }, "gpt-impatient"));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(50);
  });

  test("an upstream that answers every attempt with 500 becomes a 502 of the gateway", async () => {
    const error = await thrownBy(call({ status: 500 }));
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 502, code: "upstream_error" });
  });

  test("an upstream that breaks off in the middle of a stream raises an error after the text that arrived", async () => {
    const stream = await client.chat.completions.create({
      model: "gpt-test",
      stream: true,
      messages: [user("x", { tokens: 9, event_ms: 20, cut_after_events: 4 })],
    });
    let words = "";
    const reading = (async () => {
      for await (const chunk of stream) words += chunk.choices[0]?.delta.content ?? "";
    })();
    const error = await thrownBy(reading);
    expect(error.code).toBe("upstream_truncated");
    // Text that arrives at the moment of the break may be lost.
    expect([" the quick brown", " the quick"]).toContain(words);
  });

  test("a single failure is hidden by a retry", async () => {
    const call = client.chat.completions.create({
      model: "gpt-test",
      messages: [user("x", { name: "fails-once", fail_first: 1, status: 503, tokens: 1 })],
    });
    const { data, response } = await call.withResponse();
    expect(data.choices[0]?.finish_reason).toBe("stop");
    expect(response.headers.get("x-sluice-attempts")).toBe("2");
  });
});
