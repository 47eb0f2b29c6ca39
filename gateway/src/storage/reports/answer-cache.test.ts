import { expect, test } from "bun:test";
import type { RequestFilter } from "#ports/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { reportKeptFromMs, reportKeptMsMax, reportKeptTimes, reportsKeptMax } from "./answer-cache.ts";
import type { ReportSource } from "./report-answers.ts";
import { withAnswerCache } from "./report-store.ts";

/** Reports whose answers take `costMs` and count the readings. */
function opened(costMs: { ms: number }) {
  const clock = new FakeClock();
  let read = 0;
  const ask = async () => {
    clock.advance(costMs.ms);
    read += 1;
    return { read } as never;
  };
  return { clock, reports: withAnswerCache({ ask } as unknown as ReportSource, clock), reads: () => read };
}

const month = { workspaceId: "ws_1", from: 0, to: 100, stepMs: 1, by: "key" } as const;
const dear = { ms: 100 };

test("caches an answer that was slow twice, for a multiple of the time it took", async () => {
  const { clock, reports, reads } = opened(dear);
  const ask = async () => await reports.usage(month);
  await ask();
  expect(reads()).toBe(1);
  const second = await ask();
  expect(reads()).toBe(2);
  clock.advance(dear.ms * reportKeptTimes - 1);
  expect(await ask()).toEqual(second);
  clock.advance(1);
  await ask();
  expect(reads()).toBe(3);
});

test("caches nothing for longer than the maximum, and no answer that was fast once", async () => {
  const cost = { ms: 4_000 };
  const { clock, reports, reads } = opened(cost);
  for (let n = 0; n < 2; n++) await reports.usage(month);
  clock.advance(reportKeptMsMax);
  await reports.usage(month);
  expect(reads()).toBe(3);
  clock.advance(reportKeptMsMax);
  cost.ms = reportKeptFromMs - 1;
  for (let n = 0; n < 4; n++) await reports.usage(month);
  expect(reads()).toBe(7);
});

test("gives each question its own answer, however similar", async () => {
  const { reports, reads } = opened(dear);
  const filters: readonly RequestFilter[] = [
    { workspaceId: null },
    { workspaceId: "ws_1" },
    { workspaceId: "ws_2" },
    { workspaceId: "ws_1", personId: "usr_1" },
    { workspaceId: "ws_1", personId: "usr_2" },
    { workspaceId: "ws_1", keyId: "usr_1" },
  ];
  for (let n = 0; n < 2; n++) for (const filter of filters) await reports.requests(filter, null, 50);
  const before = reads();
  const stored = [];
  for (const filter of filters) stored.push(await reports.requests(filter, null, 50));
  expect(reads()).toBe(before);
  expect(new Set(stored.map((answer) => JSON.stringify(answer))).size).toBe(filters.length);
  await reports.requests({ workspaceId: null }, "a cursor", 50);
  await reports.requests({ workspaceId: null }, null, 51);
  expect(reads()).toBe(before + 2);
});

test("returns copies, and forgets them when the installation changes", async () => {
  const { reports, reads } = opened(dear);
  for (let n = 0; n < 2; n++) await reports.usage(month);
  const changed = (await reports.usage(month)) as unknown as { read: number };
  changed.read = -1;
  expect(await reports.usage(month)).toEqual({ read: 2 } as never);
  reports.forget();
  expect(await reports.usage(month)).toEqual({ read: 3 } as never);
  expect(reads()).toBe(3);
});

test("does not cache an answer that was being read while the installation changed", async () => {
  const { reports, reads } = opened(dear);
  await reports.usage(month);
  const reading = reports.usage(month);
  reports.forget();
  await reading;
  for (let n = 0; n < 2; n++) await reports.usage(month);
  expect(reads()).toBe(4);
});

test("always reads spending and keys", async () => {
  const { reports, reads } = opened(dear);
  for (let n = 0; n < 3; n++) await reports.spending([], 0);
  for (let n = 0; n < 3; n++) await reports.keys({ workspaceId: null, now: 0 }, null, 50);
  expect(reads()).toBe(6);
});

test("caches a bounded number of answers", async () => {
  const { reports, reads } = opened(dear);
  const ask = async (from: number) => await reports.usage({ ...month, from });
  for (let n = 0; n < 2; n++) await ask(-1);
  for (let n = 0; n < reportsKeptMax; n++) await ask(n);
  const before = reads();
  await ask(-1);
  expect(reads()).toBe(before + 1);
});
