import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RequestTail } from "#admin/index.ts";
import { readEnvironment } from "#config/index.ts";
import { bounds, Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { openControl } from "../../src/main/control.ts";
import { openProcesses } from "../../src/main/processes.ts";
import { ledgerEntry, silentObserver } from "../conformance/store-fixture.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";

const masterKey = "a-master-key-of-the-installation-0123456789";

/** Registers with the installation's processes, as `serve` does. */
async function registerProcess({ url }: PostgresFixture) {
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
      return { control, processes, close };
    },
    async [Symbol.asyncDispose]() {
      for (const close of open) await close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

await onPostgres("processes of one installation", () => {
  test("lists all processes with version and machine, and removes one when it ends", async () => {
    await using fixture = await openPostgresFixture();
    await using places = await registerProcess(fixture);
    const all = [await places.take(), await places.take(), await places.take()];
    const ids = all.map(({ control }) => control.instanceId);
    const [first] = all;
    if (first === undefined) throw new Error("no process was started");
    const seen = await first.control.instances.list();
    expect(seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(seen.every(({ version, isAlive }) => version === "1.2.3" && isAlive)).toBe(true);
    await first.close();
    const left = await all[1]?.control.instances.list();
    expect(left?.map(({ id }) => id)).not.toContain(ids[0]);
  });

  test("uses the database's time, whatever their own clocks show", async () => {
    await using fixture = await openPostgresFixture();
    await using places = await registerProcess(fixture);
    const { control } = await places.take();
    const lease = await control.leases.acquire("test", control.instanceId, bounds.leaseMs);
    const holder = await control.leases.status("test");
    expect(lease).not.toBeNull();
    expect(Math.abs(control.clock.now() - (holder?.takenAt ?? 0))).toBeLessThan(60_000);
  });

  test("a live view in one process shows what ends in every process, and the others stop reporting when it is closed", async () => {
    await using fixture = await openPostgresFixture();
    await using places = await registerProcess(fixture);
    const open = async () => {
      const { control, processes } = await places.take();
      const { broadcast } = processes;
      const tail = new RequestTail({ ...control, configSnapshot: () => quietConfigSnapshot({ models: [] }) });
      tail.share({ broadcast, instanceId: control.instanceId });
      const { attemptEnd } = tail.observe(silentObserver);
      await until(() => broadcast.isUp);
      return { tail, end: (name: string) => attemptEnd(ledgerEntry(name)), isWatched: () => tail.isWatched };
    };
    const [one, two, three] = [await open(), await open(), await open()];
    const leaving = new AbortController();
    const query = {
      workspaceId: "ws_1",
      userId: "usr_1",
      visiblePerson: null,
      stillAllowed: async () => true,
      signal: leaving.signal,
    };
    const view = new Response(one.tail.open(query)).body?.getReader();
    await until(() => two.isWatched() && three.isWatched());
    for (const [name, process] of Object.entries({ one, two, three })) process.end(name);
    let text = "";
    const decoder = new TextDecoder();
    await until(async () => {
      text += decoder.decode((await view?.read())?.value);
      return ["one", "two", "three"].every((name) => text.includes(`id: att_${name}\n`));
    });
    expect(text).not.toContain("event: dropped");
    leaving.abort();
    await until(() => !two.isWatched() && !three.isWatched());
    for (const { tail } of [one, two, three]) tail.close();
  });
});
