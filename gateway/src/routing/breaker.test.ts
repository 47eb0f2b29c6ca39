import { expect, test } from "bun:test";
import { Breaker, type BreakerChange } from "./breaker.ts";

const second = 1_000;

function fail(breaker: Breaker, nowMs: number): BreakerChange | null {
  return breaker.fail(breaker.begin(nowMs).pass, nowMs);
}

function succeed(breaker: Breaker, nowMs: number): BreakerChange | null {
  return breaker.succeed(breaker.begin(nowMs).pass, nowMs);
}

function open(breaker: Breaker, nowMs: number): BreakerChange | null {
  let change: BreakerChange | null = null;
  for (let failures = 0; failures < 5; failures++) change = fail(breaker, nowMs);
  return change;
}

test("five failures in a row open it for 30 s; a success in between starts the count again", () => {
  const breaker = new Breaker();
  for (let failures = 0; failures < 4; failures++) expect(fail(breaker, 0)).toBeNull();
  succeed(breaker, 0);
  for (let failures = 0; failures < 4; failures++) expect(fail(breaker, 0)).toBeNull();
  expect(fail(breaker, 0)).toEqual({
    state: "open",
    reason: "5 failures in a row",
    cause: { code: "failures_in_a_row", params: { count: 5 } },
    openMs: 30 * second,
  });
  expect(breaker.admits(29_999)).toBe(false);
  expect(breaker.admits(30 * second)).toBe(true);
});

test("half of at least twenty calls within 30 s open it, though never five in a row fail", () => {
  const breaker = new Breaker();
  let change: BreakerChange | null = null;
  let calls = 0;
  while (change === null && calls < 100) {
    calls++;
    change = calls % 2 === 0 ? fail(breaker, calls) : succeed(breaker, calls);
  }
  expect(calls).toBe(20);
  expect(change?.reason).toBe("10 of 20 calls failed within 30 s");
});

test("failures spread over more than 30 s do not add up", () => {
  const breaker = new Breaker();
  for (let call = 0; call < 200; call++) {
    const nowMs = call * 2 * second;
    expect(call % 2 === 0 ? fail(breaker, nowMs) : succeed(breaker, nowMs)).toBeNull();
  }
});

test("half-open lets exactly one probe through at a time; its success closes", () => {
  const breaker = new Breaker();
  open(breaker, 0);
  const probe = breaker.begin(30 * second);
  expect(probe.pass.probe).toBe(true);
  expect(probe.change?.state).toBe("half-open");
  expect(breaker.admits(30 * second)).toBe(false);
  expect(breaker.begin(30 * second).pass.probe).toBe(false);
  expect(breaker.succeed(probe.pass, 31 * second)?.state).toBe("closed");
  expect(breaker.admits(31 * second)).toBe(true);
});

test("a probe without a result frees its slot", () => {
  const breaker = new Breaker();
  open(breaker, 0);
  breaker.pass(breaker.begin(30 * second).pass);
  expect(breaker.state).toBe("half-open");
  expect(breaker.begin(30 * second).pass.probe).toBe(true);
});

test("each failed probe doubles the time, up to 300 s", () => {
  const breaker = new Breaker();
  let nowMs = 0;
  let change = open(breaker, nowMs);
  const times: number[] = [];
  for (let opening = 0; opening < 6; opening++) {
    times.push((change?.openMs ?? 0) / second);
    nowMs += change?.openMs ?? 0;
    change = fail(breaker, nowMs);
  }
  expect(times).toEqual([30, 60, 120, 240, 300, 300]);
});

test("opens for 30 s again after a healthy period, and longer if it reopens soon", () => {
  const breaker = new Breaker();
  open(breaker, 0);
  succeed(breaker, 30 * second);
  expect(open(breaker, 40 * second)?.openMs).toBe(60 * second);
  succeed(breaker, 100 * second);
  expect(open(breaker, 400 * second)?.openMs).toBe(30 * second);
});

test("ignores the result of an attempt from an earlier state", () => {
  const breaker = new Breaker();
  const early = breaker.begin(0).pass;
  open(breaker, 0);
  expect(breaker.succeed(early, 1)).toBeNull();
  expect(breaker.state).toBe("open");
  succeed(breaker, 30 * second);
  for (let failures = 0; failures < 9; failures++) expect(breaker.fail(early, 31 * second)).toBeNull();
});
