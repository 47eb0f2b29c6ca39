import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("google", simulator, { kind: "gemini" })],
    models: [
      {
        name: "acme/gem:latest",
        deployments: [{ provider: "google", upstream_model: "gemini-test" }],
        price: { input: 1, output: 10 },
      },
    ],
  });
});
afterAll(() => gateway.stop());

const body = { contents: [{ role: "user", parts: [{ text: "Say hello to everyone" }] }], unknownMember: { x: 1 } };
const call = (verb: string, init: { key?: string; query?: string; body?: unknown } = {}) =>
  gateway.post(`/v1beta/models/acme%2Fgem:latest:${verb}${init.query ?? ""}`, init.body ?? body, {
    key: null,
    headers: { "x-goog-api-key": init.key ?? aliceKey },
    script: { tokens: 4 },
  });

test("accepts slashes and colons in the model's name, and passes unknown members", async () => {
  const response = await call("generateContent");
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ usageMetadata: { candidatesTokenCount: 4 } });
  const received = gateway.simulator.simulator.truth.list().data.at(-1);
  expect(JSON.parse(received?.body_text ?? "")).toEqual(body);
  expect(received?.model).toBe("gemini-test");
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ endpoint: "generate", model: "acme/gem:latest", usage: { output: 4 } });
});

test.each(["acme/gem:latest", "acme%2Fgem:latest", "acme%2Fgem%3Alatest"])(
  "accepts the name in the path as it is or percent-encoded: %s",
  async (name) => {
    for (const verb of ["generateContent", "streamGenerateContent?alt=sse"]) {
      const headers = { "x-goog-api-key": aliceKey };
      const response = await gateway.post(`/v1beta/models/${name}:${verb}`, body, { key: null, headers });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("usageMetadata")]);
    }
  },
);

test("accepts a name with a slash without `models/`, as Vercel's AI SDK sends it, unless it is percent-encoded", async () => {
  const send = async (path: string): Promise<number> =>
    (await gateway.post(path, body, { key: null, headers: { "x-goog-api-key": aliceKey } })).status;
  for (const verb of ["generateContent", "streamGenerateContent?alt=sse", "countTokens"]) {
    expect([verb, await send(`/v1beta/acme/gem:latest:${verb}`)]).toEqual([verb, 200]);
  }
  expect(await send("/v1beta/acme%2Fgem:latest:generateContent")).toBe(400);
  for (const path of ["no/such:generateContent", "acme/gem:latest:predict", "acme/gem:latest", ":generateContent"]) {
    expect([path, await send(`/v1beta/${path}`)]).toEqual([path, 404]);
  }
});

test("passes a stream unchanged, and charges its final usage", async () => {
  const response = await call("streamGenerateContent", { query: "?alt=sse" });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  expect(await response.text()).toContain('"finishReason":"STOP"');
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({ stream: true, outcome: "succeeded", usageSource: "upstream", usage: { output: 4 } });
});

test("returns errors in Google's shape", async () => {
  const refusals = [
    [await call("streamGenerateContent"), 400, "INVALID_ARGUMENT"],
    [await call("generateContent", { key: "sk-unknown-0123456789abcdef" }), 401, "UNAUTHENTICATED"],
    [await call("generateContent", { body: {} }), 400, "INVALID_ARGUMENT"],
    [await gateway.post("/v1beta/models/none:generateContent", body), 404, "NOT_FOUND"],
  ] as const;
  for (const [response, status, name] of refusals) {
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code: status, status: name } });
  }
});

test("rejects two different keys in different headers", async () => {
  const response = await gateway.post("/v1beta/models/acme%2Fgem:latest:generateContent", body, {
    headers: { "x-goog-api-key": "sk-other-0123456789abcdef" },
  });
  expect(response.status).toBe(401);
});
