import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { type ConfigWatch, fileState, watchConfigFile } from "./watch-config-file.ts";

/** A tenth of a second for a second: it looks ten times as often. */
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

test("an edit in place, a rename over the file and its disappearance are each seen", async () => {
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

test("a file reached through links is seen to change when a link in the middle is swapped (Kubernetes)", async () => {
  const mount = join(folder, "mount");
  mkdirSync(join(mount, "..v1"), { recursive: true });
  mkdirSync(join(mount, "..v2"));
  // Same size and time in both: only where the link leads tells them apart.
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

test("a file at rest is not looked at often, and an edit, a rename and an edit after it are seen without such a look", async () => {
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

test("a trigger runs at once without a change, and runs never overlap", async () => {
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

test("a reload that throws is told, and done again until it does not throw, without another change", async () => {
  const told: unknown[] = [];
  const done = Promise.withResolvers<void>();
  let runs = 0;
  watch = watchConfigFile(
    file,
    async () => {
      if (++runs < 3) throw new Error("broken");
      done.resolve();
    },
    { clock, onError: (thrown) => told.push(thrown) },
  );
  await watch.trigger();
  await done.promise;
  expect(told).toHaveLength(2);
});

test("a change between the first reading and the beginning of the watch is seen", async () => {
  const state = await fileState(file);
  writeFileSync(file, "another");
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  watch = watchConfigFile(file, async () => resolve(), { clock, onError: fail, state });
  await seen;
});

test("after closing nothing runs", async () => {
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

/** Starts watching and waits until the first look is done, which a trigger alone would not show. */
async function watching(path: string): Promise<Changes> {
  let count = 0;
  let wake = (): void => {};
  const firstLook = Promise.withResolvers<void>();
  const watchClock: Clock = {
    ...clock,
    after: (delayMs, act) => {
      firstLook.resolve();
      return clock.after(delayMs, act);
    },
  };
  const onChange = async (): Promise<void> => {
    count++;
    wake();
  };
  watch = watchConfigFile(path, onChange, { clock: watchClock, onError: fail });
  await firstLook.promise;
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
