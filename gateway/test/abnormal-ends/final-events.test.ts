import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const price = { input: 1, output: 10 };

/** The upstream's chunks; the second follows once the caller's answer has begun. */
let pieces: readonly [string, string] = ["", ""];
let begun = Promise.withResolvers<void>();
const vendor = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => {
    const [first, second] = pieces;
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(first);
      await begun.promise;
      yield Buffer.from(second);
    }
    return new Response(body(), { headers: { "content-type": "text/event-stream" } });
  },
});

let gateway: StartedGateway;
beforeAll(async () => {
  const at = { base_url: `${vendor.url.origin}/v1`, allow_private_network: true };
  gateway = await startGateway({
    providers: (simulator) => [
      { ...upstream("chat", simulator), ...at },
      { ...upstream("open", simulator, { kind: "openai", settings: { endpoints: ["responses"] } }), ...at },
    ],
    models: ["chat", "open"].map((name) => ({ name, deployments: [{ provider: name }], price })),
  });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop(true);
});

async function streamed(path: string, body: object, ...sent: typeof pieces) {
  pieces = sent;
  begun = Promise.withResolvers();
  const response = await gateway.post(path, { ...body, stream: true });
  begun.resolve();
  const text = await response.text();
  const [entry] = await gateway.entries();
  return { text, entry };
}

const event = (type: string, more: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const response = { id: "r", object: "response", status: "in_progress", output: [] };
const first = [
  event("response.created", { response }),
  event("response.output_text.delta", { item_id: "i", output_index: 0, content_index: 0, delta: "hello" }),
].join("");
const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
const error = { code: "server_error", message: "it broke" };
const completed = event("response.completed", { response: { ...response, status: "completed", usage } });
const failed = event("response.failed", { response: { ...response, status: "failed", error, usage } });
const request = { model: "open", input: "x" };
const messages = [{ role: "user", content: "x" }];
const used = { inputUncached: 7, output: 3 };

test("a last event without its blank line ends a translated stream", async () => {
  const chat = { model: "open", messages };
  const { text, entry } = await streamed("/v1/chat/completions", chat, first, completed.trim());
  expect(text).toContain('"content":"hello"');
  expect(text).toContain('"finish_reason":"stop"');
  expect(text).toEndWith("data: [DONE]\n\n");
  expect(text).not.toContain('"error"');
  expect(entry).toMatchObject({ outcome: "succeeded", usageSource: "upstream", usage: used });
});

test("a failure in a last event without its blank line is reported", async () => {
  const { text, entry } = await streamed("/v1/responses", request, first, failed.trim());
  expect(text).toContain("event: response.failed\n");
  expect(text).toContain("it broke");
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_error", usage: used });
  const whole = await streamed("/v1/responses", request, first, completed.trim());
  expect(whole.text).toEndWith(completed);
  expect(whole.entry).toMatchObject({ outcome: "succeeded", usage: used });
});

const chunk = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }], ...more })}\n\n`;
const word = chunk({ delta: { content: "hello" }, finish_reason: null });
const chat = { model: "chat", messages };

test("an error next to a vendor's last choice is a failure, and reported once", async () => {
  const last = chunk({ delta: { content: "" }, finish_reason: "error" }, { error });
  const { text, entry } = await streamed("/v1/chat/completions", chat, word, last);
  expect(text).toBe(word + last);
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_error", usageSource: "estimated" });
});

test("an error in a format unknown to the API's clients is converted to the known one", async () => {
  const odd = `data: ${JSON.stringify({ object: "error", message: "it broke", type: "x", code: 500 })}\n\n`;
  const { text, entry } = await streamed("/v1/chat/completions", chat, word, `${odd}data: [DONE]\n\n`);
  const [first, error, ...rest] = text.split("\n\n");
  expect([`${first}\n\n`, rest]).toEqual([word, [""]]);
  expect(JSON.parse(error?.replace("data: ", "") ?? "")).toMatchObject({ error: { code: "upstream_error" } });
  expect(error).toContain("it broke");
  expect(entry).toMatchObject({ outcome: "failed", errorCode: "upstream_error" });
});
