import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { systemClock } from "#system/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { outbound } from "../../test/outbound.ts";
import { type RawUpstream, startRawUpstream } from "../../test/raw-upstream.ts";
import { createTransport } from "./index.ts";

const never = new AbortController().signal;
const failure = (promise: Promise<unknown>) => promise.then(() => null).catch((thrown: unknown) => thrown);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function start(answer: Parameters<typeof startRawUpstream>[0]): Promise<RawUpstream> {
  const upstream = await startRawUpstream(answer);
  stops.push(upstream.stop);
  return upstream;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turn();
}

/** An upstream in a separate process that answers and closes, until it stops accepting. */
async function startStoppable(): Promise<{ url: string; stopAccepting(): Promise<void> }> {
  const serve = `const s = require("node:net").createServer((c) => c.on("error", () => {}).once("data", () =>
      c.end("HTTP/1.1 200 OK\\r\\nconnection: close\\r\\ncontent-length: 2\\r\\n\\r\\nok")));
    s.listen(0, "127.0.0.1", () => console.log(s.address().port));`;
  const child = Bun.spawn([process.execPath, "-e", serve], { stdout: "pipe" });
  stops.push(() => child.kill("SIGKILL"));
  const line = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(line.value));
  return {
    url: `http://127.0.0.1:${port}`,
    stopAccepting() {
      child.kill("SIGSTOP");
      return fillQueue(port);
    },
  };
}

/**
 * Opens connections to a stopped process until its accept queue is full. From then on the kernel drops new connections, as if the route to
 * the machine were dead.
 */
async function fillQueue(port: number): Promise<void> {
  const connecting = new Set<Socket>();
  const fillers: Socket[] = [];
  stops.push(() => {
    for (const filler of fillers) filler.destroy();
  });
  for (let full = 0; full < 5; ) {
    const before = connecting.size;
    for (let i = 0; i < 32; i++) {
      const filler = connect(port, "127.0.0.1", () => connecting.delete(filler));
      filler.on("error", () => {});
      fillers.push(filler);
      connecting.add(filler);
    }
    await new Promise<void>((resolve) => systemClock.after(10, resolve));
    full = connecting.size === before + 32 ? full + 1 : 0;
    if (fillers.length > 20_000) throw new Error("this machine's queue of connections does not fill");
  }
}

const stillWaiting = (sent: Promise<unknown>) => Promise.race([sent, turn().then(() => "waiting")]);

test("an upstream that accepts no connection is a connect timeout", async () => {
  const clock = new FakeClock();
  const upstream = await startStoppable();
  await upstream.stopAccepting();
  const sent = failure(createTransport({ clock }).send(outbound(upstream.url), never));
  await turn();
  clock.advance(4_999);
  expect(await stillWaiting(sent)).toBe("waiting");
  clock.advance(1);
  expect(await sent).toMatchObject({ code: "upstream_timeout", retry: "other", unhealthy: true });
  expect(String(await sent)).toContain("connect timeout");
  expect(await sent).toMatchObject({ arrival: "unsent" });
});

test("an upstream that connects but does not answer is a headers timeout", async () => {
  const clock = new FakeClock();
  const upstream = await start(() => {});
  const sent = failure(createTransport({ clock }).send(outbound(upstream.url), never));
  await until(() => upstream.requests.length === 1);
  await turn();
  clock.advance(59_999);
  expect(await stillWaiting(sent)).toBe("waiting");
  clock.advance(1);
  expect(String(await sent)).toContain("headers timeout");
  await upstream.closed(0);
});
