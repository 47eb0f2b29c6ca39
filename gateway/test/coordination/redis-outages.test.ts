import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { redisSeedLockMs } from "#coordination/redis/epoch-reporter.ts";
import { redisRenewMs } from "#coordination/redis/membership.ts";
import { shareSyncMs } from "#coordination/redis/shares/share-sync.ts";
import { bounds } from "#core/index.ts";
import type { Claim, Counter } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { patienceMs, until } from "../../../test/until.ts";
import { readRedisAddress } from "../../src/coordination/redis/redis-address.ts";
import { openRedisLink, type RedisLink } from "../../src/coordination/redis/redis-link.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { FakeClock } from "../fake-clock.ts";
import { ask, isSynced } from "./redis-cluster.ts";
import { granted, RedisFixture, setSpent } from "./redis-fixture.ts";

describe.skipIf(noRedis !== null)(`Redis outages${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let fixture: RedisFixture;
  beforeEach(async () => {
    fixture = await RedisFixture.open();
  });
  afterEach(() => fixture.close());

  const usedOf = async (counter: Counter, claim: Claim) => (await counter.peek(claim)).used;
  const open = (claim: Claim): Claim => ({ ...claim, fail: "open" });

  test("loses no settlement and no cost, and counts none twice, when connections drop during calls", async () => {
    const first = await fixture.counter();
    const counters = [first, await fixture.counter()];
    await setSpent(first, "b");
    let spent = 0;
    let call = 0;
    const caller = async (counter: Counter) => {
      for (let turn = 0; turn < 60; turn++) {
        const attemptId = `att_${++call}`;
        const answer = await counter.reserve(
          [open(gaugeClaim("g", 1_000)), open(budgetClaim("b", 1e9, 10))],
          `req_${call}`,
        );
        if (!answer.granted) throw new Error(answer.reason);
        spent += 3;
        // Like a call: report the cost, then settle, and wait for neither.
        void counter.spend("b", 0, { attemptId, amount: 3 });
        void counter.settle(answer.ticket, [0, 0]);
      }
    };
    let over = false;
    const cutting = (async () => {
      let cuts = 0;
      for (; !over || cuts < 5; cuts++) await fixture.type("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      return cuts;
    })();
    await Promise.all(counters.flatMap((counter) => Array.from({ length: 10 }, () => caller(counter))));
    over = true;
    expect(await cutting).toBeGreaterThanOrEqual(5);
    await until(() => counters.every((counter) => counter.isUp && counter.unsent === 0));
    expect(await first.peek(budgetClaim("b", 1, 0))).toMatchObject({ used: spent, held: 0 });
    expect(await usedOf(first, gaugeClaim("g", 1))).toBe(0);
    expect(counters.map(({ outstanding }) => outstanding)).toEqual([0, 0]);
  });

  test("applies each limit's fail mode while Redis is paused, and counts what was admitted when it resumes", async () => {
    const counter = await fixture.counter();
    await setSpent(counter, "b");
    const before = await granted(counter, [gaugeClaim("g", 2)]);
    fixture.server.pause();
    const [closed, alsoClosed] = await Promise.all([
      counter.reserve([open(gaugeClaim("g", 2)), budgetClaim("b", 100, 40)]),
      counter.reserve([gaugeClaim("g", 2)]),
    ]);
    expect(closed).toMatchObject({ granted: false, index: 1, reason: "unreachable" });
    expect(alsoClosed).toMatchObject({ granted: false, index: 0, reason: "unreachable" });
    expect(counter.isUp).toBe(false);
    const through = await granted(counter, [open(gaugeClaim("g", 2))]);
    const task = await granted(counter, [budgetClaim("b", Number.POSITIVE_INFINITY, 30)], "vt_1");
    await granted(counter, [open(windowClaim("w", 2))]);
    expect(await counter.beginPeriod("b", 0)).toBe("unreachable");
    expect(fixture.logs.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    fixture.server.resume();
    await until(() => counter.isUp && counter.unsent === 0);
    expect(await usedOf(counter, gaugeClaim("g", 2))).toBe(2);
    expect(await usedOf(counter, windowClaim("w", 2))).toBe(1);
    expect(await counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 30, held: 30 });
    expect(await counter.reserve([gaugeClaim("g", 2)])).toMatchObject({ granted: false, reason: "limit" });
    for (const { ticket } of [before, through, task]) await counter.settle(ticket, [0]);
    expect(await usedOf(counter, gaugeClaim("g", 2))).toBe(0);
  });

  test("replaces a connection that is silently dead", async () => {
    let isDead = false;
    let opened = 0;
    const openLink = async (onReady: () => void): Promise<RedisLink> => {
      const isFirst = ++opened === 1;
      const link = await openRedisLink(readRedisAddress(fixture.server.url), onReady, new AbortController().signal);
      const send: RedisLink["send"] = (key, command) =>
        isFirst && isDead ? new Promise(() => undefined) : link.send(key, command);
      return { ...link, send };
    };
    const counter = await fixture.counter({ openLink, shares: false });
    const { ticket } = await granted(counter, [gaugeClaim("g", 1)]);
    isDead = true;
    expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "unreachable" });
    await until(() => counter.isUp);
    expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "limit" });
    await counter.settle(ticket, [0]);
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("keeps running calls of a disconnected process and admits no more; others get its places after its lease", async () => {
    const clock = new FakeClock();
    const nowMs = (): number => clock.monotonic();
    let isCut = false;
    const cutLink = async (onReady: () => void): Promise<RedisLink> => {
      if (isCut) throw new Error("the connection was cut");
      const link = await openRedisLink(readRedisAddress(fixture.server.url), onReady, new AbortController().signal);
      const send: RedisLink["send"] = (key, command) =>
        isCut ? Promise.reject(new Error("the connection was cut")) : link.send(key, command);
      return { ...link, send };
    };
    const usual = { clock, nowMs, answerMs: patienceMs };
    const cut = await fixture.counter({ ...usual, owner: "proc_cut", openLink: cutLink, shares: { callsMin: 4 } });
    const other = await fixture.counter({ ...usual, owner: "proc_other", shares: false });
    const renewedUntil = async (): Promise<number> =>
      Number(await fixture.type("ZSCORE", await fixture.keyOf("owners"), "proc_other"));
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= redisRenewMs) {
        clock.advance(Math.min(left, redisRenewMs));
        const renewals = Math.floor(clock.monotonic() / redisRenewMs);
        await until(async () => (await renewedUntil()) >= renewals * redisRenewMs + bounds.redisLeaseMs);
      }
    };
    // One place is reserved separately; from the second call on, some come from a share.
    const reserved = [await granted(cut, [gaugeClaim("g", 40)])];
    const callThere = async () => await cut.reserve([gaugeClaim("g", 40)], `req_${reserved.length}`, true);
    const keepOne = async (): Promise<void> => {
      const answer = await callThere();
      if (!answer.granted) throw new Error("a call was refused");
      reserved.push(answer);
    };
    for (let call = 0; call < 3; call++) await keepOne();
    let others = 0;
    const fill = async (): Promise<number> => {
      while ((await other.reserve([gaugeClaim("g", 40)])).granted) others++;
      return others;
    };
    const before = await fill();
    expect(before).toBeLessThanOrEqual(36);

    isCut = true;
    // Its share stays usable until its lease ends, and has free places then.
    await keepOne();
    await pass(bounds.redisLeaseMs - redisRenewMs);
    expect([cut.slotsBeyondLease, await fill()]).toEqual([0, before]);

    await pass(2 * redisRenewMs);
    expect([cut.slotsBeyondLease, other.slotsBeyondLease]).toEqual([5, 0]);
    expect(fixture.logs.filter((line) => line.includes("running calls keep their concurrency slots"))).toHaveLength(1);
    expect(await callThere()).toMatchObject({ granted: false, index: 0, reason: "unreachable" });
    // Exactly as many beyond the limit as ran on the disconnected process.
    expect(await fill()).toBe(40);

    isCut = false;
    await until(() => {
      clock.advance(bounds.redisRetryMs);
      return cut.isUp;
    });
    expect([cut.slotsBeyondLease, await usedOf(cut, gaugeClaim("g", 40))]).toEqual([0, 45]);
    for (const { ticket } of reserved) await cut.settle(ticket, [0]);
    await until(async () => {
      clock.advance(shareSyncMs);
      return (await usedOf(cut, gaugeClaim("g", 40))) === 40;
    });
  });

  test("reports settlements made during an outage when it is over", async () => {
    const counter = await fixture.counter();
    const { ticket } = await granted(counter, [gaugeClaim("g", 1)]);
    fixture.server.pause();
    const ended = counter.settle(ticket, [0]);
    await until(() => !counter.isUp || counter.unsent === 0 || counter.outstanding === 0);
    fixture.server.resume();
    await ended;
    await until(() => counter.isUp);
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("restores what every process holds after Redis is emptied; one seeds from the ledger, and budgets are read again", async () => {
    let seeded = 0;
    const seed = async (counter: Pick<Counter, "seed">) => {
      seeded++;
      await counter.seed("w", 7, systemClock.now(), 60_000);
    };
    const [one, two, three] = await Promise.all([
      fixture.counter({ seed }),
      fixture.counter({ seed }),
      fixture.counter({ seed }),
    ]);
    const counters = [one, two, three];
    expect(seeded).toBe(1);
    await setSpent(one, "b", 20);
    const claims = [gaugeClaim("g", 10), budgetClaim("b", 1_000, 50)];
    const held = await Promise.all(counters.map((counter) => granted(counter, claims)));
    expect(await one.topUp(held[0]?.ticket as object, 25, 1)).toBe(25);
    await fixture.type("FLUSHALL");
    expect(await one.reserve(claims)).toMatchObject({ granted: false, index: 1, reason: "unknown" });
    expect(seeded).toBe(2);
    // Each process notices with its next operation or its next lease renewal.
    for (const counter of counters) expect(await usedOf(counter, windowClaim("w", 100))).toBe(7);
    expect(await usedOf(one, gaugeClaim("g", 10))).toBe(3);
    await setSpent(one, "b", 20);
    expect(await one.peek(budgetClaim("b", 1_000, 0))).toMatchObject({ used: 20 + 175, held: 175 });
    await Promise.all(counters.map((counter, index) => counter.settle(held[index]?.ticket as object, [0, 0])));
    expect(await usedOf(one, gaugeClaim("g", 10))).toBe(0);
    expect(await one.peek(budgetClaim("b", 1_000, 0))).toMatchObject({ used: 20, held: 0 });
    expect(seeded).toBe(2);
  });

  test("counts again when Redis crashes and restarts empty, without a restart of the gateway", async () => {
    const counter = await fixture.counter();
    const { ticket } = await granted(counter, [gaugeClaim("g", 1)]);
    await fixture.server.end();
    await until(async () => (await counter.reserve([gaugeClaim("g", 1)])).granted === false && !counter.isUp);
    await fixture.server.run();
    await until(() => counter.isUp);
    expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "limit" });
    await counter.settle(ticket, [0]);
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("restores counts after Redis restarts from disk, because its last writes may be lost", async () => {
    const stored = await RedisFixture.open("--appendonly", "yes", "--appendfsync", "always");
    try {
      let seeded = 0;
      const counter = await stored.counter({ seed: async () => void seeded++ });
      await granted(counter, [gaugeClaim("g", 2)]);
      await stored.server.end();
      await stored.server.run();
      await until(async () => (await counter.reserve([gaugeClaim("g", 2)])).granted);
      expect(seeded).toBe(2);
      expect(await counter.reserve([gaugeClaim("g", 2)])).toMatchObject({ granted: false, reason: "limit" });
    } finally {
      await stored.close();
    }
  });

  test("restores counts after Redis was a replica in between, because writes after its copy are lost", async () => {
    const atOnce = ["repl-diskless-sync-delay", "0"] as const;
    await fixture.type("CONFIG", "SET", ...atOnce);
    const replicaOf = ["--replicaof", `127.0.0.1 ${fixture.server.port}`];
    const other = await RedisServer.start(...replicaOf, `--${atOnce[0]}`, atOnce[1]);
    try {
      await until(() => isSynced(other.port));
      const counter = await fixture.counter();
      const claim = gaugeClaim("g", 10);
      await granted(counter, [claim]);
      await until(async () => (await fixture.type("WAIT", "1", "0")) === 1);
      await ask(other.port, ["REPLICAOF", "NO", "ONE"]);
      await granted(counter, [claim]);
      await fixture.type("REPLICAOF", "127.0.0.1", String(other.port));
      await until(() => isSynced(fixture.server.port));
      await fixture.type("REPLICAOF", "NO", "ONE");
      await until(async () => counter.isUp && (await usedOf(counter, claim)) === 2);
      expect(counter.epochs).toBe(1);
    } finally {
      await other.stop();
    }
  });

  test("sends scripts again that the server no longer has", async () => {
    const counter = await fixture.counter();
    await fixture.type("SCRIPT", "FLUSH");
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("renews the seeding lock, so that a seeding process that crashes blocks the others only briefly", async () => {
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const opening = fixture.counter({ seed: () => read });
    const leftMs = async (): Promise<number> => Number(await fixture.type("PTTL", "{sluice}:seeding"));
    await until(async () => (await leftMs()) > 0);
    let least = Number.POSITIVE_INFINITY;
    await until(async () => {
      const left = await leftMs();
      expect(left).toBeLessThanOrEqual(redisSeedLockMs);
      least = Math.min(least, left);
      return left > least;
    });
    resolve();
    expect((await opening).isUp).toBe(true);
    expect(await leftMs()).toBeLessThan(0);
  });

  test("takes its own seeding lock again at once when the connection breaks after it was chosen", async () => {
    const answers: string[] = [];
    const openLink = async (onReady: () => void): Promise<RedisLink> => {
      const link = await openRedisLink(readRedisAddress(fixture.server.url), onReady, new AbortController().signal);
      return {
        ...link,
        send: async (key, command) => {
          const answer = await link.send(key, command);
          const word = Array.isArray(answer) ? String(answer[0]) : "";
          if (["seed", "wait", "ready"].includes(word)) answers.push(word);
          if (word === "seed" && answers.length === 1) throw new Error("the connection was cut");
          return answer;
        },
      };
    };
    const counter = await fixture.counter({ openLink });
    await until(() => counter.isUp);
    expect(answers.slice(0, 3)).toEqual(["seed", "seed", "ready"]);
  });

  test("does not use a counter whose seeding failed, and lets the next process seed it at once", async () => {
    const broken = fixture.counter({ seed: () => Promise.reject(new Error("no ledger")) });
    await expect(broken).rejects.toThrow("no ledger");
    const counter = await fixture.counter({
      seed: (seeded) => seeded.seed("w", 1, systemClock.now(), 60_000) as Promise<void>,
    });
    expect(await usedOf(counter, windowClaim("w", 5))).toBe(1);
  });

  test("keeps out of a counter that another installation uses, and takes it once that one has left", async () => {
    const first = await fixture.counter({ installation: "one" });
    const second = await fixture.counter({ installation: "one" });
    expect([first.isUp, second.isUp]).toEqual([true, true]);
    await granted(first, [gaugeClaim("g", 10)]);
    const stranger = await fixture.counter({ installation: "other" });
    expect(stranger.isUp).toBe(false);
    expect(stranger.problem).toContain("another installation uses it");
    // It answers by the limits' fail modes and writes nothing.
    expect(await stranger.reserve([open(gaugeClaim("g", 10))], "req_other")).toMatchObject({ granted: true });
    expect(await usedOf(second, gaugeClaim("g", 1))).toBe(1);
    first.close();
    second.close();
    // As when its half-minute lifetime ends.
    await fixture.type("DEL", "{sluice}:installation");
    await until(() => stranger.isUp);
    expect(await fixture.type("GET", "{sluice}:installation")).toBe("other");
    const late = await fixture.counter({ installation: "one" });
    expect(late.isUp).toBe(false);
  });
});
