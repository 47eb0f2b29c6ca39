import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * A test waits for what happens, with `until`, and never for time to pass; it asserts no time on the clock either. On a
 * machine that is busy with other work both are wrong. Here stands what tests may not write, and who may, and why.
 */
const forbidden: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["sleeps", /\bBun\.sleep(?:Sync)?\(|(?<!\.)\bsetTimeout\(|timers\/promises|waitForTimeout\(/],
  ["reads the clock to measure", /\bperformance\.now\(|\bprocess\.hrtime|Bun\.nanoseconds\(/],
  ["compares a time with a bound", /Date\.now\(\)[^;\n]*toBeLess|toBeLess[^;\n]*Date\.now\(\)/],
  ["gives something a few seconds", /AbortSignal\.timeout\(\s*\d/],
  // The runtime ends a connection on which nothing came for ten seconds.
  ["has a server that does not wait", /\bBun\.serve\(\{(?!\s*idleTimeout: 0,)/],
  ["has a time limit of its own", /^\s*\},\s*(?:\d+_000|[a-z]\w*Ms),?\s*\);|(?<!\.)\bsetDefaultTimeout\(/m],
];

const allowed: Readonly<Record<string, string>> = {
  "test/until.ts": "the waiting itself",
  "gateway/test/ledger/drain-in-place.ts": "the drain's own waits, where nobody gives it a clock",
  "gateway/test/ledger/append-until-killed.ts": "a process at work that another one ends",
  "gateway/src/storage/drain/drain.test.ts": "nothing is moved while the database is locked, for as long as one likes",
  "gateway/src/upstream/request-body.test.ts": "a reset overtakes the bytes that were written just before it",
  "gateway/test/simulation/task-processes.test.ts": "leases of processes run out by the machine's clock",
  "gateway/test/endpoints/chat/413-request-too-large.test.ts": "a sender that its reader holds back tries again",
  "gateway/test/limits/changed-budgets.test.ts": "a key may ask sixty times a minute what it has used",
  "test/acceptance/hostile-requests.test.ts": "a caller that asks for little rests between its calls",
  "simulator/test/raw-call.ts": "waits that the simulator was told to make took at least as long",
  "simulator/test/ark-tasks.test.ts": "waits that the simulator was told to make took at least as long",
  "bench/src/stream-wheel.test.ts": "events come no earlier than their turn",
  "console/e2e/started-gateway.ts": "a gateway that never starts is ended",
  "console/e2e/populated/all-pages.ts": "a page has come to rest when it looks so twice in a row",
  "test/acceptance/video-kill.ts": "lives, standstills and leases by a clock that runs fast",
  "test/acceptance/video-load.ts": "callers rest between their orders",
  "test/acceptance/kill-loop.ts": "lives between two kills",
  "test/acceptance/kill-load.ts": "callers leave at any moment",
};

const root = join(import.meta.dir, "..", "..");
const folders = [
  "contract/src",
  "gateway/src",
  "gateway/test",
  "simulator",
  "bench/src",
  "console/src",
  "console/e2e",
  "test",
];
const testFolders = /^(?:gateway\/test|simulator\/test|console\/e2e|test)\//;
const files = folders
  .flatMap((folder) => filesIn(join(root, folder)))
  .map((file) => relative(root, file))
  .filter((file) => /\.tsx?$/.test(file) && (/\.test\.tsx?$/.test(file) || testFolders.test(file)))
  // A run of faults against the clock, which `npm test` does not make.
  .filter((file) => !file.startsWith("test/prove/"));

test("no test waits by the clock or asserts a time on it, but for those that say why", () => {
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) => {
    if (file in allowed || file === "gateway/test/patience.test.ts") return [];
    const text = readFileSync(join(root, file), "utf8");
    return forbidden.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${file} ${what}`);
  });
  expect(found).toEqual([]);
});

test("whoever may is still there and still does", () => {
  const idle = Object.keys(allowed).filter((file) => {
    if (!files.includes(file)) return true;
    const text = readFileSync(join(root, file), "utf8");
    return !forbidden.some(([, pattern]) => pattern.test(text));
  });
  expect(idle).toEqual([]);
});

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((entry) => {
    if (entry === "node_modules" || entry === "dist") return [];
    const path = join(folder, entry);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
}
