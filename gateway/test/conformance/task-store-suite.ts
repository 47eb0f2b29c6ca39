import { describe, expect, test } from "bun:test";
import { Failure, finalTaskStates, type TaskState } from "#core/index.ts";
import { createTaskStore, type LeasedTask } from "#tasks/index.ts";
import { taskEventsMax } from "#tasks/store/task-writes.ts";
import { ledgerEntry, newYear, wholeText } from "./store-ground.ts";
import {
  account,
  accountSecret,
  fullTask,
  only,
  settingsSecret,
  type TaskGround,
  type TaskGroundFactory,
  task,
} from "./task-ground.ts";

/** What every implementation of the port `TaskStore` guarantees until a task ends; for the end see task-end-suite.ts. */
export function taskStoreSuite(name: string, make: TaskGroundFactory): void {
  describe(`task store: ${name}`, () => {
    createTests(make);
    leaseTests(make);
    stepTests(make);
  });
}

const minute = 60_000;

function createTests(make: TaskGroundFactory): void {
  test("a task comes back exactly as it was given, to its own workspace only", async () => {
    await using ground = await make();
    const { taskStore } = ground;
    expect(await taskStore.create(fullTask)).toEqual({ task: fullTask, created: true });
    expect(await taskStore.find("ws_1", fullTask.id)).toEqual(fullTask);
    expect(await taskStore.findById(fullTask.id)).toEqual(fullTask);
    expect(await taskStore.find("ws_2", fullTask.id)).toBeNull();
    expect(await taskStore.findById("vt_none")).toBeNull();
    expect(await taskStore.events(fullTask.id)).toEqual([
      { taskId: fullTask.id, at: newYear, state: "running", detail: "" },
    ]);
  });

  test("a task that failed before its commit is certainly not stored; one whose commit got no answer may be", async () => {
    await using ground = await make();
    const { database, vault } = ground;
    const failure = new Failure("storage_unavailable", "The connection was lost.");
    const rejection = (when: "before the commit" | "after it", name: string) => {
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
      const breaking = createTaskStore({ database: { ...database, kysely }, vault });
      return breaking.create(task(name)).catch((thrown: unknown) => thrown);
    };
    expect(await rejection("before the commit", "lost")).toMatchObject({ arrival: "unsent" });
    expect(await rejection("after it", "stored")).toMatchObject({ arrival: "unknown" });
    expect(await ground.taskStore.findById("vt_lost")).toBeNull();
    expect(await ground.taskStore.findById("vt_stored")).not.toBeNull();
  });

  test("the account's secrets are not in the database in clear, and open for no other task", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a", { account }));
    await ground.taskStore.create(task("b"));
    const leased = await taken(ground, "b");
    await ground.taskStore.step(leased, { account }, newYear, true);
    const text = await wholeText(ground.database);
    expect(text).not.toContain(accountSecret);
    expect(text).not.toContain(settingsSecret);
    expect((await ground.taskStore.findById("vt_b"))?.account).toEqual(account);
    const { sealed_account } = await ground.database.kysely
      .selectFrom("tasks")
      .select("sealed_account")
      .where("id", "=", "vt_a")
      .executeTakeFirstOrThrow();
    await ground.database.kysely.updateTable("tasks").set({ sealed_account }).where("id", "=", "vt_b").execute();
    await expect(ground.taskStore.findById("vt_b")).rejects.toThrow("cannot be opened");
  });

  test("a workspace has one task for one idempotency key, however many ask at once", async () => {
    await using ground = await make();
    const asked = Array.from({ length: 20 }, (_, n) =>
      task(`${n}`, { idempotencyKey: "once", workspaceId: `ws_${n % 2}`, request: `{"n":${n}}` }),
    );
    const answers = await Promise.all(asked.map((one) => ground.taskStore.create(one)));
    const made = answers.filter((answer) => answer.created).map((answer) => answer.task);
    expect(made.map((one) => one.workspaceId).toSorted()).toEqual(["ws_0", "ws_1"]);
    for (const [n, answer] of answers.entries()) {
      const own = only(made.filter((one) => one.workspaceId === `ws_${n % 2}`));
      expect(answer.task).toEqual(own);
      expect(await ground.taskStore.events(`vt_${n}`)).toHaveLength(answer.created ? 1 : 0);
    }
    const others = [task("x"), task("y")].map((one) => ground.taskStore.create(one));
    expect((await Promise.all(others)).map((answer) => answer.created)).toEqual([true, true]);
  });

  test("a task that cannot be stored leaves nothing behind", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    await expect(ground.taskStore.create(task("a", { request: "other" }))).rejects.toThrow();
    await expect(ground.taskStore.create(task("b", { deadlineAt: Number.NaN }))).rejects.toThrow();
    expect((await ground.taskStore.findById("vt_a"))?.request).toBe(task("a").request);
    expect(await ground.taskStore.findById("vt_b")).toBeNull();
    expect(await ground.taskStore.events("vt_b")).toEqual([]);
    expect(await ground.taskStore.create(task("b"))).toMatchObject({ created: true });
  });

  test("tasks are found by what their upstream calls them", async () => {
    await using ground = await make();
    for (let n = 0; n < 150; n++) await ground.taskStore.create(task(`${n}`, { upstreamId: `up_${n}`, account }));
    const asked = Array.from({ length: 300 }, (_, n) => `up_${n + 75}`);
    const found = (await ground.taskStore.withUpstreamIds?.([...asked, ...asked])) ?? [];
    expect(found.map((one) => one.upstreamId).toSorted()).toEqual(asked.slice(0, 75).toSorted());
    expect(found.every((one) => one.taskId === one.upstreamId.replace("up", "vt"))).toBe(true);
    expect(new Set(found.map((one) => one.providerId))).toEqual(new Set(["ark-main"]));
    expect(await ground.taskStore.withUpstreamIds?.([])).toEqual([]);
  });
}

/** The task under a lease of its own. */
async function taken(ground: TaskGround, name: string, now = newYear): Promise<LeasedTask> {
  const leased = await ground.taskStore.leaseOne(`vt_${name}`, now, minute);
  if (leased === null) throw new Error(`${name} cannot be leased`);
  return leased;
}

function leaseTests(make: TaskGroundFactory): void {
  test("due tasks are leased oldest first, up to the limit, and the others are not", async () => {
    await using ground = await make();
    const dueAts = [newYear + 3, newYear - 5, newYear, newYear + 1, newYear - 5, null];
    for (const [n, dueAt] of dueAts.entries()) await ground.taskStore.create(task(`${n}`, { dueAt }));
    const ids = (leased: readonly LeasedTask[]) => leased.map((one) => one.task.id);
    expect(await ground.taskStore.nextDue(newYear)).toBe(newYear - 5);
    const first = await ground.taskStore.lease(newYear, minute, 2);
    expect(ids(first)).toEqual(["vt_1", "vt_4"]);
    expect(first[0]).toMatchObject({ untilMs: newYear + minute, task: task("1", { dueAt: newYear - 5 }) });
    expect(ids(await ground.taskStore.lease(newYear, minute, 9))).toEqual(["vt_2"]);
    expect(ids(await ground.taskStore.lease(newYear, minute, 9))).toEqual([]);
    // Those that are held are not due to anybody else.
    expect(await ground.taskStore.nextDue(newYear)).toBe(newYear + 1);
    expect(await ground.taskStore.nextDue(newYear + minute)).toBe(newYear - 5);
    expect(ids(await ground.taskStore.lease(newYear + 3, minute, 9))).toEqual(["vt_3", "vt_0"]);
    expect(await ground.taskStore.lease(newYear + 3, minute, 0)).toEqual([]);
  });

  test("two leasers never hold one task, in one process or in several", async () => {
    await using ground = await make();
    const count = 600;
    await Promise.all(Array.from({ length: count }, (_, n) => ground.taskStore.create(task(`${n}`))));
    const own = async (): Promise<string[]> => {
      const ids: string[] = [];
      for (;;) {
        const leased = await ground.taskStore.lease(newYear, minute, 7);
        ids.push(...leased.map((one) => one.task.id));
        if (leased.length === 0) return ids;
        await new Promise(setImmediate);
      }
    };
    const others = [ground.otherProcess("lease"), ground.otherProcess("lease")];
    // They take longer to start than one process needs for all tasks.
    await leasedSomewhere(ground);
    const held = await Promise.all([...others, own(), own()]);
    expect(held.slice(0, 2).flat()).not.toEqual([]);
    const all = held.flat();
    expect(all).toHaveLength(count);
    expect(new Set(all).size).toBe(count);
  });

  test("one task is leased whether due or not, while nobody has it", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a", { dueAt: newYear + 99 * minute }));
    const askers = Array.from({ length: 20 }, () => ground.taskStore.leaseOne("vt_a", newYear, minute));
    expect((await Promise.all(askers)).filter((leased) => leased !== null)).toHaveLength(1);
    expect(await ground.taskStore.leaseOne("vt_none", newYear, minute)).toBeNull();
  });

  test("a lease that ran out may be taken, and then its old holder writes nothing", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const old = await taken(ground, "a");
    expect(await ground.taskStore.leaseOne("vt_a", newYear + minute - 1, minute)).toBeNull();
    const between = only(await ground.taskStore.lease(newYear + minute, minute, 5));
    const fresh = only(await ground.taskStore.lease(newYear + 2 * minute, minute, 5));
    expect(new Set([old.lease, between.lease, fresh.lease]).size).toBe(3);
    for (const lost of [old, between]) {
      const stale = { upstreamId: "stale", state: "queued" } as const;
      expect(await ground.taskStore.step(lost, stale, newYear, true)).toBe(false);
      expect(await ground.taskStore.step(lost, { polls: 7 }, newYear, true)).toBe(false);
    }
    expect(await ground.taskStore.findById("vt_a")).toEqual(fresh.task);
    expect(await ground.taskStore.step(fresh, { polls: 8 }, newYear, false)).toBe(true);
    expect((await ground.taskStore.findById("vt_a"))?.polls).toBe(8);
  });

  test("a lease that ran out still writes while nobody took the task, so that an upstream's id is not lost", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const slow = await taken(ground, "a");
    const late = newYear + 10 * minute;
    expect(await ground.taskStore.step(slow, { upstreamId: "up", state: "queued" }, late, true)).toBe(true);
    expect(await ground.taskStore.findById("vt_a")).toMatchObject({ upstreamId: "up", state: "queued" });
  });

  test("a step that releases gives the task back at once, and its token is worth nothing afterwards", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const leased = await taken(ground, "a");
    expect(await ground.taskStore.step(leased, { dueAt: newYear + 5 }, newYear, false)).toBe(true);
    expect(await ground.taskStore.leaseOne("vt_a", newYear, minute)).toBeNull();
    expect(await ground.taskStore.step(leased, { polls: 1 }, newYear, true)).toBe(true);
    expect(await ground.taskStore.step(leased, { polls: 2 }, newYear, true)).toBe(false);
    expect(only(await ground.taskStore.lease(newYear + 5, minute, 5)).task.polls).toBe(1);
  });

  test("a hint makes a task due now, and never later than it was", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a", { dueAt: newYear + 99 * minute }));
    await ground.taskStore.create(task("b", { dueAt: newYear - minute }));
    for (const id of ["vt_a", "vt_b", "vt_none"]) await ground.taskStore.makeDueNow(id, newYear);
    expect((await ground.taskStore.findById("vt_a"))?.dueAt).toBe(newYear);
    expect((await ground.taskStore.findById("vt_b"))?.dueAt).toBe(newYear - minute);
  });
}

async function leasedSomewhere(ground: TaskGround): Promise<void> {
  const leased = ground.database.kysely.selectFrom("tasks").select("id").where("lease", "is not", null);
  while ((await leased.executeTakeFirst()) === undefined) await new Promise(setImmediate);
}

function stepTests(make: TaskGroundFactory): void {
  test("a step changes what it names and nothing else", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const leased = await taken(ground, "a");
    const { usage, output, error, rawUsage, costNanoUsd, submittedAt, startedAt, progress } = fullTask;
    const step = { account, upstreamId: "up", deployment: "d2", upstreamModel: "m2", polls: 3, dueAt: newYear + 9 };
    const more = { usage, output, error, rawUsage, costNanoUsd, submittedAt, startedAt, progress };
    expect(await ground.taskStore.step(leased, { ...step, ...more }, newYear + 1, false)).toBe(true);
    const expected = { ...task("a"), ...step, ...more, updatedAt: newYear + 1 };
    expect(await ground.taskStore.findById("vt_a")).toEqual(expected);
    expect(await ground.taskStore.step(leased, { progress: null, error: null }, newYear + 2, false)).toBe(true);
    expect(await ground.taskStore.findById("vt_a")).toEqual({
      ...expected,
      progress: null,
      error: null,
      updatedAt: newYear + 2,
    });
  });

  test("the history has each change of state once, in order, with what was said", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const leased = await taken(ground, "a");
    const states: TaskState[] = ["submitting", "submitting", "queued", "queued", "running", "running"];
    for (const [n, state] of states.entries()) {
      await ground.taskStore.step(leased, { state, detail: `step ${n}` }, newYear + n, false);
    }
    await ground.taskStore.step(leased, { progress: 50, detail: "no change" }, newYear + 9, false);
    expect(
      (await ground.taskStore.events("vt_a")).map((event) => [event.at - newYear, event.state, event.detail]),
    ).toEqual([
      [0, "accepted", ""],
      [0, "submitting", "step 0"],
      [2, "queued", "step 2"],
      [4, "running", "step 4"],
    ]);
  });

  test("the history of an upstream that cannot decide has an end", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const leased = await taken(ground, "a");
    for (let n = 0; n < taskEventsMax + 20; n++) {
      await ground.taskStore.step(leased, { state: n % 2 === 0 ? "queued" : "running" }, newYear, false);
    }
    expect(await ground.taskStore.events("vt_a")).toHaveLength(taskEventsMax);
  });

  test("a step cannot end a task", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const leased = await taken(ground, "a");
    for (const state of finalTaskStates) {
      await expect(ground.taskStore.step(leased, { state }, newYear, false)).rejects.toThrow("finish");
    }
    expect((await ground.taskStore.findById("vt_a"))?.state).toBe("accepted");
  });

  test("steps go on while another process fills the ledger", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a"));
    const leased = await taken(ground, "a");
    let over = false;
    const other = ground.otherProcess("insert").finally(() => {
      over = true;
    });
    let polls = 0;
    while (!over) {
      expect(await ground.taskStore.step(leased, { polls: ++polls, state: "running" }, newYear, false)).toBe(true);
      await ground.ledgerStore.insert([ledgerEntry(`own_${polls}`)]);
      await new Promise(setImmediate);
    }
    const inserted = Number(only(await other));
    expect(inserted).toBeGreaterThan(0);
    const check = await ground.ledgerStore.check();
    expect([check.entries, check.faults]).toEqual([inserted + polls, []]);
    expect((await ground.taskStore.findById("vt_a"))?.polls).toBe(polls);
  });
}
