import { expect, test } from "bun:test";
import { bounds, Failure, Redactor, readableOf } from "#core/index.ts";
import type { AnswerBody, PieceListener } from "#ports/index.ts";
import { openaiChat, upstreamSide } from "#protocols/index.ts";
import { callerMemory } from "../../../test/caller-memory.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { AnswerStream } from "./answer-stream.ts";
import { PieceQueue } from "./piece-queue.ts";

const event = (text: string): Uint8Array =>
  Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`);

/** An upstream's body with pieces from the test. Like a socket, it ends its listener within `cancel`. */
class PushedBody implements AnswerBody {
  cancelled = 0;
  #listener: PieceListener | null = null;

  next(_clock: string, _limitMs: number, listener: PieceListener): void {
    this.#listener = listener;
  }
  read(): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => this.next("idle", 0, { resolve, reject }));
  }
  push(piece: Uint8Array | null): void {
    const listener = this.#listener;
    this.#listener = null;
    listener?.resolve(piece);
  }
  fail(failure: Failure): void {
    const listener = this.#listener;
    this.#listener = null;
    listener?.reject(failure);
  }
  cancel(): void {
    this.cancelled++;
    this.fail(new Failure("client_closed", "The exchange has ended."));
  }
  readAll(): Promise<Uint8Array> {
    throw new Error("nobody reads all of it");
  }
}

const redactor = new Redactor([]);
const owner = { key: { id: "key_1" }, workspace: { id: "ws_1" } };

function fixture({ settles = true, drains = false } = {}) {
  const first = event("one");
  const clock = new FakeClock();
  const live = new Set<Pick<AnswerStream, "abort">>();
  const memory = callerMemory();
  const body = new PushedBody();
  const tap = upstreamSide("openai-chat").replyReader.tapStream(false);
  const waiting = new PieceQueue({ redactor });
  waiting.add(first, tap);
  const ends: string[] = [];
  const messages: string[] = [];
  const stream = new AnswerStream({
    dependencies: { clock, live },
    call: { requestId: "req_1", streamEnd: () => void ends.push("end"), protocol: { dialect: openaiChat } },
    entry: {
      redactor,
      progress: () => null,
      finish: () => void ends.push("finished"),
      breakOff(outcome, failure) {
        ends.push(`${outcome} ${failure.code}`);
        messages.push(failure.message);
        if (!settles) throw new Failure("ledger_unavailable", "It could not be settled.");
      },
    },
    tally: { end: () => void ends.push("over") },
    answer: { status: 200, body },
    tap,
    waiting,
    pending: null,
    inStream: (failure) => failure,
    place: memory.open(owner, "event"),
    idleMs: 1_000,
    drains,
  });
  const sent: string[] = [];
  const sink = {
    enqueue: (piece: Uint8Array) => void sent.push(Buffer.from(piece).toString()),
    close: () => void sent.push("close"),
    error: (reason: unknown) => void sent.push(`error ${(reason as Failure).code}`),
  };
  let answered = 0;
  const open = stream.open();
  const pull = (): void => open.pull(sink, () => answered++);
  return { clock, live, memory, body, ends, messages, sent, open, pull, stream, answered: () => answered };
}

test("answers each pull once: with waiting pieces, later pieces and the end", () => {
  const { body, ends, sent, pull, answered } = fixture();
  pull();
  expect([sent, answered()]).toEqual([[event("one").toString()], 1]);
  pull();
  expect(answered()).toBe(1);
  body.push(Buffer.from(": a comment that is no whole ev"));
  expect(answered()).toBe(1);
  body.push(Buffer.from(`ent\n\n${event("two")}`));
  expect(answered()).toBe(2);
  expect(sent[1]).toEndWith(event("two").toString());
  pull();
  body.push(Buffer.from("data: [DONE]\n\n"));
  expect([sent.slice(2), answered(), ends]).toEqual([["data: [DONE]\n\n", "close"], 3, ["finished", "over", "end"]]);
});

test("a shutdown ends a waiting stream as interrupted, although stopping its upstream fails it", () => {
  const { live, body, ends, sent, pull, answered } = fixture();
  pull();
  pull();
  for (const stream of [...live]) stream.abort(new Failure("draining", "The gateway is shutting down."));
  expect(body.cancelled).toBe(1);
  expect(ends).toEqual(["interrupted draining", "over", "end"]);
  expect(sent[1]).toContain("draining");
  expect([sent.length, sent[2], answered(), live.size]).toEqual([3, "close", 2, 0]);
});

test("the error of a shutdown waits for a caller that has not pulled yet", () => {
  const { live, sent, pull, answered } = fixture();
  for (const stream of [...live]) stream.abort(new Failure("draining", "The gateway is shutting down."));
  pull();
  pull();
  expect(sent).toEqual([event("one").toString(), expect.stringContaining("draining"), "close"]);
  expect(answered()).toBe(2);
});

test("a caller that leaves is settled once as canceled, and gets nothing more", () => {
  const { body, ends, sent, open, pull } = fixture();
  pull();
  pull();
  open.cancel();
  open.cancel();
  body.push(event("late"));
  expect([ends, sent.length, body.cancelled]).toEqual([["cancelled client_closed", "over", "end"], 1, 1]);
});

test("a failure records why the reader went away, also when the upstream is read to its end", async () => {
  const why = new Failure("client_closed", "The caller read its answer too slowly.");
  const [left, slow, drained] = [fixture(), fixture(), fixture({ drains: true })];
  for (const { pull } of [left, slow, drained]) pull();
  left.open.cancel();
  slow.open.cancel(why);
  drained.open.cancel(why);
  drained.body.push(Buffer.from("data: [DONE]\n\n"));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  expect([left, slow, drained].map(({ messages }) => messages)).toEqual([
    ["The caller went away."],
    ["The caller read its answer too slowly."],
    ["The caller read its answer too slowly. The upstream was read to its end."],
  ]);
});

test("a caller that resumes reading after too long gets a broken connection, not a clean end", () => {
  const { clock, ends, sent, pull } = fixture();
  pull();
  clock.advance(bounds.stalledReaderMs + bounds.keepAliveMs);
  expect(ends).toEqual(["cancelled client_closed", "over", "end"]);
  pull();
  expect(sent.slice(1)).toEqual(["error client_closed"]);
});

test("keeps the code of a guardrail that refuses the answer, also when the upstream is read to its end", async () => {
  const why = new Failure("guardrail_blocked", "The guardrail keys refused the answer.");
  const [stopped, drained] = [fixture(), fixture({ drains: true })];
  for (const { pull, open } of [stopped, drained]) {
    pull();
    open.cancel(why);
  }
  drained.body.push(Buffer.from("data: [DONE]\n\n"));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  for (const { ends } of [stopped, drained]) expect(ends[0]).toEndWith(` ${why.code}`);
});

test("a stream that drains is read to its end when its reader stops, and a reader that resumes gets a broken connection", async () => {
  const { clock, body, ends, sent, open, pull, answered } = fixture({ drains: true });
  pull();
  clock.advance(bounds.stalledReaderMs + bounds.keepAliveMs);
  expect([ends, body.cancelled]).toEqual([[], 0]);
  pull();
  open.cancel();
  expect([sent.at(-1), answered()]).toEqual(["error client_closed", 2]);
  body.push(event("two"));
  await Promise.resolve();
  await Promise.resolve();
  body.push(Buffer.from("data: [DONE]\n\n"));
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  expect(ends).toEqual(["cancelled client_closed", "over", "end"]);
});

test("an end that cannot be settled breaks the connection, does not throw, and releases its memory", () => {
  const { body, ends, sent, pull, answered } = fixture({ settles: false });
  pull();
  pull();
  body.fail(new Failure("upstream_truncated", "The connection was cut."));
  expect([sent.slice(1), answered(), ends]).toEqual([
    ["error ledger_unavailable"],
    2,
    ["failed upstream_truncated", "over", "end"],
  ]);
  const left = fixture({ settles: false });
  left.pull();
  left.open.cancel();
  expect(left.ends).toEqual(["cancelled client_closed", "over", "end"]);
});

test("streams that cannot be settled neither throw nor end cleanly at a shutdown or when a reader stops", () => {
  const draining = new Failure("draining", "The gateway is shutting down.");
  const [unread, read] = [fixture({ settles: false }), fixture({ settles: false })];
  read.pull();
  for (const stream of [...unread.live]) stream.abort(draining);
  for (const stream of [...read.live]) stream.abort(draining);
  unread.pull();
  const stalled = fixture({ settles: false });
  stalled.pull();
  stalled.clock.advance(bounds.stalledReaderMs + bounds.keepAliveMs);
  stalled.pull();
  for (const { sent } of [unread, read, stalled]) expect(sent.at(-1)).toBe("error ledger_unavailable");
});

test("returns the same as a stream of the runtime", async () => {
  const { body, open } = fixture();
  const text = new Response(readableOf(open)).text();
  for (const piece of [event("two"), Buffer.from("data: [DONE]\n\n")]) {
    await new Promise((resolve) => setImmediate(resolve));
    body.push(piece);
  }
  expect(await text).toBe(`${event("one")}${event("two")}data: [DONE]\n\n`);
});

test("a large event is held while it arrives and until its reader pulls, and nothing is held after the end", () => {
  const { body, memory, pull, sent, open } = fixture();
  pull();
  const large = event("x".repeat(2 * bounds.eventBytesMax));
  pull();
  body.push(large.subarray(0, 10));
  expect(memory.bytes).toBe(0);
  body.push(large.subarray(10, -1));
  const arriving = memory.bytes;
  expect(arriving).toBeGreaterThan(2 * bounds.eventBytesMax);
  body.push(large.subarray(-1));
  expect(sent).toHaveLength(2);
  expect(memory.bytes).toBeGreaterThan(bounds.eventBytesMax);
  // It is sent in parts.
  let pulls = 0;
  for (; memory.bytes > 0; pulls++) pull();
  expect(pulls).toBeGreaterThan(2);
  while (sent.slice(1).join("").length < large.length) pull();
  expect(sent.slice(1).join("")).toBe(large.toString());
  pull();
  body.push(large.subarray(0, -1));
  expect(memory.bytes).toBeGreaterThan(0);
  open.cancel();
  expect(memory.bytes).toBe(0);
});

test("without room for a large event the stream ends with an error and its upstream is canceled", () => {
  const { body, ends, memory, pull, sent } = fixture();
  const others = Array.from({ length: 100 }, () => memory.open(owner, "event"));
  const isFull = others.some((place) => {
    try {
      place.hold(bounds.imageEventBytesMax);
      return false;
    } catch {
      return true;
    }
  });
  expect(isFull).toBe(true);
  pull();
  pull();
  body.push(event("x".repeat(bounds.imageEventBytesMax - 1_000)).subarray(0, -1));
  expect(sent[1]).toContain(`"code":"rate_limit_exceeded"`);
  expect([sent[2], ends, body.cancelled]).toEqual(["close", ["failed rate_limit_exceeded", "over", "end"], 1]);
});
