import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { ActiveLease, Leases } from "#ports/index.ts";
import { createLeases, migrate, openDatabase } from "#storage/index.ts";
import { until } from "../../../../test/until.ts";
import { silentObserver } from "../../../test/conformance/store-fixture.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { createLeadership, createSoleLeadership, leaseAnswerMs, leaseMarginMs } from "./leadership.ts";

async function openFixture(change: (leases: Leases) => Leases = (leases) => leases) {
  const database = openDatabase({ path: ":memory:" });
  await migrate(database);
  const clock = new FakeClock();
  const leases = createLeases(database);
  const leadership = createLeadership({ leases: change(leases), owner: "proc_a", clock, observer: silentObserver });
  return { database, clock, leases, leadership };
}

/** Work that ends when its signal is aborted, and the leases that it got. */
function work() {
  const begun: ActiveLease[] = [];
  const run = async (lease: ActiveLease): Promise<string> => {
    begun.push(lease);
    await new Promise<void>((resolve) => {
      lease.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    return "ended";
  };
  return { begun, run };
}

test("renews a lease at each third of its time while its work runs", async () => {
  let renewals = 0;
  const { clock, leadership, leases } = await openFixture((inner) => ({
    ...inner,
    renew: async (lease, leaseMs) => {
      const isRenewed = await inner.renew(lease, leaseMs);
      renewals++;
      return isRenewed;
    },
  }));
  const { begun, run } = work();
  const done = leadership.once("prune", run);
  await until(() => begun.length === 1);
  for (let third = 1; third <= 9; third++) {
    clock.advance(bounds.leaseMs / 3);
    await until(() => renewals === third);
  }
  expect(begun[0]?.isHeld).toBe(true);
  await leadership.close();
  expect(await done).toEqual({ result: "ended" });
  expect(await leases.list()).toEqual([]);
  expect(clock.pending).toBe(0);
});

test.each([
  ["rejects", () => Promise.reject(new Error("the database is gone"))],
  ["is silent", () => new Promise<never>(() => undefined)],
])("a database that %s ends the work before it would give the lease to another", async (_, renew) => {
  const { clock, leadership } = await openFixture((inner) => ({ ...inner, renew }));
  const { begun, run } = work();
  const done = leadership.once("prune", run);
  await until(() => begun.length === 1);
  clock.advance(bounds.leaseMs - leaseMarginMs - 1);
  expect(begun[0]?.signal.aborted).toBe(false);
  clock.advance(1);
  expect(begun[0]?.signal.aborted).toBe(true);
  expect(String(begun[0]?.signal.reason)).toContain("The lease prune is no longer held");
  expect(await done).toEqual({ result: "ended" });
});

test("a process that was suspended notices the end of its lease before any timer runs", async () => {
  let nowMs = 0;
  const { clock } = await openFixture();
  // Time has passed, but no timer has fired.
  const stopped = { now: () => clock.now(), monotonic: () => nowMs, after: () => () => undefined };
  const { leases } = await openFixture();
  const leadership = createLeadership({ leases, owner: "proc_a", clock: stopped, observer: silentObserver });
  const held = await leadership.once("prune", async (lease) => {
    const before = lease.isHeld;
    nowMs += bounds.leaseMs;
    return [before, lease.isHeld, lease.signal.aborted];
  });
  expect(held).toEqual({ result: [true, false, true] });
});

test("work ends at the next renewal after another process took the lease", async () => {
  const { clock, leadership, database } = await openFixture();
  const { begun, run } = work();
  const done = leadership.once("prune", run);
  await until(() => begun.length === 1);
  await database.kysely.updateTable("leases").set({ owner: "proc_b", fence: 2 }).execute();
  clock.advance(bounds.leaseMs / 3);
  expect(await done).toEqual({ result: "ended" });
  // The other process's lease is not released.
  const { owner } = await database.kysely.selectFrom("leases").select("owner").executeTakeFirstOrThrow();
  expect(owner).toBe("proc_b");
});

test("once does nothing while another process has the lease, and releases the lease when work fails", async () => {
  const { leadership, leases } = await openFixture();
  await leases.acquire("prune", "proc_b", 60_000);
  expect(await leadership.once("prune", async () => "done")).toBeNull();
  const failed = leadership.once("notices", () => Promise.reject(new Error("broken")));
  await expect(failed).rejects.toThrow("broken");
  expect(await leases.status("notices")).toBeNull();
});

test("releases a lease if the answer arrives after the timeout", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { clock, leadership, leases } = await openFixture((inner) => ({
    ...inner,
    acquire: async (...request) => {
      const lease = await inner.acquire(...request);
      await answered;
      return lease;
    },
  }));
  const done = leadership.once("prune", async () => "done").catch((error: unknown) => String(error));
  await until(async () => (await leases.status("prune")) !== null);
  clock.advance(leaseAnswerMs);
  expect(await done).toContain("did not answer");
  answer();
  await until(async () => (await leases.status("prune")) === null);
});

test("restarts failed work after a delay", async () => {
  const { clock, leadership, leases } = await openFixture();
  let begun = 0;
  leadership.lead("poll", async () => {
    begun++;
    throw new Error("broken");
  });
  const rested = async () => (await leases.status("poll")) === null && clock.pending === 1;
  await until(async () => begun === 1 && (await rested()));
  clock.advance(bounds.leaseRestMs);
  await until(async () => begun === 2 && (await rested()));
  await leadership.close();
  expect(clock.pending).toBe(0);
});

test("createSoleLeadership leads everything, and does work of one name once at a time", async () => {
  const clock = new FakeClock();
  const leadership = createSoleLeadership({ owner: "proc_a", clock, observer: silentObserver });
  const { begun, run } = work();
  const lead = leadership.lead("poll", async (lease) => void (await run(lease)));
  await until(() => begun.length === 1);
  expect(lead.isLeading).toBe(true);
  expect(await leadership.once("poll", async () => "twice")).toBeNull();
  expect(await leadership.once("prune", async ({ fence }) => fence)).toEqual({ result: 2 });
  await leadership.close();
  expect(begun[0]?.signal.aborted).toBe(true);
  expect(await leadership.once("prune", async () => "late")).toBeNull();
  expect(clock.pending).toBe(0);
});
