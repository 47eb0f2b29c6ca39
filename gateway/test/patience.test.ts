import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/**
 * Tests wait for events with `until`, never for time to pass, and assert no elapsed time: both fail on a
 * busy machine. This lists the forbidden patterns and the exceptions with their reasons.
 */
const forbidden: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["sleeps", /\bBun\.sleep(?:Sync)?\(|(?<!\.)\bsetTimeout\(|timers\/promises|waitForTimeout\(/],
  ["reads the clock to measure", /\bperformance\.now\(|\bprocess\.hrtime|Bun\.nanoseconds\(/],
  ["compares a time with a bound", /Date\.now\(\)[^;\n]*toBeLess|toBeLess[^;\n]*Date\.now\(\)/],
  ["uses a timeout of a few seconds", /AbortSignal\.timeout\(\s*\d/],
  // The runtime ends a connection after ten seconds without data.
  ["has a server with an idle timeout", /\bBun\.serve\(\{(?!\s*idleTimeout: 0,)/],
  ["has a custom time limit", /^\s*\},\s*(?:\d+_000|[a-z]\w*Ms),?\s*\);|(?<!\.)\bsetDefaultTimeout\(/m],
];

const allowed: Readonly<Record<string, string>> = {
  "test/until.ts": "the waiting itself",
  "gateway/test/ledger/drain-in-place.ts": "the drain's own delays, unless it gets a clock",
  "gateway/test/ledger/append-until-killed.ts": "a process that works until another one kills it",
  "gateway/src/storage/drain/drain.test.ts": "nothing is stored while the database is locked, however long",
  "gateway/src/upstream/request-body.test.ts": "a reset overtakes the bytes that were written just before it",
  "gateway/test/simulation/task-processes.test.ts": "leases of processes run out by the machine's clock",
  "gateway/test/endpoints/chat/413-request-too-large.test.ts": "a sender with backpressure tries again",
  "gateway/test/limits/changed-budgets.test.ts": "a key may request its usage sixty times a minute",
  "test/acceptance/hostile-requests.test.ts": "a caller of small requests pauses between its calls",
  "simulator/test/raw-call.ts": "scripted delays of the simulator take at least as long",
  "simulator/test/ark-tasks.test.ts": "scripted delays of the simulator take at least as long",
  "bench/src/stream-wheel.test.ts": "events arrive no earlier than scheduled",
  "console/e2e/started-gateway.ts": "a gateway that never starts is killed",
  "console/e2e/budget.test.ts": "only scripts requested before the heading count",
  "console/e2e/populated/all-pages.ts": "a page is stable when it is the same twice in a row",
  "test/acceptance/video-kill.ts": "lifetimes, pauses and leases by a fast clock",
  "test/acceptance/video-load.ts": "callers pause between their orders",
  "test/acceptance/kill-loop.ts": "uptime between two kills",
  "test/acceptance/kill-load.ts": "callers disconnect at any moment",
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
  // A load test with faults in real time, which `npm test` does not run.
  .filter((file) => !file.startsWith("test/prove/"));

test("no test waits for time to pass or asserts an elapsed time, except for the listed ones", () => {
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((file) => {
    if (file in allowed || file === "gateway/test/patience.test.ts") return [];
    const text = readFileSync(join(root, file), "utf8");
    return forbidden.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${file} ${what}`);
  });
  expect(found).toEqual([]);
});

test("every listed exception exists and is still needed", () => {
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
