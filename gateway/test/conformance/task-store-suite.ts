import { describe, expect, test } from "bun:test";
import { Failure, finalTaskStates, type TaskState } from "#core/index.ts";
import { createTaskStore, type LeasedTask } from "#tasks/index.ts";
import { taskEventsMax } from "#tasks/store/task-writes.ts";
import { ledgerEntry, newYear, wholeText } from "./store-fixture.ts";
import {
  account,
  accountSecret,
  fullTask,
  only,
  settingsSecret,
  type TaskFixture,
  type TaskFixtureFactory,
  task,
} from "./task-fixture.ts";

/** Guarantees of every implementation of the port `TaskStore` until a task ends. task-end-suite.ts covers its end. */
export function taskStoreSuite(name: string, make: TaskFixtureFactory): void {
  describe(`task store: ${name}`, () => {
    createTests(make);
    leaseTests(make);
    stepTests(make);
  });
}

const minute = 60_000;

function createTests(make: TaskFixtureFactory): void {
  test("returns a task unchanged, and only to its workspace", async () => {
    await using fixture = await make();
    const { taskStore } = fixture;
    expect(await taskStore.create(fullTask)).toEqual({ task: fullTask, created: true });
    expect(await taskStore.find("ws_1", fullTask.id)).toEqual(fullTask);
    expect(await taskStore.findById(fullTask.id)).toEqual(fullTask);
    expect(await taskStore.find("ws_2", fullTask.id)).toBeNull();
    expect(await taskStore.findById("vt_none")).toBeNull();
    expect(await taskStore.events(fullTask.id)).toEqual([
      { taskId: fullTask.id, at: newYear, state: "running", detail: "" },
    ]);
  });

  test("reports a task as not stored when it failed before the commit, and as unknown when the commit was not confirmed", async () => {
    await using fixture = await make();
    const { database, vault } = fixture;
    const failure = new Failure("storage_unavailable", "The connection was lost.");
    const createFailing = (when: "before the commit" | "after it", name: string) => {
      const execute = async (work: (transaction: unknown) => Promise<unknown>): Promise<never> => {
        await database.kysely.transaction().execute(async (real) => {
          if (when === "before the commit") throw failure;
          await work(real);
        });
        throw failure;
      };
      const kysely = new Proxy(database.kysely, {
        get(target, member) {
          if (member === "transaction") return () => ({ execute });
          const value: unknown = Reflect.get(target, member, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      const failingStore = createTaskStore({ database: { ...database, kysely }, vault });
      return failingStore.create(task(name)).catch((thrown: unknown) => thrown);
    };
    expect(await createFailing("before the commit", "lost")).toMatchObject({ arrival: "unsent" });
    expect(await createFailing("after it", "stored")).toMatchObject({ arrival: "unknown" });
    expect(await fixture.taskStore.findById("vt_lost")).toBeNull();
    expect(await fixture.taskStore.findById("vt_stored")).not.toBeNull();
  });

  test("encrypts the account's secrets, separately for each task", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a", { account }));
    await fixture.taskStore.create(task("b"));
    const leased = await mustLease(fixture, "b");
    await fixture.taskStore.step(leased, { account }, newYear, true);
    const text = await wholeText(fixture.database);
    expect(text).not.toContain(accountSecret);
    expect(text).not.toContain(settingsSecret);
    expect((await fixture.taskStore.findById("vt_b"))?.account).toEqual(account);
    const { sealed_account } = await fixture.database.kysely
      .selectFrom("tasks")
      .select("sealed_account")
      .where("id", "=", "vt_a")
      .executeTakeFirstOrThrow();
    await fixture.database.kysely.updateTable("tasks").set({ sealed_account }).where("id", "=", "vt_b").execute();
    await expect(fixture.taskStore.findById("vt_b")).rejects.toThrow("cannot be opened");
  });

  test("stores one task per workspace and idempotency key, for any number of concurrent calls", async () => {
    await using fixture = await make();
    const tasks = Array.from({ length: 20 }, (_, n) =>
      task(`${n}`, { idempotencyKey: "once", workspaceId: `ws_${n % 2}`, request: `{"n":${n}}` }),
    );
    const answers = await Promise.all(tasks.map((one) => fixture.taskStore.create(one)));
    const created = answers.filter((answer) => answer.created).map((answer) => answer.task);
    expect(created.map((one) => one.workspaceId).toSorted()).toEqual(["ws_0", "ws_1"]);
    for (const [n, answer] of answers.entries()) {
      const own = only(created.filter((one) => one.workspaceId === `ws_${n % 2}`));
      expect(answer.task).toEqual(own);
      expect(await fixture.taskStore.events(`vt_${n}`)).toHaveLength(answer.created ? 1 : 0);
    }
    const others = [task("x"), task("y")].map((one) => fixture.taskStore.create(one));
    expect((await Promise.all(others)).map((answer) => answer.created)).toEqual([true, true]);
  });

  test("stores nothing of a task that cannot be stored", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    await expect(fixture.taskStore.create(task("a", { request: "other" }))).rejects.toThrow();
    await expect(fixture.taskStore.create(task("b", { deadlineAt: Number.NaN }))).rejects.toThrow();
    expect((await fixture.taskStore.findById("vt_a"))?.request).toBe(task("a").request);
    expect(await fixture.taskStore.findById("vt_b")).toBeNull();
    expect(await fixture.taskStore.events("vt_b")).toEqual([]);
    expect(await fixture.taskStore.create(task("b"))).toMatchObject({ created: true });
  });

  test("finds tasks by their upstream ids", async () => {
    await using fixture = await make();
    for (let n = 0; n < 150; n++) await fixture.taskStore.create(task(`${n}`, { upstreamId: `up_${n}`, account }));
    const upstreamIds = Array.from({ length: 300 }, (_, n) => `up_${n + 75}`);
    const found = (await fixture.taskStore.withUpstreamIds?.([...upstreamIds, ...upstreamIds])) ?? [];
    expect(found.map((one) => one.upstreamId).toSorted()).toEqual(upstreamIds.slice(0, 75).toSorted());
    expect(found.every((one) => one.taskId === one.upstreamId.replace("up", "vt"))).toBe(true);
    expect(new Set(found.map((one) => one.providerId))).toEqual(new Set(["ark-main"]));
    expect(await fixture.taskStore.withUpstreamIds?.([])).toEqual([]);
  });
}

/** Leases the task, or throws. */
async function mustLease(fixture: TaskFixture, name: string, now = newYear): Promise<LeasedTask> {
  const leased = await fixture.taskStore.leaseOne(`vt_${name}`, now, minute);
  if (leased === null) throw new Error(`${name} cannot be leased`);
  return leased;
}

function leaseTests(make: TaskFixtureFactory): void {
  test("leases due tasks oldest first, up to the limit", async () => {
    await using fixture = await make();
    const dueAts = [newYear + 3, newYear - 5, newYear, newYear + 1, newYear - 5, null];
    for (const [n, dueAt] of dueAts.entries()) await fixture.taskStore.create(task(`${n}`, { dueAt }));
    const ids = (leased: readonly LeasedTask[]) => leased.map((one) => one.task.id);
    expect(await fixture.taskStore.nextDue(newYear)).toBe(newYear - 5);
    const first = await fixture.taskStore.lease(newYear, minute, 2);
    expect(ids(first)).toEqual(["vt_1", "vt_4"]);
    expect(first[0]).toMatchObject({ untilMs: newYear + minute, task: task("1", { dueAt: newYear - 5 }) });
    expect(ids(await fixture.taskStore.lease(newYear, minute, 9))).toEqual(["vt_2"]);
    expect(ids(await fixture.taskStore.lease(newYear, minute, 9))).toEqual([]);
    // Leased tasks are not due for other processes.
    expect(await fixture.taskStore.nextDue(newYear)).toBe(newYear + 1);
    expect(await fixture.taskStore.nextDue(newYear + minute)).toBe(newYear - 5);
    expect(ids(await fixture.taskStore.lease(newYear + 3, minute, 9))).toEqual(["vt_3", "vt_0"]);
    expect(await fixture.taskStore.lease(newYear + 3, minute, 0)).toEqual([]);
  });

  test("never leases a task to two processes, or twice within one", async () => {
    await using fixture = await make();
    const count = 600;
    await Promise.all(Array.from({ length: count }, (_, n) => fixture.taskStore.create(task(`${n}`))));
    const leaseAll = async (): Promise<string[]> => {
      const ids: string[] = [];
      for (;;) {
        const leased = await fixture.taskStore.lease(newYear, minute, 7);
        ids.push(...leased.map((one) => one.task.id));
        if (leased.length === 0) return ids;
        await new Promise(setImmediate);
      }
    };
    const others = [fixture.otherProcess("lease"), fixture.otherProcess("lease")];
    // The processes take longer to start than one needs for all tasks.
    await waitForAnyLease(fixture);
    const leasedIds = await Promise.all([...others, leaseAll(), leaseAll()]);
    expect(leasedIds.slice(0, 2).flat()).not.toEqual([]);
    const all = leasedIds.flat();
    expect(all).toHaveLength(count);
    expect(new Set(all).size).toBe(count);
  });

  test("leases one task, due or not, while it is not leased", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a", { dueAt: newYear + 99 * minute }));
    const attempts = Array.from({ length: 20 }, () => fixture.taskStore.leaseOne("vt_a", newYear, minute));
    expect((await Promise.all(attempts)).filter((leased) => leased !== null)).toHaveLength(1);
    expect(await fixture.taskStore.leaseOne("vt_none", newYear, minute)).toBeNull();
  });

  test("lets another process take an expired lease, and then ignores writes of the old one", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const old = await mustLease(fixture, "a");
    expect(await fixture.taskStore.leaseOne("vt_a", newYear + minute - 1, minute)).toBeNull();
    const between = only(await fixture.taskStore.lease(newYear + minute, minute, 5));
    const current = only(await fixture.taskStore.lease(newYear + 2 * minute, minute, 5));
    expect(new Set([old.lease, between.lease, current.lease]).size).toBe(3);
    for (const lost of [old, between]) {
      const stale = { upstreamId: "stale", state: "queued" } as const;
      expect(await fixture.taskStore.step(lost, stale, newYear, true)).toBe(false);
      expect(await fixture.taskStore.step(lost, { polls: 7 }, newYear, true)).toBe(false);
    }
    expect(await fixture.taskStore.findById("vt_a")).toEqual(current.task);
    expect(await fixture.taskStore.step(current, { polls: 8 }, newYear, false)).toBe(true);
    expect((await fixture.taskStore.findById("vt_a"))?.polls).toBe(8);
  });

  test("accepts writes with an expired lease until another process takes the task, so that the upstream's id is kept", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const slow = await mustLease(fixture, "a");
    const late = newYear + 10 * minute;
    expect(await fixture.taskStore.step(slow, { upstreamId: "up", state: "queued" }, late, true)).toBe(true);
    expect(await fixture.taskStore.findById("vt_a")).toMatchObject({ upstreamId: "up", state: "queued" });
  });

  test("releases the lease with a step, and ignores later writes with its token", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const leased = await mustLease(fixture, "a");
    expect(await fixture.taskStore.step(leased, { dueAt: newYear + 5 }, newYear, false)).toBe(true);
    expect(await fixture.taskStore.leaseOne("vt_a", newYear, minute)).toBeNull();
    expect(await fixture.taskStore.step(leased, { polls: 1 }, newYear, true)).toBe(true);
    expect(await fixture.taskStore.step(leased, { polls: 2 }, newYear, true)).toBe(false);
    expect(only(await fixture.taskStore.lease(newYear + 5, minute, 5)).task.polls).toBe(1);
  });

  test("makes a task due now, but never later than before", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a", { dueAt: newYear + 99 * minute }));
    await fixture.taskStore.create(task("b", { dueAt: newYear - minute }));
    for (const id of ["vt_a", "vt_b", "vt_none"]) await fixture.taskStore.makeDueNow(id, newYear);
    expect((await fixture.taskStore.findById("vt_a"))?.dueAt).toBe(newYear);
    expect((await fixture.taskStore.findById("vt_b"))?.dueAt).toBe(newYear - minute);
  });
}

async function waitForAnyLease(fixture: TaskFixture): Promise<void> {
  const leased = fixture.database.kysely.selectFrom("tasks").select("id").where("lease", "is not", null);
  while ((await leased.executeTakeFirst()) === undefined) await new Promise(setImmediate);
}

function stepTests(make: TaskFixtureFactory): void {
  test("changes only the given fields in a step", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const leased = await mustLease(fixture, "a");
    const { usage, output, error, rawUsage, costNanoUsd, submittedAt, startedAt, progress } = fullTask;
    const step = { account, upstreamId: "up", deployment: "d2", upstreamModel: "m2", polls: 3, dueAt: newYear + 9 };
    const more = { usage, output, error, rawUsage, costNanoUsd, submittedAt, startedAt, progress };
    expect(await fixture.taskStore.step(leased, { ...step, ...more }, newYear + 1, false)).toBe(true);
    const expected = { ...task("a"), ...step, ...more, updatedAt: newYear + 1 };
    expect(await fixture.taskStore.findById("vt_a")).toEqual(expected);
    expect(await fixture.taskStore.step(leased, { progress: null, error: null }, newYear + 2, false)).toBe(true);
    expect(await fixture.taskStore.findById("vt_a")).toEqual({
      ...expected,
      progress: null,
      error: null,
      updatedAt: newYear + 2,
    });
  });

  test("records each change of state once, in order, with its detail", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const leased = await mustLease(fixture, "a");
    const states: TaskState[] = ["submitting", "submitting", "queued", "queued", "running", "running"];
    for (const [n, state] of states.entries()) {
      await fixture.taskStore.step(leased, { state, detail: `step ${n}` }, newYear + n, false);
    }
    await fixture.taskStore.step(leased, { progress: 50, detail: "no change" }, newYear + 9, false);
    expect(
      (await fixture.taskStore.events("vt_a")).map((event) => [event.at - newYear, event.state, event.detail]),
    ).toEqual([
      [0, "accepted", ""],
      [0, "submitting", "step 0"],
      [2, "queued", "step 2"],
      [4, "running", "step 4"],
    ]);
  });

  test("limits the length of a task's history", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const leased = await mustLease(fixture, "a");
    for (let n = 0; n < taskEventsMax + 20; n++) {
      await fixture.taskStore.step(leased, { state: n % 2 === 0 ? "queued" : "running" }, newYear, false);
    }
    expect(await fixture.taskStore.events("vt_a")).toHaveLength(taskEventsMax);
  });

  test("does not end a task in a step", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const leased = await mustLease(fixture, "a");
    for (const state of finalTaskStates) {
      await expect(fixture.taskStore.step(leased, { state }, newYear, false)).rejects.toThrow("finish");
    }
    expect((await fixture.taskStore.findById("vt_a"))?.state).toBe("accepted");
  });

  test("writes steps while another process inserts ledger entries", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a"));
    const leased = await mustLease(fixture, "a");
    let isDone = false;
    const other = fixture.otherProcess("insert").finally(() => {
      isDone = true;
    });
    let polls = 0;
    while (!isDone) {
      expect(await fixture.taskStore.step(leased, { polls: ++polls, state: "running" }, newYear, false)).toBe(true);
      await fixture.ledgerStore.insert([ledgerEntry(`own_${polls}`)]);
      await new Promise(setImmediate);
    }
    const inserted = Number(only(await other));
    expect(inserted).toBeGreaterThan(0);
    const check = await fixture.ledgerStore.check();
    expect([check.entries, check.faults]).toEqual([inserted + polls, []]);
    expect((await fixture.taskStore.findById("vt_a"))?.polls).toBe(polls);
  });
}
