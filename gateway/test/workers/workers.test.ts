import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../test/until.ts";
import { callWithoutPause } from "./callers.ts";
import { endSupervised, type Supervised, supervise } from "./supervised.ts";

/** Only Linux distributes a port among processes. */
const linux = process.platform === "linux";
if (!linux) console.warn("skipped: workers that share a port are tested on Linux only");

/** A stream that has begun and ends after `end` is called. */
async function stream({ url, folder }: Supervised) {
  const file = join(folder, "over");
  const answer = await fetch(`${url}/stream`, { headers: { "x-until": file, connection: "close" } });
  return { text: answer.text(), end: () => writeFileSync(file, "") };
}

async function totals({ url }: Supervised) {
  return (await (await fetch(`${url}/totals`, { headers: { connection: "close" } })).json()) as {
    readonly parts: readonly (readonly { readonly points: readonly { readonly value: number }[] }[])[];
    readonly workers: { readonly wanted: number; readonly ready: number; readonly lost: number };
  };
}

const counted = (parts: Awaited<ReturnType<typeof totals>>["parts"]): number =>
  parts.flat().reduce((sum, { points }) => sum + (points[0]?.value ?? 0), 0);
const times = (text: string, part: string): number => text.split(part).length - 1;

afterAll(endSupervised);

describe.skipIf(!linux)("workers that share a port", () => {
  test("a dead worker is replaced, its counts are kept, and every worker reports the totals", async () => {
    await using gateway = await supervise(2);
    for (let call = 0; call < 20; call++) await gateway.answering();
    const before = await totals(gateway);
    expect(before.workers).toMatchObject({ wanted: 2, ready: 2, lost: 0 });
    expect(counted(before.parts)).toBe(21);
    const [dead = 0] = gateway.workers();
    process.kill(dead, "SIGKILL");
    await until(async () => times(gateway.output(), " is ready") === 3);
    const after = await totals(gateway);
    expect(after.workers).toMatchObject({ wanted: 2, ready: 2, lost: 1 });
    expect(counted(after.parts)).toBe(22);
    expect(gateway.workers()).not.toContain(dead);
    expect(times(gateway.output(), "a worker ended unexpectedly; restarting it")).toBe(1);
    expect(times(gateway.output(), "listening on")).toBe(1);
  });

  test.each<[NodeJS.Signals, "supervisor" | "group", number]>([
    ["SIGTERM", "supervisor", 1],
    ["SIGTERM", "group", 1],
    ["SIGINT", "group", 2],
  ])(
    "%s to the %s (%i times) lets streams finish, ends every worker once, and exits with 0",
    async (name, receiver, sent) => {
      await using gateway = await supervise(2);
      const { text, end } = await stream(gateway);
      for (let count = 0; count < sent; count++) gateway.signal(name, receiver);
      await until(() => gateway.workers().length === 1);
      end();
      expect((await text).split("\n").length).toBeGreaterThan(1);
      expect(await gateway.exited).toBe(0);
      expect(gateway.workers()).toEqual([]);
      expect(times(gateway.output(), `ends: ${name}`)).toBe(2);
      expect(gateway.output()).not.toContain("unexpectedly");
    },
  );

  test("SIGHUP reaches every worker and ends none", async () => {
    await using gateway = await supervise(2);
    gateway.signal("SIGHUP");
    await until(() => times(gateway.output(), "reads again") === 2);
    expect(gateway.workers()).toHaveLength(2);
  });

  test("workers of a killed supervisor finish their work and exit", async () => {
    await using gateway = await supervise(2);
    const { text, end } = await stream(gateway);
    gateway.signal("SIGKILL");
    await until(() => gateway.workers().length === 1);
    end();
    expect((await text).split("\n").length).toBeGreaterThan(1);
    await until(() => gateway.workers().length === 0);
  });

  test("a first worker that cannot start gives one line, status 1, and no second worker", async () => {
    const folder = await supervise(1);
    folder.failing(true);
    try {
      const failed = supervise(3, { FAILS: join(folder.folder, "fails") });
      const output = await failed.then(
        () => "started",
        (reason: Error) => reason.message,
      );
      expect(output).toBe("sluice: this worker cannot start\n");
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  });

  test("a port in use by another process is not shared with it", async () => {
    await using gateway = await supervise(1);
    const output = await supervise(2, { PORT: String(gateway.port) }).then(
      () => "started",
      (reason: Error) => reason.message,
    );
    expect(output).toContain("EADDRINUSE");
  });

  test("SIGUSR2 replaces the workers one by one without a failed call: new connections, idle ones, and a stream", async () => {
    await using gateway = await supervise(2);
    const before = gateway.workers();
    const callers = callWithoutPause(gateway.port);
    const { text, end } = await stream(gateway);
    gateway.signal("SIGUSR2");
    await until(() => times(gateway.output(), " is ready") === 3);
    end();
    expect((await text).split("\n").length).toBeGreaterThan(1);
    await until(() => gateway.output().includes("workers replaced"));
    // Both successors receive calls by now.
    const after = gateway.workers();
    await until(() => after.every((pid) => callers.seen.has(String(pid))));
    expect(await callers.stop()).toEqual([]);
    expect(after).toHaveLength(2);
    for (const pid of before) expect(after).not.toContain(pid);
    expect(gateway.output()).not.toContain("cannot steer new connections");
  });

  test("a successor that cannot start leaves the existing worker running", async () => {
    await using gateway = await supervise(2);
    const before = gateway.workers();
    gateway.failing(true);
    gateway.signal("SIGUSR2");
    await until(() => gateway.output().includes("a replacement worker failed to start"));
    expect(times(gateway.output(), "this worker cannot start")).toBe(1);
    expect(gateway.workers()).toEqual(before);
    gateway.failing(false);
    expect(existsSync(join(gateway.folder, "fails"))).toBe(false);
    gateway.signal("SIGTERM");
    expect(await gateway.exited).toBe(0);
  });
});
