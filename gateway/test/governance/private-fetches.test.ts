import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("own", simulator, { settings: { endpoints: ["chat", "responses"] } }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("trusted", simulator, { settings: { fetches_urls: true } }),
      upstream("aws", simulator, {
        kind: "bedrock",
        settings: { fetches_urls: true, region: "us-east-1" },
      }),
    ],
    models: [
      { name: "own", deployments: [{ provider: "own" }] },
      { name: "claude", deployments: [{ provider: "claude" }] },
      { name: "trusted", deployments: [{ provider: "trusted" }] },
      { name: "aws-claude", deployments: [{ provider: "aws", upstream_model: "us.anthropic.claude-sonnet-4-5-v1:0" }] },
    ],
  });
});
afterAll(() => gateway.stop());

/** An address in the private network that the upstream, which is there too, could fetch. */
const inside = (): string => `${gateway.simulator.url.replace(/\/v1$/, "")}/metrics`;
const upstreamCalls = (): number => gateway.simulator.simulator.truth.list().total;
const say = (...content: unknown[]) => [{ role: "user", content }];
const version = { "anthropic-version": "2023-06-01" };

const bodies: readonly [what: string, path: string, body: (url: string) => object][] = [
  [
    "a chat's picture",
    "/v1/chat/completions",
    (url) => ({ model: "own", messages: say({ type: "image_url", image_url: { url } }) }),
  ],
  [
    "a chat's picture as a bare text",
    "/v1/chat/completions",
    (url) => ({ model: "own", messages: say({ type: "image_url", image_url: url }) }),
  ],
  [
    "a chat's film",
    "/v1/chat/completions",
    (url) => ({ model: "own", messages: say({ type: "video_url", video_url: { url } }) }),
  ],
  [
    "a response's picture",
    "/v1/responses",
    (url) => ({ model: "own", input: say({ type: "input_image", image_url: url }) }),
  ],
  [
    "a response's file",
    "/v1/responses",
    (url) => ({ model: "own", input: say({ type: "input_file", file_url: url }) }),
  ],
  [
    "a message's picture",
    "/v1/messages",
    (url) => ({ model: "claude", max_tokens: 9, messages: say({ type: "image", source: { type: "url", url } }) }),
  ],
  [
    "a translated message's picture",
    "/v1/messages",
    (url) => ({ model: "own", max_tokens: 9, messages: say({ type: "image", source: { type: "url", url } }) }),
  ],
];

test.each(bodies)("%s is not fetched from inside by an upstream that stands there", async (_, path, body) => {
  for (const url of [inside(), "http://169.254.169.254/latest/meta-data", "http://localhost:1/x"]) {
    const before = upstreamCalls();
    const answer = await gateway.post(path, body(url), { headers: version });
    expect(answer.status).toBe(400);
    await answer.text();
    expect(upstreamCalls()).toBe(before);
  }
});

test("an address of another scheme goes to no such upstream at all", async () => {
  const messages = say({ type: "image_url", image_url: { url: "file:///etc/passwd" } });
  expect(await errorOf(await gateway.chat({ model: "own", messages }))).toMatchObject({ status: 400, param: "url" });
});

test("data URLs, addresses that are no media, and what the caller's own data holds go on as they are", async () => {
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const tools = [
    { type: "function", function: { name: "f", parameters: { type: "object", properties: { url: {} } } } },
  ];
  const call = {
    id: "c",
    type: "function",
    function: { name: "f", arguments: JSON.stringify({ image_url: inside() }) },
  };
  const messages = [
    ...say({ type: "text", text: `see ${inside()}` }, picture),
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: "c", content: inside() },
  ];
  const body = { model: "own", messages, tools, site: { url: inside() } };
  expect((await gateway.chat(body)).status).toBe(200);
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.body_text;
  expect(JSON.parse(sent ?? "")).toEqual(body);
});

test("an operator whose upstream can reach nothing says so", async () => {
  const messages = say({ type: "image_url", image_url: { url: inside() } });
  expect((await gateway.chat({ model: "trusted", messages })).status).toBe(200);
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.body_text).toContain(inside());
});

test("Claude on Bedrock reads no addresses: pictures are fetched by the gateway also for its own dialect", async () => {
  const before = upstreamCalls();
  const messages = say({ type: "image", source: { type: "url", url: inside() } });
  const answer = await gateway.post(
    "/v1/messages",
    { model: "aws-claude", max_tokens: 9, messages },
    { headers: version },
  );
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  expect(upstreamCalls()).toBe(before);
});
