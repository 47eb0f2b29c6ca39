import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

/**
 * An upstream that still returns what it has deleted. It counts requests, except the gateway's polls of background
 * responses.
 */
let requestCount = 0;
let next = 0;
const polled = new Set<string>();
const server = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.method !== "GET" || !polled.has(new URL(request.url).pathname)) requestCount++;
    const body = (await request.text()) || "{}";
    const { background = false } = JSON.parse(body) as { background?: boolean };
    if (request.method === "DELETE") return Response.json({ object: "response", deleted: true });
    if (request.method === "GET") return new Response(null, { status: 500 });
    const usage = background ? null : { input_tokens: 4, output_tokens: 2 };
    const status = background ? "queued" : "completed";
    const id = `resp_${next++}`;
    if (background) polled.add(`/v1/responses/${id}`);
    return Response.json({ id, object: "response", status, output: [], usage });
  },
});

let directory: string;
let gateway: StartedGateway;
const start = (): Promise<StartedGateway> =>
  startGateway({
    environment: { dataDir: directory },
    providers: (simulator) => [
      upstream("own", simulator, { kind: "openai", base_url: `http://127.0.0.1:${server.port}/v1` }),
    ],
    models: [{ name: "gpt", deployments: [{ provider: "own" }], price: { input: 1, output: 10 } }],
    keys: [{ name: "alice", secret: aliceKey }],
  });
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-deleted-"));
  gateway = await start();
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
  rmSync(directory, { recursive: true, force: true });
});

const headers = { authorization: `Bearer ${aliceKey}` };
const path = (id: string) => `${gateway.url}/v1/responses/${id}`;

async function create(body: object = {}): Promise<string> {
  const answer = await gateway.post("/v1/responses", { model: "gpt", input: "x", ...body });
  return ((await answer.json()) as { id: string }).id;
}

/** The statuses of later calls about a response. The upstream must not receive any. */
async function laterCalls(id: string): Promise<readonly number[]> {
  const before = requestCount;
  const statuses = [
    (await fetch(path(id), { headers })).status,
    (await fetch(path(id), { method: "DELETE", headers })).status,
    (await gateway.post("/v1/responses", { model: "gpt", input: "x", previous_response_id: id })).status,
  ];
  expect(requestCount).toBe(before);
  return statuses;
}

test.each([false, true])(
  "returns 404 for a deleted response, also after a restart, background: %p",
  async (background) => {
    const id = await create({ background });
    expect((await fetch(path(id), { method: "DELETE", headers })).status).toBe(200);
    expect(await laterCalls(id)).toEqual([404, 404, 400]);
    await gateway.gateway.close();
    gateway = await start();
    expect(await laterCalls(id)).toEqual([404, 404, 400]);
  },
);

test("finds a response until the upstream has deleted it", async () => {
  const id = await create();
  const before = requestCount;
  expect((await gateway.post("/v1/responses", { model: "gpt", input: "x", previous_response_id: id })).status).toBe(
    200,
  );
  expect(requestCount).toBe(before + 1);
});
