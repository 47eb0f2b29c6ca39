import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { type ConfigWatch, fileState, watchConfigFile } from "./watch-config-file.ts";

/** Runs ten times as fast. */
const clock: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * 10,
  after: (delayMs, act) => systemClock.after(delayMs / 10, act),
};

let folder = "";
let file = "";
let watch: ConfigWatch | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-watch-"));
  file = join(folder, "sluice.yaml");
  writeFileSync(file, "one");
});

afterEach(async () => {
  await watch?.close();
  rmSync(folder, { recursive: true });
});

test("detects an edit in place, a replacement and a deletion", async () => {
  const changes = await watching(file);
  const edits = [
    () => writeFileSync(file, "two"),
    () => {
      writeFileSync(`${file}.new`, "one");
      renameSync(`${file}.new`, file);
    },
    () => rmSync(file),
    () => writeFileSync(file, "four"),
  ];
  for (const edit of edits) {
    const next = changes.next();
    edit();
    await next;
  }
  expect(changes.count()).toBe(edits.length);
});

test("detects a swapped link in the middle of a path (Kubernetes)", async () => {
  const mount = join(folder, "mount");
  mkdirSync(join(mount, "..v1"), { recursive: true });
  mkdirSync(join(mount, "..v2"));
  // Both have the same size and time; only the link's target differs.
  for (const version of ["..v1", "..v2"]) writeFileSync(join(mount, version, "sluice.yaml"), version);
  symlinkSync("..v1", join(mount, "..data"));
  symlinkSync("..data/sluice.yaml", join(mount, "sluice.yaml"));
  const changes = await watching(join(mount, "sluice.yaml"));
  const next = changes.next();
  symlinkSync("..v2", join(mount, "..data_tmp"));
  renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
  await next;
  expect(changes.count()).toBe(1);
});

test("polls an unchanged file rarely, and detects an edit, a rename and another edit by events", async () => {
  const resting = Promise.withResolvers<void>();
  const withoutRest: Clock = {
    ...clock,
    after: (delayMs, act) => {
      if (delayMs !== bounds.configRestMs) return clock.after(delayMs, act);
      resting.resolve();
      return () => undefined;
    },
  };
  let seen = Promise.withResolvers<void>();
  watch = watchConfigFile(file, async () => seen.resolve(), { clock: withoutRest, onError: fail });
  await resting.promise;
  const edits = [
    () => writeFileSync(file, "two"),
    () => {
      writeFileSync(`${file}.new`, "three");
      renameSync(`${file}.new`, file);
    },
    () => writeFileSync(file, "four"),
  ];
  for (const edit of edits) {
    seen = Promise.withResolvers<void>();
    edit();
    await seen.promise;
  }
});

test("runs at once when triggered, and never concurrently", async () => {
  let active = 0;
  let mostActive = 0;
  let runs = 0;
  watch = watchConfigFile(
    file,
    async () => {
      mostActive = Math.max(mostActive, ++active);
      await Promise.resolve();
      active--;
      runs++;
    },
    { clock, onError: fail },
  );
  await Promise.all([watch.trigger(), watch.trigger(), watch.trigger()]);
  expect(runs).toBe(3);
  expect(mostActive).toBe(1);
});

test("reports a failed reload and retries it until it succeeds", async () => {
  const errors: unknown[] = [];
  const done = Promise.withResolvers<void>();
  let runs = 0;
  watch = watchConfigFile(
    file,
    async () => {
      if (++runs < 3) throw new Error("broken");
      done.resolve();
    },
    { clock, onError: (thrown) => errors.push(thrown) },
  );
  await watch.trigger();
  await done.promise;
  expect(errors).toHaveLength(2);
});

test("detects a change between the first load and the start of watching", async () => {
  const state = await fileState(file);
  writeFileSync(file, "another");
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  watch = watchConfigFile(file, async () => resolve(), { clock, onError: fail, state });
  await seen;
});

test("runs nothing after close", async () => {
  let runs = 0;
  watch = watchConfigFile(file, async () => void runs++, { clock, onError: fail });
  await watch.close();
  await watch.trigger();
  expect(runs).toBe(0);
});

interface Changes {
  next(): Promise<void>;
  count(): number;
}

/** Starts watching and waits until the first check is done, which a trigger alone would not show. */
async function watching(path: string): Promise<Changes> {
  let count = 0;
  let wake = (): void => {};
  const firstCheck = Promise.withResolvers<void>();
  const watchClock: Clock = {
    ...clock,
    after: (delayMs, act) => {
      firstCheck.resolve();
      return clock.after(delayMs, act);
    },
  };
  const onChange = async (): Promise<void> => {
    count++;
    wake();
  };
  watch = watchConfigFile(path, onChange, { clock: watchClock, onError: fail });
  await firstCheck.promise;
  return {
    next: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      return promise;
    },
    count: () => count,
  };
}

function fail(thrown: unknown): never {
  throw thrown;
}
