import { expect, test } from "bun:test";
import { ledgerUnavailable } from "#core/index.ts";
import { systemClock } from "#system/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { outbound } from "../../test/outbound.ts";
import { createTransport, type InProcessHandler } from "./index.ts";

const never = new AbortController().signal;
const failure = (promise: Promise<unknown>) => promise.then(() => null).catch((thrown: unknown) => thrown);

const transportTo = (handler: InProcessHandler, clock = systemClock) =>
  createTransport({ clock, inProcess: new Map([["simulator", handler]]) });

const request = outbound("demo://simulator/v1/chat/completions?x=1", { allowPrivateNetwork: false });

/** A handler with a stream that sends one piece and then nothing, and ignores signals. */
const stalling: InProcessHandler = () =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("one")) }));

test("a demo: URL is answered by the handler of its host", async () => {
  const transport = transportTo(async (r) => new Response(`${r.method} ${r.url} ${await r.text()}`, { status: 201 }));
  const { status, body } = await transport.send(request, never);
  expect(status).toBe(201);
  const text = new TextDecoder().decode(await body.readAll(1_000, "idle", 1_000));
  expect(text).toBe('POST http://simulator/v1/chat/completions?x=1 {"model":"m"}');
});

test("a missing handler, or one that throws, is upstream_unreachable", async () => {
  const broken = transportTo(() => {
    throw new Error("broken");
  });
  expect(await failure(broken.send(request, never))).toMatchObject({ code: "upstream_unreachable" });
  const none = createTransport({ clock: systemClock });
  expect(await failure(none.send(request, never))).toMatchObject({ code: "upstream_unreachable" });
});

test("a handler gets nothing if the check before sending throws, and the request counts as not sent", async () => {
  let calls = 0;
  const transport = transportTo(() => {
    calls++;
    return new Response();
  });
  const beforeSending = () => {
    throw ledgerUnavailable();
  };
  const sent = failure(transport.send({ ...request, beforeSending }, never));
  expect(await sent).toMatchObject({ code: "ledger_unavailable", arrival: "unsent" });
  expect(calls).toBe(0);
});

test("a handler that does not answer is a timeout, and its late answer is canceled", async () => {
  const clock = new FakeClock();
  let answer = (_: Response) => {};
  const transport = transportTo(() => new Promise((resolve) => (answer = resolve)), clock);
  const sent = failure(transport.send(request, never));
  clock.advance(60_000);
  expect(await sent).toMatchObject({ code: "upstream_timeout" });
  const cancelled = new Promise<void>((resolve) =>
    answer(new Response(new ReadableStream({ cancel: () => resolve() }))),
  );
  await cancelled;
});

test("a stalled stream is an idle timeout, and ends with the caller", async () => {
  const clock = new FakeClock();
  const timed = await transportTo(stalling, clock).send(request, never);
  expect(await timed.body.read("first_event", 1_000)).toHaveLength(3);
  const idle = failure(timed.body.read("idle", 1_000));
  clock.advance(1_000);
  expect(await idle).toMatchObject({ code: "upstream_timeout" });

  const caller = new AbortController();
  const left = await transportTo(stalling, clock).send(request, caller.signal);
  await left.body.read("first_event", 1_000);
  const waiting = failure(left.body.read("idle", 1_000));
  caller.abort();
  expect(await waiting).toMatchObject({ code: "client_closed" });
});

test("a stream that fails is upstream_truncated", async () => {
  const breaking = () => new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) }));
  const { body } = await transportTo(breaking).send(request, never);
  expect(await failure(body.read("idle", 1_000))).toMatchObject({ code: "upstream_truncated" });
});

test("nothing is sent for a caller that is gone already", async () => {
  let asked = 0;
  const transport = transportTo(() => {
    asked++;
    return new Response("");
  });
  const sent = transport.send(request, AbortSignal.abort());
  expect(await failure(sent)).toMatchObject({ code: "client_closed", arrival: "unsent" });
  expect(asked).toBe(0);
});
