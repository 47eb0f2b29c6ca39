import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "#core/index.ts";
import { openJournalDirectory, readJournal } from "#storage/index.ts";
import { systemClock } from "#system/index.ts";
import { until } from "../../../test/until.ts";
import { noDrain } from "./drain-in-place.ts";
import { EagerJournal } from "./eager-journal.ts";
import { attemptIdOf, intentOf, listeningObserver, recordsOf, settlementOf } from "./history.ts";

/*
 * Uses a real 2 MiB file system. Mounting one requires a privilege that a developer's machine or a container may
 * not have; the unit tests of the journal cover the same behavior with a fake full disk.
 */
const mountPoint = mkdtempSync(join(tmpdir(), "sluice-small-disk-"));
const mounted = process.platform === "linux" && run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", mountPoint);

beforeAll(() => {
  if (!mounted) console.log("skipped: a small file system cannot be mounted here");
});
afterAll(() => {
  if (mounted) run("umount", "-l", mountPoint);
  rmSync(mountPoint, { recursive: true, force: true });
});

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

test.skipIf(!mounted)(
  "on a full disk no new attempt begins, begun ones are settled, and free space resumes work",
  async () => {
    const path = join(mountPoint, "journal");
    const observer = listeningObserver();
    const journal = new EagerJournal({
      directory: openJournalDirectory(path),
      durability: "disk",
      drain: noDrain(),
      clock: systemClock,
      observer,
      onFatal: (error) => {
        throw error;
      },
      segmentBytes: 300_000,
    });
    const filler = join(mountPoint, "filler");
    writeFileSync(filler, Buffer.alloc(1_300_000));
    const begun: number[] = [];
    let refusal: unknown = null;
    for (let n = 1; refusal === null && n < 10_000; n++) {
      try {
        begun.push(n);
        journal.intent(intentOf(n));
      } catch (error) {
        refusal = error;
      }
    }
    expect(refusal).toBeInstanceOf(Failure);
    expect(journal.healthy).toBe(false);
    for (const n of begun) journal.settle(settlementOf(n));
    // The last intent waits in memory: its request is not sent.
    expect(await recordsOf(readJournal(path))).toEqual(begun.slice(0, -1).map((n) => `intent ${attemptIdOf(n)}`));

    rmSync(filler);
    await until(() => journal.healthy);
    journal.intent(intentOf(20_000));
    await journal.synced();
    const leftovers = readJournal(path);
    expect(await recordsOf(leftovers)).toEqual([
      ...begun.map((n) => `intent ${attemptIdOf(n)}`),
      ...begun.map((n) => `settle ${attemptIdOf(n)}`),
      `intent ${attemptIdOf(20_000)}`,
    ]);
    expect(leftovers.damage).toEqual([]);
    await journal.close(1_000);
  },
);
