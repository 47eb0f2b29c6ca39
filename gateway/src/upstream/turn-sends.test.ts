import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { ledgerUnavailable, pulledStream } from "#core/index.ts";
import { systemClock } from "#system/index.ts";
import { outbound } from "../../test/outbound.ts";
import { rawAnswer, startRawUpstream } from "../../test/raw-upstream.ts";
import { createTransport } from "./index.ts";

const never = new AbortController().signal;
const failure = (promise: Promise<unknown>) => promise.then(() => null).catch((thrown: unknown) => thrown);

/** A connection within this process: bytes written at one end arrive at the other in a later turn of the event loop. */
async function openPair(onData: () => void) {
  const { promise: far, resolve } = Promise.withResolvers<Bun.Socket>();
  const nothing = () => undefined;
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: nothing, open: resolve } });
  const near = await Bun.connect({ hostname: "127.0.0.1", port: listener.port, socket: { data: onData } });
  const other = await far;
  return {
    say: () => void other.write("go"),
    [Symbol.dispose]() {
      near.end();
      listener.stop(true);
    },
  };
}

/** Sends on a kept connection, and does `then` to it in the same turn of the event loop. Returns the failure and the number of requests. */
async function sentOnKept(then: (kept: Socket) => void, callerLeaves = false) {
  const sockets: Socket[] = [];
  const upstream = await startRawUpstream((socket) => {
    sockets.push(socket);
    socket.write(rawAnswer("ok"));
  });
  const transport = createTransport({ clock: systemClock });
  await (await transport.send(outbound(upstream.url), never)).body.readAll(10, "idle", 60_000);
  const caller = new AbortController();
  const { promise: thrown, resolve } = Promise.withResolvers<unknown>();
  using pair = await openPair(() => {
    resolve(failure(transport.send(outbound(upstream.url), caller.signal)));
    if (callerLeaves) caller.abort();
  });
  pair.say();
  for (const socket of sockets) then(socket);
  const seen = await thrown;
  await upstream.closed(0);
  upstream.stop();
  return { seen, requests: upstream.requests.length };
}

test.each([
  ["closed", (kept: Socket) => void kept.end()],
  ["reset", (kept: Socket) => void kept.resetAndDestroy()],
  ["closed with an answer", (kept: Socket) => void kept.end(rawAnswer("late"))],
])(
  "a kept connection that is %s before the turn ends has sent nothing, and no bytes count as its answer",
  async (_, end) => {
    expect(await sentOnKept(end)).toMatchObject({
      seen: { arrival: "unsent", retry: "same", unhealthy: false },
      requests: 1,
    });
  },
);

test("nothing is sent for a caller who leaves within the turn", async () => {
  const { seen, requests } = await sentOnKept(() => undefined, true);
  expect(seen).toMatchObject({ code: "client_closed", arrival: "unsent" });
  expect(requests).toBe(1);
});

test.each([
  ["whole", new Uint8Array(3)],
  ["long", { size: 3, open: () => pulledStream(() => null) }],
])("sends nothing of a %s request if the check before sending throws", async (_, body) => {
  const upstream = await startRawUpstream((socket) => void socket.write(rawAnswer("ok")));
  const transport = createTransport({ clock: systemClock });
  const beforeSending = () => {
    throw ledgerUnavailable();
  };
  for (let round = 0; round < 2; round++) {
    const request = { ...outbound(upstream.url), method: "POST", body, beforeSending } as const;
    expect(await failure(transport.send(request, never))).toMatchObject({
      code: "ledger_unavailable",
      arrival: "unsent",
    });
    expect(upstream.requests.length).toBe(round);
    await (await transport.send(outbound(upstream.url), never)).body.readAll(10, "idle", 60_000);
  }
  upstream.stop();
});

test("every connection of a turn is used again", async () => {
  const calls = 40;
  const upstream = await startRawUpstream((socket) => void socket.write(rawAnswer("ok")));
  const transport = createTransport({ clock: systemClock });
  const call = async () => {
    const answer = await transport.send(outbound(upstream.url), never);
    await answer.body.readAll(10, "idle", 60_000);
  };
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: calls }, call));
  expect([upstream.requests.length, upstream.connections]).toEqual([3 * calls, calls]);
  upstream.stop();
});
