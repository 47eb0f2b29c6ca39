import { expect, test } from "bun:test";
import { patienceMs } from "../../test/until.ts";
import { startChild } from "./child.ts";
import { until } from "./deadline.ts";
import { processTree, treeCpuMs, treeMemory } from "./process-tree.ts";

const onLinux = process.platform === "linux";

test.skipIf(!onLinux)("counts the CPU time of descendants, and stops them with their ancestor", async () => {
  const burn = "while :; do :; done";
  const child = startChild({ command: ["/bin/sh", "-c", `/bin/sh -c '${burn}' & echo started; wait`], cores: [] });
  expect(await child.line()).toBe("started");
  const family = processTree(child.pid);
  expect(family.length).toBeGreaterThanOrEqual(2);
  expect(treeMemory(child.pid).residentKb).toBeGreaterThan(0);
  await until(() => treeCpuMs(child.pid) >= 30, patienceMs, "what it burns");
  await child.stop();
  // A killed process keeps its pid until its parent reads its status, but no longer runs a command.
  const command = (pid: number) =>
    Bun.file(`/proc/${pid}/cmdline`)
      .text()
      .catch(() => "");
  for (const pid of family) await until(async () => (await command(pid)) === "", patienceMs, `the end of ${pid}`);
});
