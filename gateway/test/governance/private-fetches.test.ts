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

/** An address in the private network, which the upstream could reach from inside. */
const inside = (): string => `${gateway.simulator.url.replace(/\/v1$/, "")}/metrics`;
const upstreamCalls = (): number => gateway.simulator.simulator.truth.list().total;
const messagesOf = (...content: unknown[]) => [{ role: "user", content }];
const version = { "anthropic-version": "2023-06-01" };

const bodies: readonly [what: string, path: string, body: (url: string) => object][] = [
  [
    "a chat's picture",
    "/v1/chat/completions",
    (url) => ({ model: "own", messages: messagesOf({ type: "image_url", image_url: { url } }) }),
  ],
  [
    "a chat's picture as a plain string",
    "/v1/chat/completions",
    (url) => ({ model: "own", messages: messagesOf({ type: "image_url", image_url: url }) }),
  ],
  [
    "a chat's video",
    "/v1/chat/completions",
    (url) => ({ model: "own", messages: messagesOf({ type: "video_url", video_url: { url } }) }),
  ],
  [
    "a response's picture",
    "/v1/responses",
    (url) => ({ model: "own", input: messagesOf({ type: "input_image", image_url: url }) }),
  ],
  [
    "a response's file",
    "/v1/responses",
    (url) => ({ model: "own", input: messagesOf({ type: "input_file", file_url: url }) }),
  ],
  [
    "a message's picture",
    "/v1/messages",
    (url) => ({
      model: "claude",
      max_tokens: 9,
      messages: messagesOf({ type: "image", source: { type: "url", url } }),
    }),
  ],
  [
    "a translated message's picture",
    "/v1/messages",
    (url) => ({ model: "own", max_tokens: 9, messages: messagesOf({ type: "image", source: { type: "url", url } }) }),
  ],
];

test.each(bodies)("%s is never fetched by an upstream inside the private network", async (_, path, body) => {
  for (const url of [inside(), "http://169.254.169.254/latest/meta-data", "http://localhost:1/x"]) {
    const before = upstreamCalls();
    const answer = await gateway.post(path, body(url), { headers: version });
    expect(answer.status).toBe(400);
    await answer.text();
    expect(upstreamCalls()).toBe(before);
  }
});

test("an address with another scheme is sent to no such upstream", async () => {
  const messages = messagesOf({ type: "image_url", image_url: { url: "file:///etc/passwd" } });
  expect(await errorOf(await gateway.chat({ model: "own", messages }))).toMatchObject({ status: 400, param: "url" });
});

test("keeps data URLs, addresses that are not media, and the caller's own data", async () => {
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
    ...messagesOf({ type: "text", text: `see ${inside()}` }, picture),
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: "c", content: inside() },
  ];
  const body = { model: "own", messages, tools, site: { url: inside() } };
  expect((await gateway.chat(body)).status).toBe(200);
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.body_text;
  expect(JSON.parse(sent ?? "")).toEqual(body);
});

test("an operator can declare that an upstream reaches nothing private", async () => {
  const messages = messagesOf({ type: "image_url", image_url: { url: inside() } });
  expect((await gateway.chat({ model: "trusted", messages })).status).toBe(200);
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.body_text).toContain(inside());
});

test("fetches pictures for Claude on Bedrock, which reads no URLs, also in its own API", async () => {
  const before = upstreamCalls();
  const messages = messagesOf({ type: "image", source: { type: "url", url: inside() } });
  const answer = await gateway.post(
    "/v1/messages",
    { model: "aws-claude", max_tokens: 9, messages },
    { headers: version },
  );
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  expect(upstreamCalls()).toBe(before);
});
