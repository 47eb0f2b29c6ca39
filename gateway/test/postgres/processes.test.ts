import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "#config/index.ts";
import { bounds, Secret } from "#core/index.ts";
import { openControl } from "../../src/main/control.ts";
import { openProcesses } from "../../src/main/processes.ts";
import { openPostgresGround, type PostgresGround } from "../postgres-ground.ts";
import { onPostgres } from "../postgres-server.ts";

const masterKey = "a-master-key-of-the-installation-0123456789";

/** As `serve` takes its place among the processes of an installation. */
async function openPlaces({ url }: PostgresGround) {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-processes-"));
  const environment = {
    ...readEnvironment({ SLUICE_DATA_DIR: dataDir, SLUICE_MASTER_KEY: masterKey }),
    databaseUrl: new Secret(url),
  };
  const open: (() => Promise<void>)[] = [];
  return {
    async take() {
      const control = await openControl(environment);
      const processes = await openProcesses({ control, version: "1.2.3" });
      const close = async (): Promise<void> => {
        await processes.close();
        await control.close();
      };
      open.push(close);
      return { control, close };
    },
    async [Symbol.asyncDispose]() {
      for (const close of open) await close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

await onPostgres("processes of one installation", () => {
  test("any number is there, each with its version and machine, and gone when it has ended", async () => {
    await using ground = await openPostgresGround();
    await using places = await openPlaces(ground);
    const all = [await places.take(), await places.take(), await places.take()];
    const ids = all.map(({ control }) => control.instanceId);
    const [first] = all;
    if (first === undefined) throw new Error("there are three");
    const seen = await first.control.instances.list();
    expect(seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(seen.every(({ version, isAlive }) => version === "1.2.3" && isAlive)).toBe(true);
    await first.close();
    const left = await all[1]?.control.instances.list();
    expect(left?.map(({ id }) => id)).not.toContain(ids[0]);
  });

  test("their time is the database's, whatever their own clocks say", async () => {
    await using ground = await openPostgresGround();
    await using places = await openPlaces(ground);
    const { control } = await places.take();
    const lease = await control.leases.take("test", control.instanceId, bounds.leaseMs);
    const holder = await control.leases.holder("test");
    expect(lease).not.toBeNull();
    expect(Math.abs(control.clock.now() - (holder?.takenAt ?? 0))).toBeLessThan(60_000);
  });
});
