import { expect, test } from "bun:test";
import { memoryBytesDefault, memoryLimits } from "./bounds/memory-bounds.ts";
import { bounds } from "./bounds.ts";
import { CallerMemory, type HeldMemory, type MemoryKind, type MemoryOwner } from "./caller-memory.ts";

const mebibyte = 1024 * 1024;
const limits = { largeBytes: 60 * mebibyte, smallBytes: 4 * mebibyte, smallBytesMax: mebibyte / 2 };
const owner = (key: string, workspace: string): MemoryOwner => ({ key: { id: key }, workspace: { id: workspace } });
const anna = owner("anna", "one");

/** Takes pieces of one size until it is refused. */
function fill(memory: CallerMemory, who: MemoryOwner, bytes: number, kind: MemoryKind = "request") {
  const held: HeldMemory[] = [];
  for (;;) {
    const place = memory.open(who, kind);
    const problem = place.tryHold(bytes);
    if (problem !== null) return { held, problem, bytes: held.length * bytes };
    held.push(place);
  }
}

test("one key takes at most half of the memory, so others find room", () => {
  const memory = new CallerMemory(limits);
  const first = fill(memory, anna, mebibyte);
  expect([first.bytes / mebibyte, first.problem]).toEqual([30, "key"]);
  for (const [key, share] of [
    ["bert", 15],
    ["cleo", 7],
    ["dora", 4],
  ] as const) {
    expect(fill(memory, owner(key, key), mebibyte).bytes / mebibyte).toBe(share);
  }
  for (const place of first.held) place.release();
  // Released memory is available to everyone.
  expect(fill(memory, owner("emil", "emil"), mebibyte).bytes / mebibyte).toBe(17);
});

test("all keys of a workspace together leave a quarter of the memory", () => {
  const memory = new CallerMemory(limits);
  for (let key = 0; key < 20; key++) fill(memory, owner(`key_${key}`, "one"), mebibyte);
  expect(memory.bytes / mebibyte).toBe(45);
  expect(memory.open(owner("key_99", "one"), "request").tryHold(mebibyte)).toBe("workspace");
  expect(memory.open(owner("other", "two"), "request").tryHold(7 * mebibyte)).toBeNull();
});

test("a small body finds room while large ones fill theirs", () => {
  const memory = new CallerMemory(limits);
  for (let key = 0; key < 40; key++) fill(memory, owner(`key_${key}`, `ws_${key}`), mebibyte / 2 + 1);
  const small = fill(memory, owner("late", "late"), 200 * 1024);
  expect(small.held.length).toBeGreaterThan(5);
});

test("small bodies of one key leave half of their room, then use the room of large ones", () => {
  const memory = new CallerMemory(limits);
  expect(fill(memory, anna, mebibyte / 2).bytes / mebibyte).toBe(32);
  expect(fill(memory, owner("bert", "two"), mebibyte / 4).bytes / mebibyte).toBeGreaterThanOrEqual(16);
});

test("refuses a key that holds its share with 429, and with 503 when there is no room at all", () => {
  const memory = new CallerMemory(limits);
  fill(memory, anna, mebibyte);
  expect(() => memory.open(anna, "request").hold(mebibyte)).toThrow(
    expect.objectContaining({ code: "rate_limit_exceeded", status: 429, retryAfterMs: 2_000 }),
  );
  expect(() => memory.open(owner("bert", "two"), "request").hold(50 * mebibyte)).toThrow(
    expect.objectContaining({ code: "overloaded", status: 503, retryAfterMs: 1_000 }),
  );
  expect(memory.refusals.filter(({ count }) => count > 0)).toEqual([
    { kind: "request", cause: "key", count: 2 },
    { kind: "request", cause: "all", count: 1 },
  ]);
});

test("a response finds room where a request of the same key does not", () => {
  const memory = new CallerMemory(limits);
  fill(memory, anna, mebibyte);
  expect(memory.open(anna, "request").tryHold(mebibyte)).toBe("key");
  expect(memory.open(anna, "answer").tryHold(mebibyte)).toBeNull();
});

test("retained bytes count beyond any share, and block later requests", () => {
  const memory = new CallerMemory(limits);
  const unread = memory.open(anna, "unread");
  unread.keep(100 * mebibyte);
  expect(memory.bytes).toBe(100 * mebibyte);
  expect(memory.open(anna, "request").tryHold(mebibyte)).toBe("key");
  unread.keep(1);
  expect(memory.bytes).toBe(0);
});

test("counts a body once while it grows and shrinks, and releases it completely", () => {
  const memory = new CallerMemory(limits);
  const place = memory.open(anna, "answer");
  for (const bytes of [64 * 1024, 100_000, 10 * mebibyte, 5 * mebibyte, 100_000, 12 * mebibyte]) {
    place.hold(bytes);
    expect(memory.bytes).toBe(bytes <= 64 * 1024 ? 0 : 2 * bytes);
    expect(memory.bytesByKind.answer).toBe(memory.bytes);
  }
  expect(() => place.hold(1_000 * mebibyte)).toThrow();
  expect(memory.bytes).toBe(24 * mebibyte);
  place.release();
  place.release();
  expect([memory.bytes, memory.bytesByKind.answer]).toEqual([0, 0]);
});

test("a body of the largest size fits into the share of one key at 1 GiB and more", () => {
  for (const total of [1024 * mebibyte, memoryBytesDefault]) {
    const memory = new CallerMemory(memoryLimits(total));
    expect(memory.open(anna, "request").tryHold(2 * bounds.requestBodyBytesMax)).toBeNull();
  }
});
