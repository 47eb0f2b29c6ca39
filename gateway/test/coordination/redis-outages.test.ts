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
import { ask, isInStep } from "./redis-cluster.ts";
import { granted, meet, RedisGround } from "./redis-ground.ts";

describe.skipIf(noRedis !== null)(`a Redis that fails${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let ground: RedisGround;
  beforeEach(async () => {
    ground = await RedisGround.open();
  });
  afterEach(() => ground.close());

  const usedOf = async (counter: Counter, claim: Claim) => (await counter.peek(claim)).used;
  const open = (claim: Claim): Claim => ({ ...claim, fail: "open" });

  test("connections that are cut in the middle of calls lose no ending and no cost, and none counts twice", async () => {
    const first = await ground.counter();
    const counters = [first, await ground.counter()];
    await meet(first, "b");
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
        // As a call does it: the cost is told, then the ending, and neither is waited for.
        void counter.spend("b", 0, { attemptId, amount: 3 });
        void counter.settle(answer.ticket, [0, 0]);
      }
    };
    let over = false;
    const cutting = (async () => {
      let cuts = 0;
      for (; !over || cuts < 5; cuts++) await ground.type("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
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

  test("while the server stands still each limit does what it says, and what was let through is counted when it goes on", async () => {
    const counter = await ground.counter();
    await meet(counter, "b");
    const before = await granted(counter, [gaugeClaim("g", 2)]);
    ground.server.pause();
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
    expect(ground.told.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    ground.server.resume();
    await until(() => counter.isUp && counter.unsent === 0);
    expect(await usedOf(counter, gaugeClaim("g", 2))).toBe(2);
    expect(await usedOf(counter, windowClaim("w", 2))).toBe(1);
    expect(await counter.peek(budgetClaim("b", 100, 0))).toMatchObject({ used: 30, held: 30 });
    expect(await counter.reserve([gaugeClaim("g", 2)])).toMatchObject({ granted: false, reason: "limit" });
    for (const { ticket } of [before, through, task]) await counter.settle(ticket, [0]);
    expect(await usedOf(counter, gaugeClaim("g", 2))).toBe(0);
  });

  test("a connection that is dead without a word is given up for another one", async () => {
    let isDead = false;
    let opened = 0;
    const openLink = async (onReady: () => void): Promise<RedisLink> => {
      const isFirst = ++opened === 1;
      const link = await openRedisLink(readRedisAddress(ground.server.url), onReady, new AbortController().signal);
      const send: RedisLink["send"] = (key, command) =>
        isFirst && isDead ? new Promise(() => undefined) : link.send(key, command);
      return { ...link, send };
    };
    const counter = await ground.counter({ openLink, shares: false });
    const { ticket } = await granted(counter, [gaugeClaim("g", 1)]);
    isDead = true;
    expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "unreachable" });
    await until(() => counter.isUp);
    expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "limit" });
    await counter.settle(ticket, [0]);
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("a process that is cut off keeps the places of its calls and admits no more; others are granted them after its lease", async () => {
    const clock = new FakeClock();
    const nowMs = (): number => clock.monotonic();
    let isCut = false;
    const cutLink = async (onReady: () => void): Promise<RedisLink> => {
      if (isCut) throw new Error("the connection was cut");
      const link = await openRedisLink(readRedisAddress(ground.server.url), onReady, new AbortController().signal);
      const send: RedisLink["send"] = (key, command) =>
        isCut ? Promise.reject(new Error("the connection was cut")) : link.send(key, command);
      return { ...link, send };
    };
    const usual = { clock, nowMs, answerMs: patienceMs };
    const cut = await ground.counter({ ...usual, owner: "proc_cut", openLink: cutLink, shares: { callsMin: 4 } });
    const other = await ground.counter({ ...usual, owner: "proc_other", shares: false });
    const renewedUntil = async (): Promise<number> =>
      Number(await ground.type("ZSCORE", await ground.keyOf("owners"), "proc_other"));
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= redisRenewMs) {
        clock.advance(Math.min(left, redisRenewMs));
        const renewals = Math.floor(clock.monotonic() / redisRenewMs);
        await until(async () => (await renewedUntil()) >= renewals * redisRenewMs + bounds.redisLeaseMs);
      }
    };
    // One place by itself and, from the second call on, some out of a share.
    const kept = [await granted(cut, [gaugeClaim("g", 40)])];
    const callThere = async () => await cut.reserve([gaugeClaim("g", 40)], `req_${kept.length}`, true);
    const keepOne = async (): Promise<void> => {
      const answer = await callThere();
      if (!answer.granted) throw new Error("a call was refused");
      kept.push(answer);
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
    // Its share is its own until its lease has ended, and idle places are left in it then.
    await keepOne();
    await pass(bounds.redisLeaseMs - redisRenewMs);
    expect([cut.slotsBeyondLease, await fill()]).toEqual([0, before]);

    await pass(2 * redisRenewMs);
    expect([cut.slotsBeyondLease, other.slotsBeyondLease]).toEqual([5, 0]);
    expect(ground.told.filter((line) => line.includes("running calls keep their concurrency slots"))).toHaveLength(1);
    expect(await callThere()).toMatchObject({ granted: false, index: 0, reason: "unreachable" });
    // As many more than the limit as ran there, and not one more.
    expect(await fill()).toBe(40);

    isCut = false;
    await until(() => {
      clock.advance(bounds.redisRetryMs);
      return cut.isUp;
    });
    expect([cut.slotsBeyondLease, await usedOf(cut, gaugeClaim("g", 40))]).toEqual([0, 45]);
    for (const { ticket } of kept) await cut.settle(ticket, [0]);
    await until(async () => {
      clock.advance(shareSyncMs);
      return (await usedOf(cut, gaugeClaim("g", 40))) === 40;
    });
  });

  test("endings during an outage are told when it is over", async () => {
    const counter = await ground.counter();
    const { ticket } = await granted(counter, [gaugeClaim("g", 1)]);
    ground.server.pause();
    const ended = counter.settle(ticket, [0]);
    await until(() => !counter.isUp || counter.unsent === 0 || counter.outstanding === 0);
    ground.server.resume();
    await ended;
    await until(() => counter.isUp);
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("a server that is emptied is told anew by every process what it holds; one of them tells what the ledger knows; budgets are read again", async () => {
    let seeded = 0;
    const seed = async (counter: Pick<Counter, "seed">) => {
      seeded++;
      await counter.seed("w", 7, systemClock.now(), 60_000);
    };
    const [one, two, three] = await Promise.all([
      ground.counter({ seed }),
      ground.counter({ seed }),
      ground.counter({ seed }),
    ]);
    const counters = [one, two, three];
    expect(seeded).toBe(1);
    await meet(one, "b", 20);
    const claims = [gaugeClaim("g", 10), budgetClaim("b", 1_000, 50)];
    const held = await Promise.all(counters.map((counter) => granted(counter, claims)));
    expect(await one.topUp(held[0]?.ticket as object, 25, 1)).toBe(25);
    await ground.type("FLUSHALL");
    expect(await one.reserve(claims)).toMatchObject({ granted: false, index: 1, reason: "unknown" });
    expect(seeded).toBe(2);
    // Each process finds it with its next question, or with its next renewal.
    for (const counter of counters) expect(await usedOf(counter, windowClaim("w", 100))).toBe(7);
    expect(await usedOf(one, gaugeClaim("g", 10))).toBe(3);
    await meet(one, "b", 20);
    expect(await one.peek(budgetClaim("b", 1_000, 0))).toMatchObject({ used: 20 + 175, held: 175 });
    await Promise.all(counters.map((counter, index) => counter.settle(held[index]?.ticket as object, [0, 0])));
    expect(await usedOf(one, gaugeClaim("g", 10))).toBe(0);
    expect(await one.peek(budgetClaim("b", 1_000, 0))).toMatchObject({ used: 20, held: 0 });
    expect(seeded).toBe(2);
  });

  test("a server that dies and comes back empty counts again, without a restart of ours", async () => {
    const counter = await ground.counter();
    const { ticket } = await granted(counter, [gaugeClaim("g", 1)]);
    await ground.server.end();
    await until(async () => (await counter.reserve([gaugeClaim("g", 1)])).granted === false && !counter.isUp);
    await ground.server.run();
    await until(() => counter.isUp);
    expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "limit" });
    await counter.settle(ticket, [0]);
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("a server that comes back with what it had stored is told anew all the same, for it may have lost the last of it", async () => {
    const stored = await RedisGround.open("--appendonly", "yes", "--appendfsync", "always");
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

  test("one that was a replica meanwhile is told anew, for what came behind the copy that it was given is lost", async () => {
    const atOnce = ["repl-diskless-sync-delay", "0"] as const;
    await ground.type("CONFIG", "SET", ...atOnce);
    const replicaOf = ["--replicaof", `127.0.0.1 ${ground.server.port}`];
    const other = await RedisServer.start(...replicaOf, `--${atOnce[0]}`, atOnce[1]);
    try {
      await until(() => isInStep(other.port));
      const counter = await ground.counter();
      const claim = gaugeClaim("g", 10);
      await granted(counter, [claim]);
      await until(async () => (await ground.type("WAIT", "1", "0")) === 1);
      await ask(other.port, ["REPLICAOF", "NO", "ONE"]);
      await granted(counter, [claim]);
      await ground.type("REPLICAOF", "127.0.0.1", String(other.port));
      await until(() => isInStep(ground.server.port));
      await ground.type("REPLICAOF", "NO", "ONE");
      await until(async () => counter.isUp && (await usedOf(counter, claim)) === 2);
      expect(counter.epochs).toBe(1);
    } finally {
      await other.stop();
    }
  });

  test("scripts that the server has forgotten are sent again", async () => {
    const counter = await ground.counter();
    await ground.type("SCRIPT", "FLUSH");
    await granted(counter, [gaugeClaim("g", 1)]);
  });

  test("whoever seeds says again and again that it still does, so that one who dies meanwhile holds up nobody for long", async () => {
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const opening = ground.counter({ seed: () => read });
    const leftMs = async (): Promise<number> => Number(await ground.type("PTTL", "{sluice}:seeding"));
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

  test("a process that was told into a broken connection that it is to seed takes up its own lock at once", async () => {
    const told: string[] = [];
    const openLink = async (onReady: () => void): Promise<RedisLink> => {
      const link = await openRedisLink(readRedisAddress(ground.server.url), onReady, new AbortController().signal);
      return {
        ...link,
        send: async (key, command) => {
          const answer = await link.send(key, command);
          const word = Array.isArray(answer) ? String(answer[0]) : "";
          if (["seed", "wait", "ready"].includes(word)) told.push(word);
          if (word === "seed" && told.length === 1) throw new Error("the connection was cut");
          return answer;
        },
      };
    };
    const counter = await ground.counter({ openLink });
    await until(() => counter.isUp);
    expect(told.slice(0, 3)).toEqual(["seed", "seed", "ready"]);
  });

  test("a counter whose seeding fails is not used, and the next process may seed it at once", async () => {
    const broken = ground.counter({ seed: () => Promise.reject(new Error("no ledger")) });
    await expect(broken).rejects.toThrow("no ledger");
    const counter = await ground.counter({
      seed: (seeded) => seeded.seed("w", 1, systemClock.now(), 60_000) as Promise<void>,
    });
    expect(await usedOf(counter, windowClaim("w", 5))).toBe(1);
  });

  test("another installation keeps away from a counter that is counted in, and has it when the first has left", async () => {
    const first = await ground.counter({ installation: "one" });
    const second = await ground.counter({ installation: "one" });
    expect([first.isUp, second.isUp]).toEqual([true, true]);
    await granted(first, [gaugeClaim("g", 10)]);
    const stranger = await ground.counter({ installation: "other" });
    expect(stranger.isUp).toBe(false);
    expect(stranger.problem).toContain("another installation uses it");
    // It answers by what the limits themselves say, and leaves nothing there.
    expect(await stranger.reserve([open(gaugeClaim("g", 10))], "req_other")).toMatchObject({ granted: true });
    expect(await usedOf(second, gaugeClaim("g", 1))).toBe(1);
    first.close();
    second.close();
    // As its half minute does.
    await ground.type("DEL", "{sluice}:installation");
    await until(() => stranger.isUp);
    expect(await ground.type("GET", "{sluice}:installation")).toBe("other");
    const late = await ground.counter({ installation: "one" });
    expect(late.isUp).toBe(false);
  });
});
