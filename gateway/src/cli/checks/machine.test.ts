import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { machineCheck } from "./machine.ts";

type Fixture = Parameters<typeof machineCheck>[0];

test.skipIf(!existsSync("/proc/self/limits"))(
  "how many files may be open is known without a shell, as in the gateway's own image (Linux)",
  async () => {
    const before = process.env["PATH"] ?? "";
    process.env["PATH"] = "/nonexistent";
    try {
      const findings = await machineCheck({ clock: { now: () => Date.UTC(2027, 0, 1) } } as Fixture);
      const found = findings.find(({ check }) => check === "open files");
      expect(found?.detail).toMatch(/^at most (?:\d+|unlimited); /);
    } finally {
      process.env["PATH"] = before;
    }
  },
);
