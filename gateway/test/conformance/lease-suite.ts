import { describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { createLeadership } from "#coordination/index.ts";
import { leasePollMs } from "#coordination/leases/leadership.ts";
import type { ActiveLease, Lease, Leases } from "#ports/index.ts";
import { createInstances, createLeases } from "#storage/index.ts";
import { instanceAliveMs, instanceKeptMs } from "#storage/leases/leases.ts";
import { until } from "../../../test/until.ts";
import { type StoreFixture, type StoreFixtureFactory, silentObserver } from "./store-fixture.ts";

const minute = 60_000;

/** Guarantees of leases, `Leadership` and the list of processes on every database. */
export function leaseSuite(name: string, make: StoreFixtureFactory): void {
  describe(`leases: ${name}`, () => {
    test("gives a lease to one of ten concurrent processes", async () => {
      await using fixture = await make();
      const leases = createLeases(fixture.database);
      const owners = Array.from({ length: 10 }, (_, n) => `proc_${n}`);
      const leasesTaken = await Promise.all(owners.map((owner) => leases.acquire("prune", owner, minute)));
      const [lease, ...more] = leasesTaken.filter((one) => one !== null);
      expect(more).toEqual([]);
      expect(await leases.status("prune")).toMatchObject({ ...lease, fence: 1 });
      expect(await leases.list()).toHaveLength(1);
      expect(await leases.status("other")).toBeNull();
    });

    test("increases the fence each time the lease is taken, also after a release or an expiry", async () => {
      await using fixture = await make();
      const leases = createLeases(fixture.database);
      const first = await mustTake(leases.acquire("prune", "proc_a", minute));
      const again = await mustTake(leases.acquire("prune", "proc_a", minute));
      await leases.release(again);
      expect(await leases.status("prune")).toBeNull();
      const second = await mustTake(leases.acquire("prune", "proc_b", minute));
      await expire(fixture, "prune");
      const third = await mustTake(leases.acquire("prune", "proc_c", minute));
      expect([first, again, second, third].map(({ fence }) => fence)).toEqual([1, 2, 3, 4]);
    });

    test("neither renews nor releases a lease that expired, was released or was taken again", async () => {
      await using fixture = await make();
      const leases = createLeases(fixture.database);
      const expired = await mustTake(leases.acquire("prune", "proc_a", minute));
      expect(await leases.renew(expired, minute)).toBe(true);
      await expire(fixture, "prune");
      expect(await leases.renew(expired, minute)).toBe(false);
      const next = await mustTake(leases.acquire("prune", "proc_b", minute));
      await leases.release(expired);
      expect(await leases.status("prune")).toMatchObject({ owner: "proc_b" });
      const retaken = await mustTake(leases.acquire("prune", "proc_b", minute));
      expect(await leases.renew(next, minute)).toBe(false);
      await leases.release(retaken);
      expect(await leases.renew(retaken, minute)).toBe(false);
    });

    test("lets any process with the same owner name extend a shared lease, until it expires", async () => {
      await using fixture = await make();
      const leases = createLeases(fixture.database);
      expect(await leases.extend("together", "all", minute)).toBe(false);
      await leases.acquire("together", "all", minute / 4);
      const { fence } = await mustTake(leases.acquire("together", "all", minute / 4));
      expect(await leases.extend("together", "all", minute)).toBe(true);
      const holder = await leases.status("together");
      expect(holder?.fence).toBe(fence);
      expect(holder?.leftMs).toBeGreaterThan(minute / 4);
      expect(await leases.extend("together", "others", minute)).toBe(false);
      await expire(fixture, "together");
      expect(await leases.extend("together", "all", minute)).toBe(false);
    });

    test("uses the database's time, so a wrong clock neither takes a lease early nor keeps it longer", async () => {
      await using fixture = await make();
      const leases = createLeases(fixture.database);
      await leases.acquire("prune", "proc_a", minute);
      fixture.clock.jump(10 * 24 * 60 * minute);
      expect(await leases.acquire("prune", "proc_b", minute)).toBeNull();
      const holder = await leases.status("prune");
      expect(holder?.leftMs).toBeGreaterThan(0);
      expect(holder?.leftMs).toBeLessThanOrEqual(minute);
      expect((holder?.until ?? 0) - (holder?.takenAt ?? 0)).toBeWithin(minute - 1_000, minute + 1_000);
    });

    test("lists processes by id, and treats silent ones as dead", async () => {
      await using fixture = await make();
      const instances = createInstances(fixture.database);
      for (const id of ["proc_a", "proc_b", "proc_c"])
        await instances.report({ id, version: "1.2.3", host: `host of ${id}` });
      const setSilentFor = (id: string, ms: number) =>
        fixture.database.kysely
          .updateTable("instances")
          .set({ seen_at: sql<number>`seen_at - ${ms}` })
          .where("id", "=", id)
          .execute();
      await setSilentFor("proc_b", instanceAliveMs);
      await instances.leave("proc_c");
      expect(await instances.list()).toMatchObject([
        { id: "proc_a", version: "1.2.3", host: "host of proc_a", isAlive: true, journalLag: null },
        { id: "proc_b", isAlive: false },
      ]);
      const alive = ["proc_a", "proc_b", "proc_c"].map((id) => instances.isAlive(id));
      expect(await Promise.all(alive)).toEqual([true, false, false]);
      await setSilentFor("proc_b", instanceKeptMs);
      await instances.report({ id: "proc_a", version: "1.2.3", host: "host of proc_a" }, 17);
      expect((await instances.list()).map(({ id }) => id)).toEqual(["proc_a", "proc_b"]);
      // The first of several reports of a process deletes old processes.
      const report = createInstances(fixture.database).report;
      for (let n = 0; n < 2; n++) await report({ id: "proc_a", version: "1.2.3", host: "host of proc_a" }, 17);
      expect(await instances.list()).toMatchObject([{ id: "proc_a", journalLag: 17 }]);
      expect((await instances.list()).map(({ id }) => id)).toEqual(["proc_a"]);
    });

    test("runs work in one process, and in another one as soon as the first gives it up", async () => {
      await using fixture = await make();
      const started: ActiveLease[] = [];
      const work = async (lease: ActiveLease): Promise<void> => {
        started.push(lease);
        await aborted(lease.signal);
      };
      let answers = 0;
      const leases = createLeases(fixture.database);
      const counted: Leases = {
        ...leases,
        acquire: (...leaseArguments) => leases.acquire(...leaseArguments).finally(() => answers++),
      };
      const processes = ["proc_a", "proc_b"].map((owner) =>
        createLeadership({ leases: counted, owner, clock: fixture.clock, observer: silentObserver }),
      );
      const leads = processes.map((leadership) => leadership.lead("poll", work));
      await until(() => started.length === 1 && answers === 2);
      expect(leads.filter((lead) => lead.isLeading)).toHaveLength(1);
      const leader = leads.findIndex((lead) => lead.isLeading);
      await processes[leader]?.close();
      expect(started[0]?.signal.aborted).toBe(true);
      // The only pending timer is the next attempt of the other process.
      await until(() => fixture.clock.pending === 1);
      fixture.clock.advance(leasePollMs);
      await until(() => started.length === 2);
      expect(started[1]?.owner).not.toBe(started[0]?.owner);
      await Promise.all(processes.map((leadership) => leadership.close()));
      expect(await leases.list()).toEqual([]);
      expect(fixture.clock.pending).toBe(0);
    });
  });
}

/** Expires a lease on the database's clock. */
async function expire({ database }: StoreFixture, name: string): Promise<void> {
  await database.kysely
    .updateTable("leases")
    .set({ until: sql<number>`until - ${minute}` })
    .where("name", "=", name)
    .execute();
}

async function mustTake(lease: Promise<Lease | null>): Promise<Lease> {
  const one = await lease;
  if (one === null) throw new Error("another has it");
  return one;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
