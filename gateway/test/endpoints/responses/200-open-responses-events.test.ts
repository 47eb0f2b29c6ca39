import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

/**
 * Events and items of translated answers as the Open Responses specification (2026-04-24) wants them: what must stand in each,
 * and what may only be left out, not null. Its own compliance tests look at the same.
 */
let gateway: StartedGateway;
const models: Readonly<Record<string, string>> = {
  chat: "up-chat",
  claude: "claude-sim-4-5",
  google: "gemini-3-sim",
  aws: "us.amazon.nova-up-v1:0",
};
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("chat", simulator),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("google", simulator, {
        kind: "gemini",
        base_url: `${simulator.url}/v1beta`,
        settings: { endpoints: ["generate"] },
      }),
      upstream("aws", simulator, {
        kind: "bedrock",
        base_url: new URL(simulator.url).origin,
        settings: { region: "us-east-1" },
      }),
    ],
    models: Object.entries(models).map(([name, upstream_model]) => ({
      name,
      deployments: [{ provider: name, upstream_model }],
    })),
  });
});
afterAll(() => gateway.stop());

type Said = Readonly<Record<string, unknown>>;
type Shape = Readonly<Record<string, "text" | "whole" | "list" | "object" | "any">>;

const ofPart: Shape = { item_id: "text", output_index: "whole", content_index: "whole" };
const ofItem: Shape = { output_index: "whole", item: "object" };
const ofSummary: Shape = { item_id: "text", output_index: "whole", summary_index: "whole" };
const ofCall: Shape = { item_id: "text", output_index: "whole" };
const events: Readonly<Record<string, Shape>> = {
  "response.created": { response: "object" },
  "response.in_progress": { response: "object" },
  "response.completed": { response: "object" },
  "response.output_item.added": ofItem,
  "response.output_item.done": ofItem,
  "response.content_part.added": { ...ofPart, part: "object" },
  "response.content_part.done": { ...ofPart, part: "object" },
  "response.output_text.delta": { ...ofPart, delta: "text", logprobs: "list" },
  "response.output_text.done": { ...ofPart, text: "text", logprobs: "list" },
  "response.function_call_arguments.delta": { ...ofCall, delta: "text" },
  "response.function_call_arguments.done": { ...ofCall, arguments: "text" },
  "response.reasoning_summary_part.added": { ...ofSummary, part: "object" },
  "response.reasoning_summary_part.done": { ...ofSummary, part: "object" },
  "response.reasoning_summary_text.delta": { ...ofSummary, delta: "text" },
  "response.reasoning_summary_text.done": { ...ofSummary, text: "text" },
};
const items: Readonly<Record<string, Shape>> = {
  message: { id: "text", status: "text", role: "text", content: "list" },
  function_call: { id: "text", call_id: "text", name: "text", arguments: "text", status: "text" },
  reasoning: { id: "text", summary: "list" },
};
/** May be left out, and may not be null. */
const optional = ["encrypted_content", "created_by", "content", "obfuscation"];

function fits(value: unknown, as: Shape[string]): boolean {
  if (as === "text") return typeof value === "string";
  if (as === "whole") return Number.isInteger(value);
  if (as === "list") return Array.isArray(value);
  return value !== undefined && (as === "any" || (typeof value === "object" && value !== null));
}

function flaws(said: Said, shape: Shape | undefined): string[] {
  const type = String(said["type"]);
  if (shape === undefined) return [`unknown: ${type}`];
  const wrong = Object.entries(shape).filter(([name, as]) => !fits(said[name], as));
  const nulls = optional.filter((name) => said[name] === null);
  return [...wrong.map(([name]) => `${type}.${name}`), ...nulls.map((name) => `${type}.${name} is null`)];
}

function itemFlaws(item: Said): string[] {
  const content = (item["type"] === "message" ? item["content"] : []) as Said[];
  const texts = content.filter(({ type }) => type === "output_text");
  const ofText: Shape = { text: "text", annotations: "list", logprobs: "list" };
  return [...flaws(item, items[String(item["type"])]), ...texts.flatMap((text) => flaws(text, ofText))];
}

const parameters = { type: "object", properties: { location: { type: "string" } }, required: ["location"] };
const tools = [{ type: "function", name: "get_weather", description: "The weather.", parameters }];
const asks: readonly (readonly [name: string, ask: object, item: string])[] = [
  ["a text", { input: [{ type: "message", role: "user", content: "Count from 1 to 5." }] }, "message"],
  ["a call", { input: 'The weather? [[sim {"tool_calls":1}]]', tools }, "function_call"],
  ["thoughts", { input: "Why?", reasoning: { effort: "low", summary: "auto" } }, "message"],
];

test.each(Object.keys(models).flatMap((model) => asks.map(([name, ask, item]) => [name, model, ask, item] as const)))(
  "%s from %s is told in events and items with all their members",
  async (_, model, ask, item) => {
    const text = await (await gateway.post("/v1/responses", { model, ...ask, stream: true })).text();
    const told = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Said);
    expect(told.flatMap((event) => flaws(event, events[String(event["type"])]))).toEqual([]);
    expect(told.map((event) => event["sequence_number"])).toEqual(told.map((_event, index) => index));
    const named = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(named).toEqual(told.map(({ type }) => String(type)));
    const seen = told.flatMap((event) => (event["item"] === undefined ? [] : [event["item"] as Said]));
    expect(seen.flatMap(itemFlaws)).toEqual([]);
    const kinds = told.flatMap(({ type, item: one }) => (one === undefined ? [] : [[type, (one as Said)["type"]]]));
    expect(kinds).toContainEqual(["response.output_item.added", item]);
    expect(kinds).toContainEqual(["response.output_item.done", item]);
    const types = told.map(({ type }) => type);
    const [delta, done] =
      item === "message"
        ? ["response.output_text.delta", "response.output_text.done"]
        : ["response.function_call_arguments.delta", "response.function_call_arguments.done"];
    expect(types).toContain(delta);
    expect(types).toContain(done);
    const last = told.at(-1)?.["response"] as Said;
    expect((last["output"] as Said[]).flatMap(itemFlaws)).toEqual([]);
    const whole = (await (await gateway.post("/v1/responses", { model, ...ask })).json()) as Said;
    expect((whole["output"] as Said[]).flatMap(itemFlaws)).toEqual([]);
    for (const tool of whole["tools"] as Said[]) {
      expect(Object.keys(tool)).toEqual(
        expect.arrayContaining(["type", "name", "description", "parameters", "strict"]),
      );
    }
  },
);
