import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("google", simulator, { kind: "gemini" }),
      upstream("claude", simulator, { kind: "anthropic" }),
    ],
    models: [
      ...["gem", "acme/gem:latest", "models/odd", "a/b/c"].map((name) => ({
        name,
        deployments: [{ provider: "google", upstream_model: "gemini-test" }],
        price: { input: 1, output: 10 },
      })),
      { name: "claude", deployments: [{ provider: "claude", upstream_model: "claude-test" }] },
    ],
  });
});
afterAll(() => gateway.stop());

const client = () => new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
const contents = "one two three";

describe("Google's SDK with only the address configured", () => {
  test.each(["gem", "acme/gem:latest", "acme%2Fgem:latest", "models/odd", "a/b/c", "claude"])(
    "generates, streams and counts with the model %s",
    async (model) => {
      const { models } = client();
      const answer = await models.generateContent({ model, contents });
      expect(answer.text).toBeString();
      expect(answer.usageMetadata?.promptTokenCount).toBe(3);
      const pieces = await Array.fromAsync(await models.generateContentStream({ model, contents }));
      expect(pieces.at(-1)?.candidates?.[0]?.finishReason).toBe("STOP" as never);
      expect((await models.countTokens({ model, contents })).totalTokens).toBeGreaterThan(0);
    },
  );

  test("lists models and reads one", async () => {
    const { models } = client();
    const listed = await Array.fromAsync(await models.list({ config: { pageSize: 2 } }));
    expect(listed.map(({ name }) => name)).toEqual([
      "models/a/b/c",
      "models/acme/gem:latest",
      "models/claude",
      "models/gem",
      "models/models/odd",
    ]);
    const one = await models.get({ model: "acme/gem:latest" });
    expect(one).toMatchObject({ name: "models/acme/gem:latest", supportedActions: ["generateContent", "countTokens"] });
  });
});

test("treats a call below /v1 like one below /v1beta", async () => {
  const body = { contents: [{ role: "user", parts: [{ text: "Say hello to everyone" }] }], unknownMember: { x: 1 } };
  const headers = { "x-goog-api-key": aliceKey };
  for (const name of ["acme/gem:latest", "acme%2Fgem:latest", "acme%2Fgem%3Alatest"]) {
    const response = await gateway.post(`/v1/models/${name}:generateContent`, body, { key: null, headers });
    expect(response.status).toBe(200);
    const received = gateway.simulator.simulator.truth.list().data.at(-1);
    expect([received?.body_text, received?.model]).toEqual([JSON.stringify(body), "gemini-test"]);
    const [entry] = await gateway.entries();
    expect(entry).toMatchObject({ endpoint: "generate", model: "acme/gem:latest", usage: { inputUncached: 4 } });
  }
});

test("keeps the shapes of other vendors below /v1/models", async () => {
  expect(await (await gateway.get("/v1/models/gem")).json()).toMatchObject({ id: "gem", object: "model" });
  expect(await (await gateway.get("/v1/models")).json()).toMatchObject({ object: "list" });
  const anthropic = { "x-api-key": aliceKey, "anthropic-version": "2023-06-01" };
  expect(await (await gateway.get("/v1/models/gem", anthropic)).json()).toMatchObject({ type: "model", id: "gem" });
});
