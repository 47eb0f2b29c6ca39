import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { version } from "../messages/claude-gateway.ts";

/**
 * Only the vendor validates fields of a body that is passed through. The gateway validates what it has to translate.
 */
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai" }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("google", simulator, {
        kind: "gemini",
        base_url: `${simulator.url}/v1beta`,
        settings: { endpoints: ["generate"] },
      }),
    ],
    models: [
      ["openai", "upstream-gpt"],
      ["claude", "claude-sim-4-5"],
      ["google", "gemini-3-sim"],
    ].map(([provider = "", upstream_model = ""]) => ({ name: provider, deployments: [{ provider, upstream_model }] })),
  });
});
afterAll(() => gateway.stop());

const upstreamAttempts = async (): Promise<number> =>
  (await gateway.entries()).filter(({ provider }) => provider !== null).length;

test.each([
  ["/v1/responses/compact", { model: "openai" }, {}],
  ["/v1/chat/completions", { model: "openai", messages: [] }, {}],
  ["/v1/messages", { model: "claude", messages: [], max_tokens: 9 }, version],
  ["/v1/messages/count_tokens", { model: "claude", messages: [] }, version],
  ["/v1beta/models/google:generateContent", { contents: [] }, {}],
])("passes %s with %j to the vendor", async (path, body, headers) => {
  const before = await upstreamAttempts();
  const answer = await gateway.post(path, body, { headers });
  await answer.text();
  expect(await upstreamAttempts()).toBe(before + 1);
});

test.each([
  ["/v1/responses/compact", { model: "claude" }, {}, "input"],
  ["/v1/chat/completions", { model: "claude", messages: [] }, {}, "messages"],
  ["/v1/messages", { model: "openai", messages: [], max_tokens: 9 }, version, null],
  ["/v1beta/models/claude:generateContent", { contents: [] }, {}, null],
])("returns 400 for %s with %j, which cannot be translated", async (path, body, headers, param) => {
  const refused = await errorOf(await gateway.post(path, body, { headers }));
  expect(refused.status).toBe(400);
  if (param !== null) expect(refused).toMatchObject({ param });
});
