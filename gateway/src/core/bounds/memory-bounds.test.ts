import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { memoryBytesDefault, memoryParts } from "./memory-bounds.ts";

const mebibyte = 1024 * 1024;
const root = join(import.meta.dir, "../../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sum = (total: number): number => memoryParts.reduce((bytes, part) => bytes + part.bytes(total), 0);

test("all memory bounds together fit the memory of the machine", () => {
  for (let total = 1024 * mebibyte; total <= 65_536 * mebibyte; total += 512 * mebibyte) {
    expect(sum(total)).toBeLessThanOrEqual(total);
  }
});

test("the shipped deployment files grant the default memory", () => {
  const limits = ["deploy/chart/values.yaml", "deploy/manifests/sluice.yaml"].map(
    (path) => /limits:\s*\{?\s*memory: (\d+)Gi/.exec(read(path))?.[1],
  );
  expect(limits).toEqual(["2", "2"]);
  // The unit and compose set no limit: the gateway takes no more than the machine has (main/machine-memory.test.ts).
  for (const path of ["deploy/sluice.service", "deploy/compose.yaml", "deploy/compose.small.yaml"])
    expect(read(path)).not.toMatch(/MemoryMax|MemoryHigh|mem_limit|memory:/);
  expect(sum(memoryBytesDefault)).toBeLessThanOrEqual(2 * 1024 * mebibyte);
});

test("the documentation shows the table", () => {
  const text = read("docs/operations/capacity.md");
  for (const { name, what, bytes } of memoryParts) {
    expect(text).toContain(`| ${name} | ${Math.round(bytes(memoryBytesDefault) / mebibyte)} MiB | ${what} |`);
  }
});
