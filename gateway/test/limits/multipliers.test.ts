import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
/** 10 USD per million output tokens: a call of 100 tokens costs 0.001 USD, and a hundred answers 0.1. */
const price = { input: 1, output: 10, image: 0.001 };
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai" }),
      upstream("gem", simulator, { kind: "gemini", settings: { endpoints: ["generate"] } }),
    ],
    models: [
      { name: "chat", deployments: [{ provider: "main" }], price },
      {
        name: "fim",
        type: "completion",
        deployments: [{ provider: "main", upstream_model: "gpt-3.5-turbo-instruct" }],
        price,
      },
      { name: "image", type: "image", deployments: [{ provider: "main" }], price, max_output_tokens: 10 },
      { name: "gem", deployments: [{ provider: "gem" }], price },
    ],
    workspace: { pass_through: ["main"], groups: [{ name: "default", pass_through: ["main"] }] },
    keys: [{ name: "alice", secret: aliceKey, pass_through: ["main"], budget: { usd: 0.05, period: "total" } }],
  });
});
afterAll(() => gateway.stop());

const max_tokens = 100;
const messages = [{ role: "user", content: "Hello" }];
const pixel = "data:image/png;base64,iVBORw0KGgo=";
/** Requests in which `count` is the number of answers or pictures. */
const asks: readonly (readonly [path: string, body: (count: unknown) => object, param: string])[] = [
  ["/v1/chat/completions", (n) => ({ model: "chat", messages, max_tokens, n }), "n"],
  ["/v1/completions", (n) => ({ model: "fim", prompt: "Hello", max_tokens, n }), "n"],
  ["/v1/images/generations", (n) => ({ model: "image", prompt: "A cat.", n }), "n"],
  ["/v1/images/edits", (n) => ({ model: "image", prompt: "A cat.", images: [{ image_url: pixel }], n }), "n"],
  [
    "/v1beta/models/gem:generateContent",
    (candidateCount) => ({
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      generationConfig: { maxOutputTokens: max_tokens, candidateCount },
    }),
    "candidateCount",
  ],
];
const served = (): number => gateway.simulator.simulator.truth.list().total;

for (const [path, body, param] of asks) {
  test(`${path}: a count that is not a positive integer answers 400`, async () => {
    const before = served();
    const isGemini = param === "candidateCount";
    const others = isGemini ? ["many", "1.5", "-100", ""] : ["100", "many", "", 0];
    for (const count of [...others, 2.5, -100, true, [100], { value: 100 }]) {
      const answer = await gateway.post(path, body(count));
      expect([count, answer.status]).toEqual([count, 400]);
      expect(await answer.text()).toContain(param);
    }
    expect(served()).toBe(before);
  });

  test(`${path}: a count of a hundred in any notation is held as a hundred`, async () => {
    const before = served();
    const counts = ["100", "1e2", "100.0000000000", ...(param === "candidateCount" ? ['"100"', '"100.0"'] : [])];
    for (const count of counts) {
      const text = JSON.stringify(body("#")).replace('"#"', count);
      expect([count, (await gateway.post(path, text)).status]).toEqual([count, 402]);
    }
    const twice = JSON.stringify(body("#")).replace('"#"', `1,"${param}":100`);
    expect((await gateway.post(path, twice)).status).toBe(400);
    expect(served()).toBe(before);
    expect((await gateway.post(path, body(1))).status).toBe(200);
    expect((await gateway.post(path, body(null))).status).toBe(200);
  });
}

test("a count in a form must be a positive integer", async () => {
  const send = (n: string) => {
    const form = new FormData();
    form.append("model", "image");
    form.append("prompt", "A cat.");
    form.append("image", new Blob([new Uint8Array(64)], { type: "image/png" }), "cat.png");
    form.append("n", n);
    const headers = { authorization: `Bearer ${aliceKey}` };
    return fetch(`${gateway.url}/v1/images/edits`, { method: "POST", headers, body: form });
  };
  for (const n of ["100.0", "1e2", " 100", "+100", "-1", "0", "many"]) {
    const answer = await send(n);
    expect([n, answer.status]).toEqual([n, 400]);
    expect(await errorOf(answer)).toMatchObject({ code: "invalid_request", param: "n" });
  }
  expect((await send("100")).status).toBe(402);
});

test("an invalid output limit does not lower the hold", async () => {
  // Without a limit 8,192 tokens are held: 0.08 USD.
  for (const cap of [-1, 0, "10", 10.5, null]) {
    const answer = await gateway.chat({ model: "chat", messages, max_tokens: cap });
    expect([cap, answer.status]).toEqual([cap, 402]);
  }
});

test("holds a passed-through call by its count, too", async () => {
  const path = "/v1/providers/main/chat/completions";
  for (const n of [100, "100", 2.5, -100]) {
    const answer = await gateway.post(path, { model: "chat", messages, max_tokens, n });
    expect([n, answer.status === 200]).toEqual([n, false]);
  }
});
