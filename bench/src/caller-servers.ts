/**
 * `bun bench/src/caller-servers.ts [rounds] [seconds] [tls]`: CPU time of the HTTP server for a 1 KB request and a 1 KB response with 13
 * headers, for our server and the runtime's in turn, without a gateway behind it. wrk is the client.
 */
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallRequest } from "../../gateway/src/api/call-request.ts";
import { HttpServer, ServerAnswer } from "../../gateway/src/http-server/index.ts";
import { systemClock } from "../../gateway/src/system/index.ts";
import { callerConnections, callerMemory } from "../../gateway/test/caller-memory.ts";
import { spread } from "./statistics.ts";

const [rounds = 5, seconds = 3] = process.argv.slice(2, 4).map(Number);
const secure = process.argv[4] === "tls";
const pem = (part: string): string =>
  readFileSync(
    join(import.meta.dir, "..", "..", "gateway", "test", "fixtures", "tls", `gateway.example.${part}.pem`),
    "utf8",
  );
const reply = new Uint8Array(1_000).fill(0x61);
const headers: Record<string, string> = { "content-type": "application/json" };
for (let index = 0; index < 12; index++) headers[`x-header-${index}`] = `value ${index} of an answer`;
let calls = 0;

/** Reads of the request that every call needs. */
async function read(request: Pick<CallRequest, "headers" | "signal" | "bytes">): Promise<void> {
  calls++;
  for (const name of ["host", "authorization", "content-type", "content-length", "content-encoding", "user-agent"]) {
    request.headers.get(name);
  }
  void request.signal;
  await request.bytes();
}

const own = new HttpServer({
  hostname: "127.0.0.1",
  port: 0,
  shared: false,
  ...(secure ? { certificate: { chain: pem("cert"), key: pem("key") } } : {}),
  clock: systemClock,
  memory: callerMemory(),
  connections: callerConnections(),
  idleMs: 60_000,
  answer(request, to) {
    void read(request).then(
      () => to.send(new ServerAnswer(200, headers, reply)),
      (thrown: unknown) => to.fail(thrown),
    );
  },
  refuse: () => new ServerAnswer(400, {}, null),
  leaving: () => false,
});
const runtime = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  ...(secure ? { tls: { cert: pem("cert"), key: pem("key") } } : {}),
  async fetch(request) {
    await read(request);
    return new Response(reply, { headers });
  },
});

const script = `${tmpdir()}/sluice-caller-servers-${process.pid}.lua`;
await Bun.write(
  script,
  'wrk.method = "POST"\nwrk.body = string.rep("a", 1000)\nwrk.headers["content-type"] = "application/json"\n' +
    'wrk.headers["authorization"] = "Bearer sk-bench-0123456789abcdef"\nwrk.headers["accept"] = "*/*"\n',
);

async function costUs(port: number | undefined): Promise<number> {
  const [before, began] = [calls, process.cpuUsage()];
  const words = [
    "wrk",
    "-t1",
    "-c16",
    `-d${seconds}s`,
    "-s",
    script,
    `${secure ? "https" : "http"}://127.0.0.1:${port}/v1/chat/completions`,
  ];
  const load = Bun.spawn(words, { stdout: "pipe", stderr: "inherit" });
  const output = await new Response(load.stdout).text();
  if (/Socket errors|Non-2xx/.test(output)) console.log(output);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / (calls - before);
}

const costs = { own: [] as number[], runtime: [] as number[] };
// The first run of code costs about twice as much.
await costUs(own.port);
await costUs(runtime.port);
for (let round = 0; round < rounds; round++) {
  costs.own.push(await costUs(own.port));
  costs.runtime.push(await costUs(runtime.port));
}
const ratio = costs.own.map((cost, round) => cost / (costs.runtime[round] ?? Number.NaN));
console.log(
  `µs of processor a request: own ${spreadText(costs.own)}, runtime ${spreadText(costs.runtime)}, ratio ${spreadText(ratio)}; ${calls} requests`,
);
own.stop(true);
await runtime.stop(true);
await Bun.file(script).delete();

function spreadText(samples: readonly number[]): string {
  const { median, min, max } = spread(samples) ?? { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}
