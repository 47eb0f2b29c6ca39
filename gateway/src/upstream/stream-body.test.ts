import { afterEach, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import type { AnswerBody } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { patienceMs, untilStable } from "../../../test/until.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { outbound } from "../../test/outbound.ts";
import {
  type Answer,
  type RawUpstream,
  rawAnswer,
  rawChunk,
  rawChunks,
  startRawUpstream,
} from "../../test/raw-upstream.ts";
import { createTransport } from "./index.ts";

const never = new AbortController().signal;
const text = (bytes: Uint8Array | null) => (bytes === null ? null : new TextDecoder().decode(bytes));
const failure = (promise: Promise<unknown>) => promise.then(() => null).catch((thrown: unknown) => thrown);

const started: RawUpstream[] = [];
afterEach(() => {
  for (const upstream of started.splice(0)) upstream.stop();
});

async function open(answer: Answer, clock = systemClock, signal = never) {
  const upstream = await startRawUpstream(answer);
  started.push(upstream);
  const { body } = await createTransport({ clock }).send(outbound(upstream.url), signal);
  return { upstream, body };
}

/** Reads to the end. Returns the text and how the stream ended. */
async function drain(body: AnswerBody): Promise<{ text: string; end: unknown }> {
  let whole = "";
  try {
    for (let piece = await body.read("idle", patienceMs); piece !== null; piece = await body.read("idle", patienceMs)) {
      whole += new TextDecoder().decode(piece);
    }
    return { text: whole, end: null };
  } catch (thrown) {
    return { text: whole, end: thrown };
  }
}

const truncated = { code: "upstream_truncated", retry: "other", unhealthy: true };

const cuts: [string, Answer][] = [
  ["in the middle of a chunk", (s) => s.end(`${rawChunks("hello")}10\r\nabc`)],
  ["between two chunks", (s) => s.end(rawChunks("hello"))],
  ["by a chunk size that is no number", (s) => s.end(`${rawChunks("hello")}ZZ\r\nabc\r\n`)],
  ["short of its content-length", (s) => s.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello")],
  ["by a reset", (s) => s.write(rawChunks("hello"), () => setImmediate(() => s.resetAndDestroy()))],
];

test.each(cuts)("an answer cut %s is upstream_truncated, never a clean end", async (_, answer) => {
  const { body } = await open(answer);
  const { end } = await drain(body);
  expect(end).toMatchObject(truncated);
  expect(await failure(body.read("idle", 100))).toBe(end);
});

test.each(cuts)("an answer cut %s is upstream_truncated for readAll too", async (_, answer) => {
  const { body } = await open(answer);
  expect(await failure(body.readAll(1_000, "idle", patienceMs))).toMatchObject(truncated);
});

test("bytes beyond the content length are dropped", async () => {
  const { upstream, body } = await open((s) => s.write(`${rawAnswer("hel")}lo${rawAnswer("evil")}`));
  expect(await drain(body)).toEqual({ text: "hel", end: null });
  const again = createTransport({ clock: systemClock }).send(outbound(upstream.url), never);
  expect(text(await (await again).body.readAll(100, "idle", patienceMs))).toBe("hel");
});

test("reads after the end return null", async () => {
  const { body } = await open((s) => s.write(`${rawChunks("a")}0\r\n\r\n`));
  expect(await drain(body)).toEqual({ text: "a", end: null });
  expect(await body.read("idle", 100)).toBeNull();
  expect(await body.readAll(10, "idle", 100)).toHaveLength(0);
});

test("pieces are delivered as they arrive", async () => {
  let goOn = () => {};
  const { body } = await open((s) => {
    s.write(rawChunks("one"));
    goOn = () => void s.write(rawChunk("two"));
  });
  expect(text(await body.read("first_event", patienceMs))).toBe("one");
  const next = body.read("idle", patienceMs);
  goOn();
  expect(text(await next)).toBe("two");
  body.cancel();
});

test("readAll joins the rest, with or without a declared length", async () => {
  const long = "x".repeat(3_000_000);
  const measured = await open((s) => s.write(rawAnswer(long)));
  expect(await measured.body.readAll(4_000_000, "idle", patienceMs)).toHaveLength(long.length);
  const chunked = await open((s) => s.write(`${rawChunks("a", long, "b")}0\r\n\r\n`));
  expect(text(await chunked.body.read("first_event", patienceMs))).toStartWith("a");
  const rest = await chunked.body.readAll(4_000_000, "idle", patienceMs);
  expect(text(rest)).toEndWith("xb");
});

test("readAll reports its progress, and ends when the listener throws", async () => {
  const long = "x".repeat(3_000_000);
  for (const raw of [rawAnswer(long), `${rawChunks(long)}0\r\n\r\n`]) {
    const { body } = await open((s) => s.write(raw));
    const sizes: number[] = [];
    await body.readAll(4_000_000, "idle", patienceMs, (bytes) => void sizes.push(bytes));
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect(sizes.at(-1)).toBe(long.length);
    const again = await open((s) => s.write(raw));
    const full = (bytes: number): void => {
      if (bytes > 1_000_000) throw new Failure("overloaded", "full");
    };
    expect(await failure(again.body.readAll(4_000_000, "idle", patienceMs, full))).toMatchObject({
      code: "overloaded",
    });
    again.body.cancel();
    await again.upstream.closed(0);
  }
});

test("an answer that is too large is upstream_error and is canceled", async () => {
  for (const raw of ["HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\nhello", rawChunks("x".repeat(2_000))]) {
    const { upstream, body } = await open((s) => s.write(raw));
    expect(await failure(body.readAll(1_000, "idle", patienceMs))).toMatchObject({ code: "upstream_error" });
    await upstream.closed(0);
  }
});

test("a canceled body closes the upstream's connection", async () => {
  for (const readFirst of [true, false]) {
    const { upstream, body } = await open((s) => s.write(rawChunks("hello")));
    if (readFirst) await body.read("first_event", patienceMs);
    body.cancel();
    await upstream.closed(0);
    expect(await failure(body.read("idle", 100))).toMatchObject({ code: "client_closed" });
  }
});

test("a caller who leaves during a read ends the read and the connection", async () => {
  const caller = new AbortController();
  const { upstream, body } = await open((s) => s.write(rawChunks("hello")), systemClock, caller.signal);
  await body.read("first_event", patienceMs);
  const waiting = failure(body.read("idle", 600_000));
  caller.abort();
  expect(await waiting).toMatchObject({ code: "client_closed", retry: "never", unhealthy: false });
  await upstream.closed(0);
});

test("canceling a body after its end keeps the connection", async () => {
  const upstream = await startRawUpstream((s) => s.write(rawAnswer("ok")));
  started.push(upstream);
  const transport = createTransport({ clock: systemClock });
  for (let i = 0; i < 5; i++) {
    const { body } = await transport.send(outbound(upstream.url), never);
    await body.readAll(10, "idle", patienceMs);
    body.cancel();
  }
  // One connection of the first request, one that tried the other address, and one for all other requests.
  expect(upstream.connections).toBeLessThanOrEqual(3);
});

test("an unread body stops the upstream within 16 MB", async () => {
  let written = 0;
  const piece = rawChunk("x".repeat(65_536));
  const { body } = await open((s) => {
    s.write(rawChunks());
    const flood = (): void => {
      do written += piece.length;
      while (!s.destroyed && written < 100_000_000 && s.write(piece));
      s.once("drain", flood);
    };
    flood();
  });
  expect(await body.read("first_event", patienceMs)).not.toBeNull();
  await untilStable(() => written);
  expect(written).toBeLessThan(16_000_000);
  body.cancel();
});

test("silence before and after the first event are different timeouts", async () => {
  const clock = new FakeClock();
  const { upstream, body } = await open((s) => s.write(rawChunks("hello")), clock);
  await body.read("first_event", 60_000);
  const idle = failure(body.read("idle", 30_000));
  clock.advance(29_999);
  clock.advance(1);
  expect(await idle).toMatchObject({ code: "upstream_timeout", retry: "other", unhealthy: true });
  expect(String(await idle)).toContain("idle timeout");
  await upstream.closed(0);

  const second = await open((s) => s.write(rawChunks()), clock);
  const first = failure(second.body.read("first_event", 60_000));
  clock.advance(60_000);
  expect(String(await first)).toContain("first_event timeout");
  expect(clock.pending).toBe(0);
});

test("the total timeout ends an endless answer, even if it is not read", async () => {
  const clock = new FakeClock();
  const { upstream, body } = await open((s) => s.write(rawChunks("hello")), clock);
  await body.read("first_event", 60_000);
  clock.advance(600_000);
  await upstream.closed(0);
  expect(String(await failure(body.read("idle", 1_000)))).toContain("total timeout");
});

test("a stream of many pieces costs one timer", async () => {
  let booked = 0;
  const clock = new FakeClock();
  const counting = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms: number, act: () => void) => {
      booked++;
      return clock.after(ms, act);
    },
  };
  let send = () => {};
  const { body } = await open((s) => {
    s.write(rawChunks());
    send = () => void s.write(rawChunk("x"));
  }, counting);
  const before = booked;
  for (let i = 0; i < 300; i++) {
    const piece = body.read("idle", 120_000);
    send();
    await piece;
  }
  expect(booked - before).toBeLessThanOrEqual(1);
  body.cancel();
  expect(clock.pending).toBe(0);
});
