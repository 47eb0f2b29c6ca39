import { expect, test } from "bun:test";
import { memoryBytesDefault } from "#core/index.ts";
import { connectionsWith, machineMemory } from "./machine-memory.ts";

test("connections leave open files for the process itself", () => {
  expect([1_024, 20_000, 65_536].map(connectionsWith)).toEqual([256, 5_898, 21_077]);
  expect(connectionsWith(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  for (let descriptors = 64; descriptors <= 1_048_576; descriptors *= 2) {
    expect(3 * connectionsWith(descriptors)).toBeLessThanOrEqual(descriptors);
  }
});

const gibibyte = 1024 ** 3;
const none = "9223372036854771712\n";

test.each<[string, Record<string, string>, number]>([
  ["a limit of the second version", { "/proc/self/cgroup": "0::/a/b\n", "a/b/memory.max": `${3 * gibibyte}\n` }, 3],
  [
    "the smallest of the second version's, above it or below",
    {
      "/proc/self/cgroup": "0::/a/b\n",
      "memory.max": "max\n",
      "a/memory.max": `${gibibyte}\n`,
      "a/b/memory.max": `${4 * gibibyte}\n`,
    },
    1,
  ],
  ["no limit of the second version", { "/proc/self/cgroup": "0::/a\n", "a/memory.max": "max\n" }, 2],
  [
    "a limit of the first version",
    { "/proc/self/cgroup": "11:cpu:/x\n9:memory:/a\n", "memory/a/memory.limit_in_bytes": `${gibibyte}\n` },
    1,
  ],
  [
    "a limit of the first version in a container that sees no more than its own cgroup",
    { "/proc/self/cgroup": "9:memory:/docker/c0\n", "memory/memory.limit_in_bytes": `${gibibyte}\n` },
    1,
  ],
  [
    "no limit of the first version",
    {
      "/proc/self/cgroup": "9:memory:/a\n",
      "memory/a/memory.limit_in_bytes": none,
      "memory/memory.limit_in_bytes": none,
    },
    2,
  ],
  ["no cgroups", {}, 2],
  ["a limit below what the gateway needs", { "/proc/self/cgroup": "0::/\n", "memory.max": "1048576\n" }, 0.5],
])("with %s the gateway uses this much of a large machine", (_, files, gibibytes) => {
  const read = (file: string) => files[file.replace("/sys/fs/cgroup/", "")] ?? "";
  expect(machineMemory(read, 64 * gibibyte)).toBe(gibibytes * gibibyte);
});

test("uses no more memory than the machine or its limit has", () => {
  expect(memoryBytesDefault).toBe(2 * gibibyte);
  expect(machineMemory(() => "", gibibyte)).toBe(gibibyte);
  const limited = (file: string) => (file === "/sys/fs/cgroup/memory.max" ? String(4 * gibibyte) : "");
  expect(machineMemory(limited, gibibyte)).toBe(gibibyte);
});
