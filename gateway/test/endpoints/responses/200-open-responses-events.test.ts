import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

/**
 * Checks the events and items of translated answers against the Open Responses specification (2026-04-24): required
 * members, and members that may be missing but not null. The specification's own compliance tests check the same.
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

type JsonObject = Readonly<Record<string, unknown>>;
type Shape = Readonly<Record<string, "text" | "whole" | "list" | "object" | "any">>;

const partShape: Shape = { item_id: "text", output_index: "whole", content_index: "whole" };
const itemShape: Shape = { output_index: "whole", item: "object" };
const summaryShape: Shape = { item_id: "text", output_index: "whole", summary_index: "whole" };
const callShape: Shape = { item_id: "text", output_index: "whole" };
const events: Readonly<Record<string, Shape>> = {
  "response.created": { response: "object" },
  "response.in_progress": { response: "object" },
  "response.completed": { response: "object" },
  "response.output_item.added": itemShape,
  "response.output_item.done": itemShape,
  "response.content_part.added": { ...partShape, part: "object" },
  "response.content_part.done": { ...partShape, part: "object" },
  "response.output_text.delta": { ...partShape, delta: "text", logprobs: "list" },
  "response.output_text.done": { ...partShape, text: "text", logprobs: "list" },
  "response.function_call_arguments.delta": { ...callShape, delta: "text" },
  "response.function_call_arguments.done": { ...callShape, arguments: "text" },
  "response.reasoning_summary_part.added": { ...summaryShape, part: "object" },
  "response.reasoning_summary_part.done": { ...summaryShape, part: "object" },
  "response.reasoning_summary_text.delta": { ...summaryShape, delta: "text" },
  "response.reasoning_summary_text.done": { ...summaryShape, text: "text" },
};
const items: Readonly<Record<string, Shape>> = {
  message: { id: "text", status: "text", role: "text", content: "list" },
  function_call: { id: "text", call_id: "text", name: "text", arguments: "text", status: "text" },
  reasoning: { id: "text", summary: "list" },
};
/** These may be missing, but not null. */
const optional = ["encrypted_content", "created_by", "content", "obfuscation"];

function fits(field: unknown, as: Shape[string]): boolean {
  if (as === "text") return typeof field === "string";
  if (as === "whole") return Number.isInteger(field);
  if (as === "list") return Array.isArray(field);
  return field !== undefined && (as === "any" || (typeof field === "object" && field !== null));
}

function flaws(value: JsonObject, shape: Shape | undefined): string[] {
  const type = String(value["type"]);
  if (shape === undefined) return [`unknown: ${type}`];
  const wrong = Object.entries(shape).filter(([name, as]) => !fits(value[name], as));
  const nulls = optional.filter((name) => value[name] === null);
  return [...wrong.map(([name]) => `${type}.${name}`), ...nulls.map((name) => `${type}.${name} is null`)];
}

function itemFlaws(item: JsonObject): string[] {
  const content = (item["type"] === "message" ? item["content"] : []) as JsonObject[];
  const texts = content.filter(({ type }) => type === "output_text");
  const textShape: Shape = { text: "text", annotations: "list", logprobs: "list" };
  return [...flaws(item, items[String(item["type"])]), ...texts.flatMap((text) => flaws(text, textShape))];
}

const parameters = { type: "object", properties: { location: { type: "string" } }, required: ["location"] };
const tools = [{ type: "function", name: "get_weather", description: "The weather.", parameters }];
const requests: readonly (readonly [name: string, request: object, item: string])[] = [
  ["a text", { input: [{ type: "message", role: "user", content: "Count from 1 to 5." }] }, "message"],
  ["a call", { input: 'The weather? [[sim {"tool_calls":1}]]', tools }, "function_call"],
  ["thoughts", { input: "Why?", reasoning: { effort: "low", summary: "auto" } }, "message"],
];

test.each(
  Object.keys(models).flatMap((model) =>
    requests.map(([name, request, item]) => [name, model, request, item] as const),
  ),
)("sends %s from %s as events and items with all required members", async (_, model, request, item) => {
  const text = await (await gateway.post("/v1/responses", { model, ...request, stream: true })).text();
  const received = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as JsonObject);
  expect(received.flatMap((event) => flaws(event, events[String(event["type"])]))).toEqual([]);
  expect(received.map((event) => event["sequence_number"])).toEqual(received.map((_event, index) => index));
  const named = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
  expect(named).toEqual(received.map(({ type }) => String(type)));
  const itemsSeen = received.flatMap((event) => (event["item"] === undefined ? [] : [event["item"] as JsonObject]));
  expect(itemsSeen.flatMap(itemFlaws)).toEqual([]);
  const kinds = received.flatMap(({ type, item: one }) =>
    one === undefined ? [] : [[type, (one as JsonObject)["type"]]],
  );
  expect(kinds).toContainEqual(["response.output_item.added", item]);
  expect(kinds).toContainEqual(["response.output_item.done", item]);
  const types = received.map(({ type }) => type);
  const [delta, done] =
    item === "message"
      ? ["response.output_text.delta", "response.output_text.done"]
      : ["response.function_call_arguments.delta", "response.function_call_arguments.done"];
  expect(types).toContain(delta);
  expect(types).toContain(done);
  const last = received.at(-1)?.["response"] as JsonObject;
  expect((last["output"] as JsonObject[]).flatMap(itemFlaws)).toEqual([]);
  const whole = (await (await gateway.post("/v1/responses", { model, ...request })).json()) as JsonObject;
  expect((whole["output"] as JsonObject[]).flatMap(itemFlaws)).toEqual([]);
  for (const tool of whole["tools"] as JsonObject[]) {
    expect(Object.keys(tool)).toEqual(expect.arrayContaining(["type", "name", "description", "parameters", "strict"]));
  }
});
