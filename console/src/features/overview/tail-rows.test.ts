import { expect, test } from "bun:test";
import { sampleRow } from "../requests/sample-row.ts";
import { emptyTail, nextTail, type TailRows, type TailStep, tailRowsMax } from "./tail-rows.ts";

const rows = (...ids: string[]) => ids.map((attempt_id) => sampleRow({ attempt_id }));
const after = (...steps: TailStep[]): TailRows => steps.reduce(nextTail, emptyTail);
const ending = (attempt_id: string, at: number) => sampleRow({ attempt_id, at });
const shown = (tail: TailRows) => tail.shown.map((row) => row.attempt_id);

test("the newest row comes first", () => {
  const tail = after({ kind: "begin", rows: rows("b", "a") }, { kind: "rows", rows: rows("c", "d") });
  expect(shown(tail)).toEqual(["d", "c", "b", "a"]);
});

test("rows from the request list are merged by end time without duplicates", () => {
  const tail = after(
    { kind: "rows", rows: [ending("c", 3)] },
    { kind: "begin", rows: [ending("e", 5), ending("c", 3), ending("b", 2)] },
    { kind: "rows", rows: [ending("b", 2), ending("f", 6)] },
  );
  expect(shown(tail)).toEqual(["f", "e", "c", "b"]);
});

test("rows from the request list do not move a paused view", () => {
  const tail = after({ kind: "rows", rows: rows("a") }, { kind: "pause" }, { kind: "begin", rows: rows("b") });
  expect(shown(tail)).toEqual(["a"]);
});

test("a paused view does not move, counts new rows, and shows them on resume", () => {
  const paused = after({ kind: "rows", rows: rows("a") }, { kind: "pause" }, { kind: "rows", rows: rows("b", "c") });
  expect([shown(paused), paused.missed]).toEqual([["a"], 2]);
  const on = nextTail(paused, { kind: "resume" });
  expect([shown(on), on.missed, on.paused]).toEqual([["c", "b", "a"], 0, false]);
});

test("a finished background response replaces its pending row in either order", () => {
  const pending = sampleRow({ attempt_id: "a", outcome: "pending", held_usd: 0.07 });
  const [ended] = rows("a");
  if (ended === undefined) throw new Error("there is one");
  const states = (tail: TailRows) => tail.shown.map((row) => [row.attempt_id, row.outcome]);
  const open = after({ kind: "rows", rows: [pending, ...rows("b")] });
  expect(states(open)).toEqual([
    ["b", "succeeded"],
    ["a", "pending"],
  ]);
  const end = [
    ["a", "succeeded"],
    ["b", "succeeded"],
  ];
  expect(states(nextTail(open, { kind: "rows", rows: [ended] }))).toEqual(end);
  expect(states(nextTail(open, { kind: "rows", rows: [ended, pending] }))).toEqual(end);
  const listed = nextTail(open, { kind: "begin", rows: [ended] });
  expect(states(listed).toSorted()).toEqual(end);
  expect(nextTail(listed, { kind: "rows", rows: [pending] })).toBe(listed);
  const paused = [{ kind: "pause" }, { kind: "rows", rows: [ended] }, { kind: "resume" }] as const;
  expect(states(paused.reduce<TailRows>(nextTail, open))).toEqual(end);
});

test("no more rows are stored than shown, paused or not", () => {
  const many = Array.from({ length: tailRowsMax * 3 }, (_, n) => `a${n}`);
  const going = after({ kind: "rows", rows: rows(...many) });
  const paused = after({ kind: "pause" }, { kind: "rows", rows: rows(...many) });
  expect([going.shown.length, paused.waiting.length, paused.missed]).toEqual([tailRowsMax, tailRowsMax, many.length]);
  expect(shown(going)[0]).toBe(many.at(-1) ?? "");
});
