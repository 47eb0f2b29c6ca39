import { afterAll, beforeAll, expect, test } from "bun:test";
import type { StartedGateway } from "../../started-gateway.ts";
import { create, errorOf, eventsIn, type Interaction, startInteractions } from "./interactions-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startInteractions();
});
afterAll(() => gateway.stop());

const request = { model: "gemini", input: "Say hello to everyone" };
const usage = { prompt_tokens: 100, cached_tokens: 40, tokens: 5, reasoning_tokens: 3 };

test.each(["/v1beta/interactions", "/v1/interactions"])("passes an interaction at %s unchanged", async (path) => {
  const body = { ...request, member_of_next_year: undefined, labels: { team: "a" } };
  const response = await gateway.post(path, body, { script: usage });
  expect([response.status, response.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  const interaction = (await response.json()) as Interaction;
  expect(interaction).toMatchObject({ object: "interaction", status: "completed", model: "gemini-3-sim" });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({
    endpoint: "interactions",
    upstreamDialect: "gemini-interactions",
    outcome: "succeeded",
    upstreamId: interaction.id,
    usageSource: "upstream",
    usage: { inputUncached: 60, cacheRead: 40, output: 8, reasoning: 3 },
    // 60 × 1 + 40 × 0.1 + 8 × 10, in USD for a million tokens.
    costNanoUsd: 144_000,
  });
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(JSON.parse(received?.body_text ?? "")).toEqual({ ...request, model: "gemini-3-sim", labels: { team: "a" } });
});

test("passes a stream, with the usage of its last event", async () => {
  const response = await gateway.post("/v1beta/interactions", { ...request, stream: true }, { script: usage });
  const text = await response.text();
  expect(text).toEndWith("data: [DONE]\n\n");
  const events = eventsIn(text);
  expect(events[0]?.event_type).toBe("interaction.created");
  expect(events.at(-1)).toMatchObject({ event_type: "interaction.completed", interaction: { status: "completed" } });
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({
    outcome: "succeeded",
    usageSource: "upstream",
    costNanoUsd: 144_000,
    upstreamId: events[0]?.interaction?.id ?? "",
  });
});

test("names the agent of the upstream", async () => {
  const response = await gateway.post("/v1beta/interactions", { agent: "research", input: "Hi", background: true });
  expect([response.status, ((await response.json()) as { agent: string }).agent]).toEqual([200, "deep-research-sim"]);
});

test.each([
  [{ script: { status: 400, error_message: "No such voice." } }, 400, "invalid_request", "No such voice."],
  [{ script: { status: 429 } }, 429, "resource_exhausted", ""],
  [{ script: { status: 500 } }, 502, "upstream_error", "The upstream answered 500."],
])("answers a refusal of the upstream with a code and a message: %j", async (options, status, code, message) => {
  const error = await errorOf(await gateway.post("/v1beta/interactions", request, options));
  expect(error).toMatchObject({ status, code });
  expect(error.message).toContain(message);
  expect(Object.keys(error).sort()).toEqual(["code", "message", "status"]);
});

test.each<[string, object, string]>([
  ["no model", { input: "x" }, "model"],
  ["a model and an agent", { ...request, agent: "research" }, "agent"],
  ["no input", { model: "gemini" }, "input"],
  ["an input of the wrong type", { ...request, input: 7 }, "input"],
  ["a flag of the wrong type", { ...request, stream: "yes" }, "stream"],
  ["a flag that is no boolean", { ...request, store: "no" }, "store"],
  ["another spelling of a member", { ...request, previousInteractionId: "v1_x" }, "previous_interaction_id"],
  ["an unknown interaction", { ...request, previous_interaction_id: "v1_missing" }, "v1_missing"],
  ["a previous interaction of the wrong type", { ...request, previous_interaction_id: 7 }, "previous_interaction_id"],
])("refuses %s before an upstream is called", async (_title, body, word) => {
  const before = gateway.simulator.simulator.truth.list().total;
  const error = await errorOf(await gateway.post("/v1beta/interactions", body));
  expect(error.status).toBe(400);
  expect(error.message).toContain(word);
  expect(gateway.simulator.simulator.truth.list().total).toBe(before);
});

test("removes a member that would choose another model, with a warning", async () => {
  const body = {
    agent: "research",
    input: "Hi",
    background: true,
    agent_config: { type: "deep-research", model: "x" },
  };
  const response = await gateway.post("/v1beta/interactions", body);
  expect(response.headers.get("x-sluice-warnings")).toContain("agent_config.model");
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(JSON.parse(received?.body_text ?? "").agent_config).toEqual({ type: "deep-research" });
});

test.each([
  ["ends without a completed interaction", { end_after_events: 4 }, "upstream_truncated"],
  ["is cut", { cut_after_events: 4 }, "upstream_truncated"],
  ["ends in an error event", { error_event_after: 4 }, "upstream_error"],
])("books a stream that %s as a failure", async (_title, script, code) => {
  const response = await gateway.post("/v1beta/interactions", { ...request, stream: true }, { script });
  expect(response.status).toBe(200);
  const last = eventsIn(await response.text()).at(-1);
  expect(last?.event_type).toBe("error");
  expect(last?.error?.message).toBeString();
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ errorCode: code, usageSource: "estimated" });
});

test("answers a failed interaction with an error, and charges nothing", async () => {
  const error = await errorOf(await gateway.post("/v1beta/interactions", request, { script: { finish: "failed" } }));
  expect([error.status >= 500, error.message.length > 0]).toEqual([true, true]);
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ outcome: "failed", costNanoUsd: 0 });
});

test("prices each hop of an answer that requires continuation", async () => {
  const first = await create(gateway, {}, { script: { ...usage, finish: "pause" } });
  expect([first.status, typeof first.continuation_token]).toEqual(["requires_continuation", "string"]);
  const more = { previous_interaction_id: first.id, continuation_token: first.continuation_token, input: undefined };
  const last = await create(gateway, more, { script: usage });
  expect(last.status).toBe("completed");
  const entries = (await gateway.entries()).slice(0, 2);
  expect(entries.map(({ costNanoUsd, upstreamId }) => [costNanoUsd, upstreamId])).toEqual([
    [144_000, last.id],
    [144_000, first.id],
  ]);
});
