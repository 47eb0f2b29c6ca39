import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import OpenAI from "openai";
import type { ResponseInputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import OpenAIPrevious from "openai-previous";
import { type RunningSimulator, serveSimulator } from "../src/index.ts";
import { lastRecord, scripted, thrownBy } from "./sdk-call.ts";

let running: RunningSimulator;
beforeAll(() => {
  running = serveSimulator();
});
afterAll(() => running.stop());
// Background responses change state with the time of day.
afterEach(() => void setSystemTime());

/** Both major versions accept the calls made here, so one set of types serves for both. */
function clientOf(Sdk: typeof OpenAI | typeof OpenAIPrevious, key = "sk-one"): OpenAI {
  return new Sdk({ baseURL: running.url, apiKey: key, maxRetries: 0 }) as unknown as OpenAI;
}

const lookUpTool = {
  type: "function" as const,
  name: "look_up",
  strict: false,
  parameters: { type: "object", properties: { word: { type: "string" } } },
};
const patch = { type: "custom" as const, name: "patch" };

async function eventsOf(call: PromiseLike<AsyncIterable<ResponseStreamEvent>>): Promise<ResponseStreamEvent[]> {
  return Array.fromAsync(await call);
}

function typesOf(events: readonly ResponseStreamEvent[]): string[] {
  return events.map((event) => event.type.replace("response.", ""));
}

describe.each([
  ["openai", OpenAI],
  ["openai-previous", OpenAIPrevious],
])("responses through %s", (_name, Sdk) => {
  test("returns the vendor's format and counts", async () => {
    const answer = await clientOf(Sdk).responses.create(
      { model: "gpt-x", instructions: "be brief", input: "one two three", metadata: { a: "b" } },
      scripted({ tokens: 3, cached_tokens: 2, cache_write_tokens: 1, reasoning_tokens: 4 }),
    );
    expect(answer).toMatchObject({
      object: "response",
      status: "completed",
      model: "gpt-x",
      instructions: "be brief",
      metadata: { a: "b" },
      output_text: " the quick brown",
      error: null,
      incomplete_details: null,
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 12,
      },
    });
  });

  test("streams a text with every event in order, numbered from zero", async () => {
    const events = await eventsOf(
      clientOf(Sdk).responses.create({ model: "gpt-x", input: "x", stream: true }, scripted({ tokens: 2 })),
    );
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events.map((event) => ("sequence_number" in event ? event.sequence_number : -1))).toEqual(
      events.map((_, index) => index),
    );
    expect(events.at(-1)).toMatchObject({ response: { status: "completed", usage: { output_tokens: 2 } } });
    expect(await lastRecord(running)).toMatchObject({
      output_tokens_emitted: 2,
      terminal_sent: true,
      usage_sent: true,
    });
  });

  test("returns reasoning with a summary, and parallel calls of functions and custom tools", async () => {
    const request = {
      model: "gpt-x",
      input: "Oslo",
      tools: [lookUpTool, patch],
      reasoning: { effort: "low" as const, summary: "auto" as const },
      include: ["reasoning.encrypted_content" as const],
    };
    const options = scripted({ tool_calls: 2 });
    const whole = await clientOf(Sdk).responses.create(request, options);
    const events = await eventsOf(clientOf(Sdk).responses.create({ ...request, stream: true }, options));
    const last = events.at(-1);
    if (last?.type !== "response.completed") throw new Error("not completed");
    for (const answer of [whole, last.response]) {
      expect(answer.output).toMatchObject([
        { type: "reasoning", summary: [{ type: "summary_text", text: "First, what is being asked here?" }] },
        { type: "function_call", name: "look_up", arguments: '{"word":"Oslo"}', status: "completed" },
        { type: "custom_tool_call", name: "patch", input: "Oslo" },
      ]);
    }
    expect(new Set(typesOf(events))).toEqual(
      new Set([
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
        "completed",
      ]),
    );
  });

  test("accepts a history with results for all calls, and encrypted reasoning only from its own account", async () => {
    const request = {
      model: "gpt-x",
      tools: [lookUpTool],
      store: false,
      reasoning: { effort: "low" as const },
      include: ["reasoning.encrypted_content" as const],
    };
    const input: ResponseInputItem[] = [{ role: "user", content: "use look_up" }];
    const first = await clientOf(Sdk).responses.create({ ...request, input });
    const call = first.output.find((item) => item.type === "function_call");
    if (call?.type !== "function_call") throw new Error("no call");
    const history = [...input, ...(first.output as ResponseInputItem[])];
    const result: ResponseInputItem = { type: "function_call_output", call_id: call.call_id, output: "a word" };

    const unanswered = await thrownBy(clientOf(Sdk).responses.create({ ...request, input: history }));
    expect(String(unanswered)).toContain(`No tool output found for function call ${call.call_id}`);
    const second = await clientOf(Sdk).responses.create({ ...request, input: [...history, result] });
    expect(second.output.at(-1)?.type).toBe("message");
    expect(second.usage?.input_tokens).toBe(4);

    const other = await thrownBy(clientOf(Sdk, "sk-two").responses.create({ ...request, input: [...history, result] }));
    expect(other).toMatchObject({ status: 400, code: "invalid_encrypted_content" });
  });

  test("a stored response can be retrieved, listed, continued and deleted only by its own account", async () => {
    const client = clientOf(Sdk);
    const otherAccount = clientOf(Sdk, "sk-stranger");
    const first = await client.responses.create({ model: "gpt-x", input: "one two" }, scripted({ tokens: 3 }));
    expect(await client.responses.retrieve(first.id)).toMatchObject({ id: first.id, output_text: first.output_text });
    const items = await client.responses.inputItems.list(first.id);
    expect(items.data).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "one two" }] },
    ]);
    const next = { model: "gpt-x", input: "three", previous_response_id: first.id };
    const second = await client.responses.create(next);
    // Two words of the prompt, three of the answer, and one more.
    expect(second.usage?.input_tokens).toBe(6);

    for (const call of [otherAccount.responses.retrieve(first.id), otherAccount.responses.delete(first.id)]) {
      expect(await thrownBy(call)).toMatchObject({ status: 404 });
    }
    expect(await thrownBy(otherAccount.responses.create(next))).toMatchObject({
      status: 400,
      code: "previous_response_not_found",
    });
    await client.responses.delete(first.id);
    expect(await thrownBy(client.responses.retrieve(first.id))).toMatchObject({ status: 404 });
  });

  test("stores nothing if store is false", async () => {
    const client = clientOf(Sdk);
    const answer = await client.responses.create({ model: "gpt-x", input: "x", store: false });
    expect(await thrownBy(client.responses.retrieve(answer.id))).toMatchObject({ status: 404 });
  });

  test("a background response is queued, then complete with its usage, or canceled", async () => {
    const client = clientOf(Sdk);
    const request = { model: "gpt-x", input: "x", background: true };
    const queued = await client.responses.create(request, scripted({ background_ms: 600_000, tokens: 2 }));
    expect(queued).toMatchObject({ status: "queued", background: true, output: [] });
    expect(await lastRecord(running)).toMatchObject({ output_tokens_emitted: 0, usage_sent: false });
    setSystemTime(Date.now() + 600_000);
    expect(await client.responses.retrieve(queued.id)).toMatchObject({
      status: "completed",
      usage: { output_tokens: 2 },
    });
    expect(await lastRecord(running)).toMatchObject({ dialect: "openai-responses-stored", output_tokens_emitted: 2 });
    await client.responses.retrieve(queued.id);
    expect(await lastRecord(running)).toMatchObject({ output_tokens_emitted: 0 });

    const slow = await client.responses.create(request, scripted({ background_ms: 600_000 }));
    expect(await client.responses.cancel(slow.id)).toMatchObject({ status: "cancelled", output: [] });
    const foreground = await client.responses.create({ model: "gpt-x", input: "x" });
    expect(await thrownBy(client.responses.cancel(foreground.id))).toMatchObject({ status: 400 });
  });

  test("a stored stream can be read again from any event", async () => {
    const client = clientOf(Sdk);
    const first = await eventsOf(client.responses.create({ model: "gpt-x", input: "x", stream: true }));
    const created = first[0];
    if (created?.type !== "response.created") throw new Error("not created");
    const again = await eventsOf(client.responses.retrieve(created.response.id, { stream: true, starting_after: 3 }));
    expect(again).toEqual(first.slice(4));
  });

  test("a compaction trigger returns one compaction item, accepted only from the same account", async () => {
    const client = clientOf(Sdk);
    const input = [{ role: "user", content: "long talk" }, { type: "compaction_trigger" }] as ResponseInputItem[];
    const events = await eventsOf(client.responses.create({ model: "gpt-x", input, stream: true, store: false }));
    const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
    expect(done.map((item) => item.type)).toEqual(["compaction"]);
    const next = [...(done as ResponseInputItem[]), { role: "user" as const, content: "go on" }];
    expect((await client.responses.create({ model: "gpt-x", input: next })).status).toBe("completed");
    expect(await thrownBy(clientOf(Sdk, "sk-two").responses.create({ model: "gpt-x", input: next }))).toMatchObject({
      code: "invalid_encrypted_content",
    });
  });

  test("compact returns the user's messages and one compaction item", async () => {
    const compacted = await clientOf(Sdk).responses.compact({
      model: "gpt-x",
      input: [
        { role: "user", content: "one" },
        { role: "assistant", content: "two" },
        { role: "user", content: "three" },
      ],
    });
    expect(compacted).toMatchObject({ object: "response.compaction", usage: { input_tokens: 3, output_tokens: 1 } });
    expect(compacted.output.map((item) => item.type)).toEqual(["message", "message", "compaction"] as never);
  });

  test("accepts items and tools of unknown types", async () => {
    const body = {
      model: "gpt-x",
      input: [
        { type: "from_the_future", x: 1 },
        { role: "user", content: "hi" },
      ],
      tools: [{ type: "warp" }],
    };
    expect(await clientOf(Sdk).responses.create(body as never)).toMatchObject({
      status: "completed",
      tools: [{ type: "warp" }],
    });
  });

  test("reports a limited answer as incomplete, a failure as response.failed, a refusal as a part, and an error event", async () => {
    const client = clientOf(Sdk);
    const cut = await client.responses.create({ model: "gpt-x", input: "x", max_output_tokens: 2 });
    expect(cut).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    const request = { model: "gpt-x", input: "x", stream: true as const };
    const failed = await eventsOf(client.responses.create(request, scripted({ finish: "failed" })));
    expect(failed.at(-1)).toMatchObject({ type: "response.failed", response: { error: { code: "server_error" } } });
    const refused = await eventsOf(client.responses.create(request, scripted({ finish: "refusal" })));
    expect(typesOf(refused)).toContain("refusal.delta");
    // The older client returns the error event to its reader, the newer one throws it.
    const read = await eventsOf(client.responses.create(request, scripted({ error_event_after: 4 }))).catch(String);
    expect(typeof read === "string" || read.at(-1)?.type === "error").toBe(true);
    expect((await lastRecord(running)).reply_text).toContain('{"type":"error","sequence_number":4,');
  });
});

test("a script can replace the account's headers", async () => {
  const headers = { "x-codex-primary-used-percent": "12", "openai-model": "gpt-routed" };
  const answer = await fetch(`${running.url}/responses`, {
    method: "POST",
    headers: scripted({ headers }).headers,
    body: JSON.stringify({ model: "gpt-x", input: "x" }),
  });
  expect(answer.headers.get("x-codex-primary-used-percent")).toBe("12");
  expect(answer.headers.get("openai-model")).toBe("gpt-routed");
});
