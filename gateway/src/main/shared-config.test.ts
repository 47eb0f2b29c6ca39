import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLeadership } from "#coordination/index.ts";
import { until } from "../../../test/until.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import type { Control } from "./control.ts";
import type { Processes } from "./processes.ts";
import { sharedConfig } from "./shared-config.ts";

test("a process that ends while it applies the config file ends when that is done", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-shared-config-"));
  const file = join(folder, "sluice.json");
  writeFileSync(file, "{}");
  const clock = new FakeClock();
  const { promise: applying, resolve: begins } = Promise.withResolvers<void>();
  const { promise: applied, resolve: finish } = Promise.withResolvers<void>();
  const leases = {
    take: async (name: string, owner: string) => ({ name, owner, fence: 1 }),
    renew: async () => true,
    extend: async () => true,
    release: async () => undefined,
    holder: async () => null,
    held: async () => [],
  };
  const leadership = createLeadership({ leases, owner: "proc_a", clock, observer: { log: () => undefined } });
  const control = {
    clock,
    leases,
    instanceId: "proc_a",
    database: { flavour: { name: "postgres" } },
    vault: { digest: () => "digest" },
    facts: { read: async () => null, write: async () => undefined },
    controlStore: {
      apply: async () => {
        begins();
        await applied;
        return [];
      },
    },
  } as unknown as Control;
  const processes = { leadership } as unknown as Processes;
  try {
    const started = sharedConfig({ file, variables: {}, control, processes })?.start();
    await applying;
    let over = false;
    const closed = leadership.close().then(() => {
      over = true;
    });
    finish();
    await started;
    await until(() => over);
    await expect(closed).resolves.toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
