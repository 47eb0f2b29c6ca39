import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { version } from "./version.ts";

const root = join(import.meta.dir, "..", "..", "..");
const read = (name: string): string => readFileSync(join(root, name), "utf8");

test("the version that is printed is the one of package.json, which scripts/set-version.mjs writes wherever it stands", () => {
  const { workspaces, version: told } = JSON.parse(read("package.json"));
  expect(version).toBe(told);
  const lock = JSON.parse(read("package-lock.json"));
  expect(lock.version).toBe(told);
  for (const folder of workspaces) {
    expect([folder, JSON.parse(read(`${folder}/package.json`)).version]).toEqual([folder, told]);
    expect([folder, lock.packages[folder].version]).toEqual([folder, told]);
  }
  const chart = parse(read("deploy/chart/Chart.yaml"));
  expect([chart.version, chart.appVersion]).toEqual([told, told]);
});
