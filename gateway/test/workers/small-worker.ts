import { existsSync } from "node:fs";
import { systemClock } from "#system/index.ts";
import { createWorkerLink, processChannel, SharedPort } from "#workers/index.ts";
import { waitForConnections } from "../../src/main/ending.ts";

/**
 * A worker without a gateway: it reports its process id and acts on request. `FAILS` names a file: while the file
 * exists, no worker can start.
 */
const channel = processChannel();
if (channel === null) throw new Error("a worker needs a channel");
const link = createWorkerLink(channel, systemClock);
let departing = false;
let calls = 0;

const ended = Promise.withResolvers<string>();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => ended.resolve(signal));
process.on("SIGHUP", () => console.error(`worker ${process.pid} reads again`));
process.on("disconnect", () => ended.resolve("alone"));
link.reports(async () => report());

const failing = process.env["FAILS"];
if (failing !== undefined && existsSync(failing)) {
  console.error("sluice: this worker cannot start");
  process.exit(1);
}

const { ports, alone } = await link.turnToListen();
const port = ports?.calls ?? Number(process.env["PORT"]);
if (alone && port !== 0) await open(port, false).stop(true);
const server = open(port, true);
const sharedPort = new SharedPort(server.port ?? 0);
link.onSteer((places) => sharedPort.steer(places));
link.listening({ calls: server.port ?? 0, console: null });
link.ready(`listening on ${server.port}\n`);
console.error(`worker ${process.pid} is ready`);

const reason = await Promise.race([ended.promise, link.left.then(() => "replaced")]);
link.ending(patienceMs());
if (reason === "replaced") {
  departing = true;
  const observer = { log() {} };
  const listeners = {
    leaveSockets() {},
    pending: () => server.pendingRequests,
    connections: () => sharedPort.connections(),
  };
  await waitForConnections({
    listeners,
    observer,
    clock: systemClock,
    timeoutMs: patienceMs(),
    signal: new AbortController().signal,
  });
} else {
  while (server.pendingRequests > 0 && !link.forced.aborted) {
    await new Promise<void>((resolve) => void systemClock.after(5, resolve));
  }
}
link.lastReport(report());
console.error(`worker ${process.pid} ends: ${reason}`);
await server.stop(true);
process.exit(0);

function open(at: number, reusePort: boolean) {
  return Bun.serve({
    idleTimeout: 0,
    hostname: "127.0.0.1",
    port: at,
    reusePort,
    fetch: async (request) => {
      calls++;
      const { pathname } = new URL(request.url);
      if (pathname === "/die") process.kill(process.pid, "SIGKILL");
      if (pathname === "/soon") await new Promise<void>((resolve) => void systemClock.after(10, resolve));
      if (pathname === "/print") console.error("x".repeat(50_000));
      if (pathname === "/totals") return Response.json(await link.totals());
      const headers: Record<string, string> = departing ? { connection: "close" } : {};
      if (pathname === "/stream") return new Response(pieces(request.headers.get("x-until") ?? ""), { headers });
      return new Response(String(process.pid), { headers });
    },
  });
}

/** A stream that continues until a file exists. */
function pieces(file: string): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode(`${process.pid}\n`));
      if (existsSync(file)) return controller.close();
      await new Promise<void>((resolve) => void systemClock.after(20, resolve));
    },
  });
}

function report() {
  return [{ name: "calls", help: "", type: "counter", points: [{ labels: {}, value: calls }] }];
}

function patienceMs(): number {
  return Number(process.env["PATIENCE_MS"] ?? 60_000);
}
