import { afterAll, beforeAll, expect, test } from "bun:test";
import { modelCalls } from "../../src/api/endpoints/model-calls.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { secret } from "./guardrail-fixture.ts";

let gateway: StartedGateway;

const types = {
  chat: "chat",
  embedding: "embedding",
  image: "image",
  speech: "speech",
  transcription: "transcription",
  moderation: "moderation",
} as const;

beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("sim", simulator, { kind: "openai" })],
    models: Object.values(types).map((type) => ({
      name: type,
      type,
      deployments: [{ provider: "sim", upstream_model: `sim-${type}` }],
    })),
    guardrails: [{ name: "keys", check: { kind: "credentials" }, action: "block" }],
  });
});
afterAll(() => gateway.stop());

/** Members with every endpoint's own name for its text. A model call that reads another one fails here. */
function bodyWith(model: string): object {
  const message = { role: "user", content: secret, parts: [{ text: secret }] };
  return {
    ...{ model, max_tokens: 9, voice: "alloy", input: secret, prompt: secret, messages: [message] },
    ...{ contents: [message], content: message, query: secret, documents: [secret] },
    ...{ image: "data:image/png;base64,iVBORw0KGgo=", images: [{ image_url: "data:image/png;base64,iVBORw0KGgo=" }] },
    requests: [{ model: `models/${model}`, content: message }],
  };
}

test.each(modelCalls.map(({ id, path }) => [id, path] as const))(
  "refuses a credential at every model call: %s",
  async (id, path) => {
    const served = gateway.simulator.simulator.truth.list().total;
    const texts: string[] = [];
    for (const model of Object.values(types)) {
      const url = path.replace(/\{\w+\}/, model);
      const form = new FormData();
      form.append("model", model);
      form.append("prompt", secret);
      form.append("file", new Blob([new Uint8Array(64)], { type: "audio/wav" }), "a.wav");
      const isForm = id.startsWith("trans") || path.startsWith("/v1/audio/trans");
      const response = isForm
        ? await fetch(`${gateway.url}${url}`, {
            method: "POST",
            headers: { authorization: `Bearer ${aliceKey}` },
            body: form,
          })
        : await gateway.post(url, bodyWith(model), { headers: { "anthropic-version": "2023-06-01" } });
      texts.push(await response.text());
    }
    // The gateway itself counts the tokens of these models.
    if (!id.includes("count-tokens")) expect(texts.join("\n")).toContain("guardrail");
    expect(texts.join("\n")).not.toContain(secret);
    expect(gateway.simulator.simulator.truth.list().total).toBe(served);
  },
);

test("records a refused call without a cost, and holds no budget", async () => {
  await (await gateway.chat({ model: "chat", messages: [{ role: "user", content: secret }] })).text();
  const [entry] = await gateway.entries();
  expect(entry).toMatchObject({
    model: "chat",
    outcome: "rejected",
    errorCode: "guardrail_blocked",
    upstreamModel: "",
  });
  expect(JSON.stringify(entry, (_name, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
    secret,
  );
  expect(gateway.gateway.outstanding()).toBe(0);
});
