import { expect, test } from "bun:test";
import { createIds, systemClock } from "#system/index.ts";
import { spanIdFrom, traceIdFrom } from "./traces.ts";

const ids = createIds(systemClock);

test("trace and span ids follow W3C Trace Context and differ for different ids of ours", () => {
  const own = Array.from({ length: 2_000 }, (_, place) => [
    ids.next("req_"),
    `task req_${place}`,
    `req_${place}`,
  ]).flat();
  const seen = new Set<string>();
  for (const id of own) {
    const [trace, span] = [traceIdFrom(id), spanIdFrom(id)];
    expect(trace).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(span).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect([traceIdFrom(id), spanIdFrom(id)]).toEqual([trace, span]);
    seen.add(trace).add(span);
  }
  expect(seen.size).toBe(own.length * 2);
});

test("the last seven bytes of a trace id are random, which samplers need", () => {
  const kept = Array.from({ length: 4_000 }, () => traceIdFrom(ids.next("req_"))).filter(
    (id) => Number.parseInt(id.slice(18), 16) < 2 ** 56 / 4,
  );
  // Six standard deviations around a quarter.
  expect(Math.abs(kept.length - 1_000)).toBeLessThan(165);
});
