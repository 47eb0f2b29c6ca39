import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";
const poorKey = "sk-poor-0123456789abcdefghij";

/** The account that received the latest request, and the number of requests. */
let account = "";
let requests = 0;
let next = 0;
/** The output tokens of the next answer. */
let output = 2;

const server = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    requests++;
    account = new URL(request.url).pathname.split("/")[1] ?? "";
    const { stream = false } = (await request.json()) as { stream?: boolean };
    const id = next++;
    const items = [
      { type: "reasoning", id: `rs_${id}`, summary: [] },
      { id: `msg_${id}`, type: "message", role: "assistant", content: [{ type: "output_text", text: "x" }] },
      { type: "image_generation_call", id: `ig_${id}`, status: "completed", result: "AAAA" },
    ];
    const usage = { input_tokens: 4, output_tokens: output };
    const response = { id: `resp_${id}`, object: "response", status: "completed", output: items, usage };
    if (!stream) return Response.json(response);
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
      ...items.map((item, index) => ({ type: "response.output_item.done", output_index: index, item })),
      { type: "response.completed", response: { ...response, output: [] } },
    ];
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  },
});

let directory: string;
let gateway: StartedGateway;
const start = (): Promise<StartedGateway> =>
  startGateway({
    environment: { dataDir: directory },
    providers: () =>
      ["one", "two", "alone"].map((id) => ({
        id,
        kind: "openai",
        base_url: `http://127.0.0.1:${server.port}/${id}/v1`,
        api_key: `sk-upstream-of-${id}`,
        allow_private_network: true,
      })),
    models: [
      { name: "gpt", deployments: [{ provider: "one" }, { provider: "two" }], price: { input: 10, output: 10 } },
      { name: "own", deployments: [{ provider: "alone" }], price: { input: 10, output: 10 } },
    ],
    workspace: {
      models: ["*"],
      keys: [
        { name: "alice", secret: aliceKey },
        { name: "poor", secret: poorKey, budget: { usd: 1, period: "total" } },
      ],
    },
    moreWorkspaces: [{ slug: "rival", models: ["gpt"], keys: [{ name: "mallory", secret: malloryKey }] }],
  });
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-items-"));
  gateway = await start();
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
  rmSync(directory, { recursive: true, force: true });
});

async function ask(input: unknown, more: object = {}, key = aliceKey): Promise<Response> {
  const body = typeof input === "string" ? input : JSON.stringify({ model: "gpt", input, ...more });
  const answer = await gateway.post("/v1/responses", body, { key });
  await answer.clone().text();
  return answer;
}

const user = { role: "user", content: "x" };
const reference = (id: string) => ({ type: "item_reference", id });

/** The number in the ids of a new answer, and the account that has it. */
async function made(more: object = {}, key = aliceKey): Promise<{ n: number; at: string }> {
  expect((await ask([user], more, key)).status).toBe(200);
  return { n: next - 1, at: account };
}

describe.each([false, true])("items of a stored response, streamed: %p", (stream) => {
  test("can be referenced by their workspace, at the account that has them", async () => {
    for (let round = 0; round < 4; round++) {
      const { n, at } = await made({ stream });
      expect((await ask([reference(`rs_${n}`), reference(`msg_${n}`), user])).status).toBe(200);
      expect(account).toBe(at);
    }
  });

  test.each<[string, (n: number) => unknown]>([
    ["by type", (n) => [user, reference(`msg_${n}`)]],
    ["without a type", (n) => [user, { id: `msg_${n}` }]],
    ["with a type that is null", (n) => [{ type: null, id: `msg_${n}` }]],
    ["with an additional member", (n) => [{ id: `msg_${n}`, content: "x" }]],
    ["as a generated image", (n) => [user, { type: "image_generation_call", id: `ig_${n}` }]],
    ["as a generated image that is null", (n) => [{ type: "image_generation_call", id: `ig_${n}`, result: null }]],
    ["with escapes", (n) => `{"model":"gpt","input":[{"\\u0074ype":"item_\\u0072eference","\\u0069d":"msg_${n}"}]}`],
  ])("return 404 to another workspace: %s", async (_, input) => {
    const { n } = await made({ stream });
    const before = requests;
    expect((await ask(input(n), {}, malloryKey)).status).toBe(404);
    expect(requests).toBe(before);
    expect((await ask(input(n))).status).toBe(200);
  });

  test("return 404 to another workspace, also next to a response of that workspace", async () => {
    const { n } = await made({ stream });
    const own = await made({ stream }, malloryKey);
    const more = { previous_response_id: `resp_${own.n}` };
    expect((await ask([reference(`msg_${n}`)], more, malloryKey)).status).toBe(404);
    expect((await ask([reference(`msg_${own.n}`)], more, malloryKey)).status).toBe(200);
  });
});

test("items of an answer that is not stored return 404", async () => {
  const { n } = await made({ store: false });
  expect((await ask([reference(`msg_${n}`)])).status).toBe(404);
});

test("whole items with ids of any workspace pass, as agents send them", async () => {
  const { n } = await made();
  const items = [
    { type: "message", id: `msg_${n}`, role: "assistant", content: [{ type: "output_text", text: "x" }] },
    { id: `msg_${n}`, role: "assistant", content: "x" },
    { type: "reasoning", id: `rs_${n}`, summary: [], encrypted_content: "AAAA" },
    { type: "function_call", id: `fc_${n}`, call_id: "call_1", name: "f", arguments: '{"id":"x"}' },
    { type: "function_call_output", call_id: "call_1", output: '{"id":"x"}' },
    { type: "image_generation_call", id: `ig_${n}`, status: "completed", result: "AAAA" },
  ];
  expect((await ask(items, { store: false }, malloryKey)).status).toBe(200);
});

test("passes unknown items to an account of a single workspace", async () => {
  expect((await ask([reference("msg_unseen"), user], { model: "own" })).status).toBe(200);
});

test("items can be referenced after a restart", async () => {
  const { n, at } = await made();
  await gateway.gateway.close();
  gateway = await start();
  expect((await ask([reference(`msg_${n}`), user])).status).toBe(200);
  expect(account).toBe(at);
  expect((await ask([reference(`msg_${n}`)], {}, malloryKey)).status).toBe(404);
});

test("a WebSocket can reference only items of its workspace", async () => {
  const { n } = await made();
  const socket = await openSocket(gateway, { key: malloryKey });
  const frames = await socket.ask({ model: "gpt", input: [reference(`msg_${n}`)] });
  expect(frames.at(-1)).toMatchObject({ type: "error", status: 404 });
  socket.close();
});

test("the tokens of a referenced item are held against the budget", async () => {
  output = 200_000;
  const { n } = await made();
  output = 2;
  const body = { max_output_tokens: 16 };
  expect((await ask([user], body, poorKey)).status).toBe(200);
  expect((await ask([reference(`msg_${n}`)], body, poorKey)).status).toBe(402);
});
