import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLeadership } from "#coordination/index.ts";
import { ConfigConflict } from "#directory/index.ts";
import type { Leadership, Observer } from "#ports/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { ConfigSource } from "./config-file.ts";
import type { Control } from "./control.ts";
import type { Processes } from "./processes.ts";

let folder = "";
let file = "";
let leadership: Leadership | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-config-source-"));
  file = join(folder, "sluice.json");
  writeFileSync(file, "{}");
});

afterEach(async () => {
  await leadership?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One process of two. While it exists, the `other` has the lease and has applied the same file. */
function process(apply: () => Promise<readonly string[]>, other: { isThere: boolean } = { isThere: false }) {
  const clock = new FakeClock();
  const facts: string[] = [JSON.stringify({ by: "proc_b", fence: 1, digest: "{}" })];
  const logged: string[] = [];
  let fence = 1;
  const leases = {
    acquire: async (name: string, owner: string) => (other.isThere ? null : { name, owner, fence: ++fence }),
    renew: async () => true,
    extend: async () => true,
    release: async () => undefined,
    status: async () => (other.isThere ? { owner: "proc_b", fence: 1 } : null),
    list: async () => [],
  };
  leadership = createLeadership({
    leases: leases as unknown as Parameters<typeof createLeadership>[0]["leases"],
    owner: "proc_a",
    clock,
    observer: { log: () => undefined },
  });
  const control = {
    clock,
    leases,
    instanceId: "proc_a",
    vault: { digest: (text: string) => text.split("\n")[1] },
    facts: { read: async () => facts.at(-1) ?? null, write: async (_: string, text: string) => void facts.push(text) },
    controlStore: { apply },
  } as unknown as Control;
  const broadcast = { subscribe: () => () => undefined, send: () => undefined };
  const processes = { leadership, broadcast } as unknown as Processes;
  const source = new ConfigSource({ file, environment: { configPrune: false }, variables: {}, control, processes });
  const observer = {
    log: (_level: string, message: string) => void logged.push(message),
    configReload: (result: string, detail: string) => void logged.push(`${result}: ${detail}`),
  } as unknown as Observer;
  return {
    start: async () => await source.start(),
    refused: () => source.refused,
    watch: () => source.watch(observer, async () => undefined),
    logged,
    /** Advances the clock until the condition holds. */
    passing: (isSo: () => boolean) =>
      until(() => {
        if (isSo()) return true;
        clock.advance(500);
        return false;
      }),
    applied: () => JSON.parse(facts.at(-1) ?? "{}") as unknown,
    facts,
  };
}

test("a process that shuts down while applying the config file finishes that first", async () => {
  const { promise: applying, resolve: begins } = Promise.withResolvers<void>();
  const { promise: applied, resolve: finish } = Promise.withResolvers<void>();
  const { start } = process(async () => {
    begins();
    await applied;
    return [];
  });
  const started = start();
  await applying;
  let over = false;
  const closed = leadership?.close().then(() => {
    over = true;
  });
  finish();
  await started;
  await until(() => over);
  await expect(closed).resolves.toBeUndefined();
});

test("a process that becomes the leader while the database fails retries until its file is applied", async () => {
  const other = { isThere: true };
  let tries = 0;
  const one = process(async () => {
    if (++tries < 3) throw new Error("the connection was lost");
    return [];
  }, other);
  await one.start();
  expect(tries).toBe(0);
  other.isThere = false;
  await one.passing(() => one.facts.length > 1);
  expect(tries).toBe(3);
  expect(one.applied()).toEqual({ by: "proc_a", fence: 4, digest: "{}" });
});

test("a new leader with an invalid file reports it and keeps the current config; starting processes do not wait", async () => {
  const other = { isThere: true };
  const one = process(async () => [], other);
  await one.start();
  const watch = one.watch();
  writeFileSync(file, `{ "providers": 5 }`);
  other.isThere = false;
  await one.passing(() => one.facts.length > 1);
  expect(one.applied()).toEqual({ by: "proc_b", fence: 2, digest: "{}" });
  expect(one.logged.some((line) => line.startsWith("refused: ") && line.includes("providers"))).toBe(true);
  await watch?.close();
});

test("applies a change of the file between the start and the first watch", async () => {
  let applied = 0;
  const one = process(async () => {
    applied++;
    return [];
  });
  await one.start();
  writeFileSync(file, `{ "models": [] }`);
  const watch = one.watch();
  await one.passing(() => applied > 1);
  await watch?.close();
});

test("a start with an invalid file continues with the config applied before and reports it, or fails if there is none", async () => {
  writeFileSync(file, `{ "providers": 5 }`);
  const one = process(async () => []);
  await one.start();
  expect(one.refused()).toContain("providers");
  const watch = one.watch();
  await one.passing(() => one.facts.length > 1);
  // The fact that other processes read at their start: who applied the config under this lease.
  expect(one.applied()).toEqual({ by: "proc_b", fence: 2, digest: "{}" });
  expect(one.logged.some((line) => line.startsWith("refused: ") && line.includes("providers"))).toBe(true);
  await watch?.close();
  await leadership?.close();
  const first = process(async () => []);
  first.facts.length = 0;
  await expect(first.start()).rejects.toThrow("providers");
});

test("a start with a refused file continues with the config applied before, or fails if there is none", async () => {
  const refusal = new ConfigConflict([{ path: [], message: "too much would be removed" }]);
  const one = process(() => Promise.reject(refusal));
  await one.start();
  expect(one.refused()).toContain("too much");
  await leadership?.close();
  const first = process(() => Promise.reject(refusal));
  first.facts.length = 0;
  await expect(first.start()).rejects.toThrow("too much");
});
