import { heapStats } from "bun:jsc";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { aliceKey, type StartedGateway, startGateway } from "../started-gateway.ts";
import { calls, dialects, providerAt, scripts } from "./scripted-upstream.ts";

let upstream: Bun.Server<undefined>;
let gateway: StartedGateway;
let answer = "";

beforeAll(async () => {
  // Begins to stream, discards the request, and never ends.
  upstream = Bun.serve({
    idleTimeout: 0,
    port: 0,
    async fetch(request) {
      for await (const _ of request.body ?? []);
      const stream = new ReadableStream({ start: (controller) => controller.enqueue(answer) });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  gateway = await startGateway({
    providers: () =>
      dialects.map((dialect) => providerAt(dialect, scripts[dialect].kind, { url: upstream.url.origin })),
    models: dialects.map((dialect) => ({
      name: `of-${dialect}`,
      deployments: [{ provider: dialect, upstream_model: scripts[dialect].upstreamModel }],
      // The price of cache writes makes the gateway read from the body whether the prompt is to be cached.
      price: { input: 1, output: 10, cache_write: 2, cache_write_long: 4 },
    })),
    keys: [{ name: "alice", secret: aliceKey, budget: { usd: 1_000_000, period: "total" } }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
});

const streams = 12;
const sliceBytes = 16 * 1024;
const padding = " ".repeat(1024 * 1024);

test.each(dialects)("%s: a running stream does not keep its request in memory", async (dialect) => {
  answer = [...scripts[dialect].preamble, scripts[dialect].content].join("");
  const [path, body] = calls[dialect](`of-${dialect}`);
  const request = Buffer.from(`${JSON.stringify(body)}${padding}`);
  const before = externalBytes();
  const sockets: Socket[] = [];
  try {
    for (let index = 0; index < streams; index++) sockets.push(await begin(path, request));
    expect(externalBytes() - before).toBeLessThan((streams * request.length) / 2);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

function externalBytes(): number {
  Bun.gc(true);
  return heapStats().extraMemorySize;
}

/** Sends a call and waits for its first content. */
async function begin(path: string, body: Buffer): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("error", reject);
  socket.on("close", () => reject(new Error(`The answer ended: ${text}`)));
  socket.on("data", (bytes) => {
    text += bytes.toString();
    if (text.includes("hello")) resolve();
  });
  const head = [
    ...[`POST ${path} HTTP/1.1`, "host: gateway", `authorization: Bearer ${aliceKey}`, "anthropic-version: 2023-06-01"],
    ...["content-type: application/json", `content-length: ${body.length}`],
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  // A socket in this process keeps a copy of its last write.
  for (let from = 0; from < body.length; from += sliceBytes) {
    const isWritten = socket.write(body.subarray(from, from + sliceBytes));
    if (!isWritten) await Promise.race([once(socket, "drain"), promise]);
  }
  await promise;
  return socket;
}
