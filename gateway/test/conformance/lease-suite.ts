import { describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { createLeadership } from "#coordination/index.ts";
import { leasePollMs } from "#coordination/leases/leadership.ts";
import type { HeldLease, Lease, Leases } from "#ports/index.ts";
import { createInstances, createLeases } from "#storage/index.ts";
import { instanceAliveMs, instanceKeptMs } from "#storage/leases/leases.ts";
import { until } from "../../../test/until.ts";
import { type StoreGround, type StoreGroundFactory, silentObserver } from "./store-ground.ts";

const minute = 60_000;

/** What leases, `Leadership` and the list of processes guarantee on every database. */
export function leaseSuite(name: string, make: StoreGroundFactory): void {
  describe(`leases: ${name}`, () => {
    test("of ten who take at once one gets the lease, and the others are told who has it", async () => {
      await using ground = await make();
      const leases = createLeases(ground.database);
      const owners = Array.from({ length: 10 }, (_, n) => `proc_${n}`);
      const taken = await Promise.all(owners.map((owner) => leases.take("prune", owner, minute)));
      const [lease, ...more] = taken.filter((one) => one !== null);
      expect(more).toEqual([]);
      expect(await leases.holder("prune")).toMatchObject({ ...lease, fence: 1 });
      expect(await leases.held()).toHaveLength(1);
      expect(await leases.holder("other")).toBeNull();
    });

    test("the fence grows with each taking, by whomever, also after a release and after a lapse", async () => {
      await using ground = await make();
      const leases = createLeases(ground.database);
      const first = await taken(leases.take("prune", "proc_a", minute));
      const again = await taken(leases.take("prune", "proc_a", minute));
      await leases.release(again);
      expect(await leases.holder("prune")).toBeNull();
      const second = await taken(leases.take("prune", "proc_b", minute));
      await lapse(ground, "prune");
      const third = await taken(leases.take("prune", "proc_c", minute));
      expect([first, again, second, third].map(({ fence }) => fence)).toEqual([1, 2, 3, 4]);
    });

    test("a lease that lapsed, was released, or was taken anew is neither renewed nor released by its old holder", async () => {
      await using ground = await make();
      const leases = createLeases(ground.database);
      const lapsed = await taken(leases.take("prune", "proc_a", minute));
      expect(await leases.renew(lapsed, minute)).toBe(true);
      await lapse(ground, "prune");
      expect(await leases.renew(lapsed, minute)).toBe(false);
      const next = await taken(leases.take("prune", "proc_b", minute));
      await leases.release(lapsed);
      expect(await leases.holder("prune")).toMatchObject({ owner: "proc_b" });
      const anew = await taken(leases.take("prune", "proc_b", minute));
      expect(await leases.renew(next, minute)).toBe(false);
      await leases.release(anew);
      expect(await leases.renew(anew, minute)).toBe(false);
    });

    test("a lease of several under one name is kept alive by each of them, and by nobody once it has lapsed", async () => {
      await using ground = await make();
      const leases = createLeases(ground.database);
      expect(await leases.extend("together", "all", minute)).toBe(false);
      await leases.take("together", "all", minute / 4);
      const { fence } = await taken(leases.take("together", "all", minute / 4));
      expect(await leases.extend("together", "all", minute)).toBe(true);
      const holder = await leases.holder("together");
      expect(holder?.fence).toBe(fence);
      expect(holder?.leftMs).toBeGreaterThan(minute / 4);
      expect(await leases.extend("together", "others", minute)).toBe(false);
      await lapse(ground, "together");
      expect(await leases.extend("together", "all", minute)).toBe(false);
    });

    test("its time is the database's: a replica whose clock is days off neither takes early nor holds longer", async () => {
      await using ground = await make();
      const leases = createLeases(ground.database);
      await leases.take("prune", "proc_a", minute);
      ground.clock.jump(10 * 24 * 60 * minute);
      expect(await leases.take("prune", "proc_b", minute)).toBeNull();
      const holder = await leases.holder("prune");
      expect(holder?.leftMs).toBeGreaterThan(0);
      expect(holder?.leftMs).toBeLessThanOrEqual(minute);
      expect((holder?.until ?? 0) - (holder?.takenAt ?? 0)).toBeWithin(minute - 1_000, minute + 1_000);
    });

    test("processes are told apart by their ids, and those that are silent are taken for dead", async () => {
      await using ground = await make();
      const instances = createInstances(ground.database);
      for (const id of ["proc_a", "proc_b", "proc_c"])
        await instances.report({ id, version: "1.2.3", host: `host of ${id}` });
      const silent = (id: string, ms: number) =>
        ground.database.kysely
          .updateTable("instances")
          .set({ seen_at: sql<number>`seen_at - ${ms}` })
          .where("id", "=", id)
          .execute();
      await silent("proc_b", instanceAliveMs);
      await instances.leave("proc_c");
      expect(await instances.list()).toMatchObject([
        { id: "proc_a", version: "1.2.3", host: "host of proc_a", isAlive: true, journalLag: null },
        { id: "proc_b", isAlive: false },
      ]);
      const alive = ["proc_a", "proc_b", "proc_c"].map((id) => instances.isAlive(id));
      expect(await Promise.all(alive)).toEqual([true, false, false]);
      await silent("proc_b", instanceKeptMs);
      await instances.report({ id: "proc_a", version: "1.2.3", host: "host of proc_a" }, 17);
      expect((await instances.list()).map(({ id }) => id)).toEqual(["proc_a", "proc_b"]);
      // Of many tellings of a process one tidies, the first among them.
      const tell = createInstances(ground.database).report;
      for (let n = 0; n < 2; n++) await tell({ id: "proc_a", version: "1.2.3", host: "host of proc_a" }, 17);
      expect(await instances.list()).toMatchObject([{ id: "proc_a", journalLag: 17 }]);
      expect((await instances.list()).map(({ id }) => id)).toEqual(["proc_a"]);
    });

    test("work that is led runs in one process, and in another as soon as that one gives it up", async () => {
      await using ground = await make();
      const begun: HeldLease[] = [];
      const work = async (lease: HeldLease): Promise<void> => {
        begun.push(lease);
        await aborted(lease.signal);
      };
      let answers = 0;
      const leases = createLeases(ground.database);
      const counted: Leases = { ...leases, take: (...asked) => leases.take(...asked).finally(() => answers++) };
      const processes = ["proc_a", "proc_b"].map((owner) =>
        createLeadership({ leases: counted, owner, clock: ground.clock, observer: silentObserver }),
      );
      const leads = processes.map((leadership) => leadership.lead("poll", work));
      await until(() => begun.length === 1 && answers === 2);
      expect(leads.filter((lead) => lead.isLeading)).toHaveLength(1);
      const leader = leads.findIndex((lead) => lead.isLeading);
      await processes[leader]?.close();
      expect(begun[0]?.signal.aborted).toBe(true);
      // All that is booked now is the other one's next look.
      await until(() => ground.clock.pending === 1);
      ground.clock.advance(leasePollMs);
      await until(() => begun.length === 2);
      expect(begun[1]?.owner).not.toBe(begun[0]?.owner);
      await Promise.all(processes.map((leadership) => leadership.close()));
      expect(await leases.held()).toEqual([]);
      expect(ground.clock.pending).toBe(0);
    });
  });
}

/** As if the time of the lease had passed on the database's clock. */
async function lapse({ database }: StoreGround, name: string): Promise<void> {
  await database.kysely
    .updateTable("leases")
    .set({ until: sql<number>`until - ${minute}` })
    .where("name", "=", name)
    .execute();
}

async function taken(lease: Promise<Lease | null>): Promise<Lease> {
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
