import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

/**
 * Checks translated answers against the required members and types of the Open Responses specification (2026-04-24).
 * Clients generated from that specification read nothing else.
 */
let gateway: StartedGateway;
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
    ],
    models: ["chat", "claude", "google"].map((provider) => ({
      name: provider,
      deployments: [{ provider, upstream_model: provider === "google" ? "gemini-3-sim" : "claude-sim-4-5" }],
    })),
  });
});
afterAll(() => gateway.stop());

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === "string";
const isWhole: Check = (value) => Number.isInteger(value);
const isNumber: Check = (value) => typeof value === "number";
const isFlag: Check = (value) => typeof value === "boolean";
const isList: Check = Array.isArray;
const isObject: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

const response: Readonly<Record<string, Check>> = {
  id: isText,
  object: (value) => value === "response",
  created_at: isWhole,
  completed_at: orNull(isWhole),
  status: isText,
  incomplete_details: orNull(isObject),
  model: isText,
  previous_response_id: orNull(isText),
  instructions: orNull(isText),
  output: isList,
  error: orNull(isObject),
  tools: isList,
  tool_choice: (value) => isText(value) || isObject(value),
  truncation: isText,
  parallel_tool_calls: isFlag,
  text: isObject,
  top_p: isNumber,
  presence_penalty: isNumber,
  frequency_penalty: isNumber,
  top_logprobs: isWhole,
  temperature: isNumber,
  reasoning: orNull(isObject),
  usage: orNull(isObject),
  max_output_tokens: orNull(isWhole),
  max_tool_calls: orNull(isWhole),
  store: isFlag,
  background: isFlag,
  service_tier: isText,
  metadata: isObject,
  safety_identifier: orNull(isText),
  prompt_cache_key: orNull(isText),
};

type JsonObject = Readonly<Record<string, unknown>>;

function flaws(value: JsonObject): string[] {
  return Object.keys(response).filter((name) => response[name]?.(value[name]) !== true);
}

const location = { type: "object", properties: { location: { type: "string" } }, required: ["location"] };
const weather = { type: "function", name: "get_weather", description: "The weather.", parameters: location };
const heart =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const requests: readonly (readonly [name: string, request: object])[] = [
  ["a text", { input: [{ type: "message", role: "user", content: "Say hello in exactly 3 words." }] }],
  [
    "instructions",
    {
      input: [
        { type: "message", role: "system", content: "Be a pirate." },
        { type: "message", role: "user", content: "Hi" },
      ],
    },
  ],
  [
    "a tool",
    { input: [{ type: "message", role: "user", content: 'Weather? [[sim {"tool_calls":1}]]' }], tools: [weather] },
  ],
  [
    "a picture",
    {
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "What?" },
            { type: "input_image", image_url: heart },
          ],
        },
      ],
    },
  ],
  [
    "turns",
    {
      input: [
        { role: "user", content: "I am Alice." },
        { role: "assistant", content: "Hello." },
        { role: "user", content: "My name?" },
      ],
    },
  ],
  ["penalties", { input: "hi", presence_penalty: 0.5, frequency_penalty: 0.25, service_tier: "auto" }],
];

const cases = ["chat", "claude", "google"].flatMap((model) =>
  requests.map(([name, request]) => [name, model, request] as const),
);

test.each(cases)(
  "returns every required member for %s from %s, with and without streaming",
  async (name, model, request) => {
    const whole = (await (await gateway.post("/v1/responses", { model, ...request })).json()) as JsonObject;
    expect(flaws(whole)).toEqual([]);
    expect(whole["status"]).toBe("completed");
    expect(Number(whole["completed_at"])).toBeGreaterThanOrEqual(Number(whole["created_at"]));
    const text = await (await gateway.post("/v1/responses", { model, ...request, stream: true })).text();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as JsonObject);
    const responses = events.flatMap((event) =>
      event["response"] === undefined ? [] : [event["response"] as JsonObject],
    );
    expect(responses.length).toBe(3);
    expect(responses.map(flaws)).toEqual([[], [], []]);
    expect(responses.map((one) => one["completed_at"] === null)).toEqual([true, true, false]);
    if (name === "a tool")
      expect((whole["output"] as JsonObject[]).some((item) => item["type"] === "function_call")).toBe(true);
    if (name !== "penalties") return;
    expect(whole).toMatchObject({ presence_penalty: 0.5, frequency_penalty: 0.25, service_tier: "default" });
  },
);

test("returns every required member in a failed response", async () => {
  const script = '[[sim {"tokens":9,"event_ms":8,"cut_after_events":6}]]';
  const request = { model: "chat", input: `hi ${script}`, stream: true };
  const answer = await gateway.post("/v1/responses", request);
  const events = [...(await answer.text()).matchAll(/^data: (.*)$/gm)].map(
    ([, data]) => JSON.parse(data ?? "") as JsonObject,
  );
  const failed = events.at(-1)?.["response"] as JsonObject;
  expect([failed["status"], flaws(failed)]).toEqual(["failed", []]);
});
