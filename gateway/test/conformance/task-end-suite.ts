import { describe, expect, test } from "bun:test";
import { finalTaskStates, type TaskState } from "#core/index.ts";
import type { LeasedTask } from "#tasks/index.ts";
import { newYear } from "./store-fixture.ts";
import {
  account,
  delivery,
  fullTask,
  only,
  type TaskFixture,
  type TaskFixtureFactory,
  task,
  taskEntry,
} from "./task-fixture.ts";

/** Guarantees of every implementation of the port `TaskStore` for the end of a task and the messages about it. */
export function taskEndSuite(name: string, make: TaskFixtureFactory): void {
  describe(`task end: ${name}`, () => {
    finishTests(make);
    finalTests(make);
    deliveryTests(make);
  });
}

const minute = 60_000;
const end = { state: "succeeded", output: fullTask.output, costNanoUsd: 250_000_000, detail: "done" } as const;

async function createAndLease(fixture: TaskFixture, name: string): Promise<LeasedTask> {
  await fixture.taskStore.create(task(name, { account }));
  const leased = await fixture.taskStore.leaseOne(`vt_${name}`, newYear, minute);
  if (leased === null) throw new Error(`${name} cannot be leased`);
  return leased;
}

const ledgerOf = async (fixture: TaskFixture) => {
  const { entries, costNanoUsd, faults } = await fixture.ledgerStore.check();
  const spent = (await fixture.ledgerStore.usage({})).reduce((sum, row) => sum + row.costNanoUsd, 0);
  return { entries, costNanoUsd, spent, faults };
};

function finishTests(make: TaskFixtureFactory): void {
  test("writes the end of a task, its entry, the sums and the message together", async () => {
    await using fixture = await make();
    const leased = await createAndLease(fixture, "a");
    const at = newYear + 5 * minute;
    expect(await fixture.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), at)).toBe(true);
    expect(await fixture.taskStore.findById("vt_a")).toEqual({
      ...leased.task,
      state: "succeeded",
      output: fullTask.output,
      costNanoUsd: 250_000_000,
      updatedAt: at,
      finishedAt: at,
      dueAt: null,
    });
    expect((await fixture.taskStore.events("vt_a")).at(-1)).toEqual({
      taskId: "vt_a",
      at,
      state: "succeeded",
      detail: "done",
    });
    expect(await fixture.taskStore.deliveries("vt_a")).toEqual([delivery("a")]);
    expect((await fixture.ledgerStore.page({}, null, 5)).entries).toEqual([taskEntry("a")]);
    expect(await ledgerOf(fixture)).toEqual({ entries: 1, costNanoUsd: "250000000", spent: 250_000_000, faults: [] });
  });

  test("ends a task once and charges once for fifty concurrent attempts", async () => {
    await using fixture = await make();
    const leased = await createAndLease(fixture, "a");
    const states: readonly TaskState[] = [...finalTaskStates];
    const finishers = Array.from({ length: 50 }, (_, n) => {
      const step = { ...end, state: states[n % 4] ?? "failed" };
      return fixture.taskStore.finish(leased, step, [taskEntry("a")], delivery("a", { id: `msg_${n}` }), newYear + n);
    });
    const answers = await Promise.all(finishers);
    expect(answers.filter((ended) => ended)).toHaveLength(1);
    const winner = answers.indexOf(true);
    expect(await fixture.taskStore.findById("vt_a")).toMatchObject({ state: states[winner % 4] });
    expect(only(await fixture.taskStore.deliveries("vt_a")).id).toBe(`msg_${winner}`);
    expect(await fixture.taskStore.events("vt_a")).toHaveLength(2);
    expect(await ledgerOf(fixture)).toMatchObject({ entries: 1, spent: 250_000_000, faults: [] });
  });

  test("ends a task whose entry is already in the ledger, and counts the entry once", async () => {
    await using fixture = await make();
    const leased = await createAndLease(fixture, "a");
    await fixture.ledgerStore.insert([taskEntry("a")]);
    expect(await fixture.taskStore.finish(leased, end, [taskEntry("a")], null, newYear)).toBe(true);
    expect(await fixture.ledgerStore.insert([taskEntry("a")])).toBe(0);
    expect(await ledgerOf(fixture)).toMatchObject({ entries: 1, spent: 250_000_000, faults: [] });
  });

  test("writes nothing when a part of the end cannot be written, and allows another attempt", async () => {
    await using fixture = await make();
    const leased = await createAndLease(fixture, "a");
    const invalidEnds: [ReturnType<typeof taskEntry>, ReturnType<typeof delivery>][] = [
      [taskEntry("a", { endedAt: Number.NaN }), delivery("a")],
      [taskEntry("a"), delivery("a", { createdAt: Number.NaN })],
      [taskEntry("a"), delivery("other")],
    ];
    for (const [entry, message] of invalidEnds) {
      await expect(fixture.taskStore.finish(leased, end, [entry], message, newYear)).rejects.toThrow();
      expect(await fixture.taskStore.findById("vt_a")).toEqual(leased.task);
      expect(await fixture.taskStore.events("vt_a")).toHaveLength(1);
      expect(await fixture.taskStore.deliveries("vt_a")).toEqual([]);
      expect(await ledgerOf(fixture)).toMatchObject({ entries: 0, spent: 0 });
    }
    expect(await fixture.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), newYear)).toBe(true);
  });

  test("rejects the end by a process that lost its lease", async () => {
    await using fixture = await make();
    const old = await createAndLease(fixture, "a");
    const newLease = await fixture.taskStore.leaseOne("vt_a", newYear + minute, minute);
    const args = [end, [taskEntry("a")], delivery("a"), newYear + minute] as const;
    expect(await fixture.taskStore.finish(old, ...args)).toBe(false);
    expect(await fixture.taskStore.finish({ ...old, lease: "guessed" }, ...args)).toBe(false);
    expect(await ledgerOf(fixture)).toMatchObject({ entries: 0, spent: 0 });
    expect(await fixture.taskStore.deliveries("vt_a")).toEqual([]);
    if (newLease === null) throw new Error("an expired lease was not granted again");
    expect(await fixture.taskStore.finish(newLease, ...args)).toBe(true);
  });

  test("ends a task only in a final state", async () => {
    await using fixture = await make();
    const leased = await createAndLease(fixture, "a");
    for (const state of ["accepted", "submitting", "unknown", "queued", "running"] as const) {
      await expect(fixture.taskStore.finish(leased, { state }, [taskEntry("a")], null, newYear)).rejects.toThrow(state);
    }
    expect(await fixture.taskStore.findById("vt_a")).toEqual(leased.task);
  });
}

function finalTests(make: TaskFixtureFactory): void {
  test("never changes a final task", async () => {
    await using fixture = await make();
    for (const [n, state] of [...finalTaskStates].entries()) {
      const name = `t${n}`;
      const leased = await createAndLease(fixture, name);
      await fixture.taskStore.finish(leased, { ...end, state }, [taskEntry(name)], null, newYear);
      const final = await fixture.taskStore.findById(leased.task.id);
      const later = newYear + 99 * minute;
      expect(await fixture.taskStore.step(leased, { state: "running" }, later, false)).toBe(false);
      expect(await fixture.taskStore.step(leased, { progress: 1 }, later, false)).toBe(false);
      expect(await fixture.taskStore.finish(leased, { state: "failed" }, [taskEntry(`${name}x`)], null, later)).toBe(
        false,
      );
      expect(await fixture.taskStore.leaseOne(leased.task.id, later, minute)).toBeNull();
      await fixture.taskStore.makeDueNow(leased.task.id, later);
      expect(await fixture.taskStore.lease(later, minute, 9)).toEqual([]);
      expect(await fixture.taskStore.findById(leased.task.id)).toEqual(final);
      expect(final?.state).toBe(state);
    }
    expect(await Array.fromAsync(fixture.taskStore.open())).toEqual([]);
    expect(await ledgerOf(fixture)).toMatchObject({ entries: finalTaskStates.size, faults: [] });
  });

  test("records a copied result on a final task, and changes nothing else", async () => {
    await using fixture = await make();
    const leased = await createAndLease(fixture, "a");
    const output = {
      videoUrl: "https://v",
      lastFrameUrl: null,
      expiresAt: null,
      blobHash: null,
      contentType: "video/x",
    };
    await fixture.taskStore.finish(leased, { ...end, output }, [taskEntry("a")], null, newYear);
    const before = await fixture.taskStore.findById("vt_a");
    await fixture.taskStore.attachBlob("vt_a", "ab12", null);
    expect(await fixture.taskStore.findById("vt_a")).toEqual({
      ...(before ?? leased.task),
      output: { ...output, blobHash: "ab12" },
    });
    await fixture.taskStore.attachBlob("vt_a", "ab12", "video/mp4");
    expect((await fixture.taskStore.findById("vt_a"))?.output?.contentType).toBe("video/mp4");
    await createAndLease(fixture, "without");
    expect(await fixture.taskStore.attachBlob("vt_without", "ab12", null)).toBe(false);
    expect((await fixture.taskStore.findById("vt_without"))?.output).toBeNull();
  });

  test("deletes an ended task once and only in its workspace, and keeps its key and upstream id reserved", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(task("a", { idempotencyKey: "once", upstreamId: "up-a" }));
    expect(await fixture.taskStore.remove("ws_1", "vt_a", newYear)).toBeNull();
    const leased = await fixture.taskStore.leaseOne("vt_a", newYear, minute);
    if (leased === null) throw new Error("the task cannot be leased");
    const { output } = fullTask;
    await fixture.taskStore.finish(leased, { ...end, output }, [taskEntry("a")], null, newYear);
    await fixture.taskStore.attachBlob("vt_a", "ab12", null);
    expect(await fixture.taskStore.remove("ws_2", "vt_a", newYear)).toBeNull();
    expect(await fixture.taskStore.remove("ws_1", "vt_a", newYear + 1)).toEqual({ blobHash: "ab12" });
    expect(await fixture.taskStore.remove("ws_1", "vt_a", newYear + 2)).toBeNull();
    expect(await fixture.taskStore.find("ws_1", "vt_a")).toBeNull();
    for (const workspaceId of ["ws_1", null]) {
      expect((await fixture.taskStore.page({ workspaceId }, null, 5)).tasks).toEqual([]);
    }
    const deletedTask = await fixture.taskStore.findByKey("ws_1", "once");
    expect(deletedTask).toMatchObject({
      deletedAt: newYear + 1,
      request: "{}",
      output: null,
      error: null,
      account: null,
    });
    expect([deletedTask?.params.prompt, deletedTask?.metadata, deletedTask?.callbackUrl]).toEqual([null, {}, null]);
    expect(await fixture.taskStore.findById("vt_a")).toEqual(deletedTask);
    expect((await fixture.taskStore.withUpstreamIds(["up-a"])).map(({ taskId }) => taskId)).toEqual(["vt_a"]);
    expect(await fixture.taskStore.attachBlob("vt_a", "ab12", null)).toBe(false);
    expect(await fixture.assetStore.blobUses("ab12")).toBe(0);
    expect((await fixture.ledgerStore.page({}, null, 5)).entries).toEqual([taskEntry("a")]);
  });

  test("deletes the messages of a deleted task, sent ones at once and others after they were sent", async () => {
    await using fixture = await make();
    const sent = { tries: 1, dueAt: null, lastStatus: 200, lastError: null, deliveredAt: newYear };
    for (const name of ["sent", "waiting", "kept"]) {
      const leased = await createAndLease(fixture, name);
      await fixture.taskStore.finish(leased, end, [taskEntry(name)], delivery(name), newYear);
    }
    const leased = await fixture.taskStore.dueDeliveries(newYear, minute, 9);
    const send = async (id: string): Promise<void> => {
      const one = leased.find((message) => message.id === id);
      if (one !== undefined) await fixture.taskStore.recordDelivery(one, sent);
    };
    await send("msg_sent");
    await send("msg_kept");
    for (const name of ["sent", "waiting"]) await fixture.taskStore.remove("ws_1", `vt_${name}`, newYear);
    const countMessages = async () => {
      const names = ["sent", "waiting", "kept"];
      return (await Promise.all(names.map((name) => fixture.taskStore.deliveries(`vt_${name}`)))).map(
        (all) => all.length,
      );
    };
    expect(await countMessages()).toEqual([0, 1, 1]);
    await send("msg_waiting");
    expect(await countMessages()).toEqual([0, 0, 1]);
  });

  test("keeps tasks, their history and messages when the ledger is pruned", async () => {
    await using fixture = await make();
    const leased = await createAndLease(fixture, "a");
    await fixture.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), newYear);
    await createAndLease(fixture, "open");
    expect(await fixture.ledgerStore.prune(newYear + 99 * minute)).toBe(1);
    expect((await fixture.taskStore.page({ workspaceId: "ws_1" }, null, 9)).tasks).toHaveLength(2);
    expect(await fixture.taskStore.events("vt_a")).toHaveLength(2);
    expect(await fixture.taskStore.deliveries("vt_a")).toHaveLength(1);
    expect((await fixture.taskStore.findById("vt_a"))?.request).toBe(leased.task.request);
  });
}

function deliveryTests(make: TaskFixtureFactory): void {
  test("leases a message to one sender at a time, oldest first, until its result is recorded", async () => {
    await using fixture = await make();
    for (const [n, name] of ["a", "b", "c"].entries()) {
      const leased = await createAndLease(fixture, name);
      await fixture.taskStore.finish(leased, end, [taskEntry(name)], delivery(name, { dueAt: newYear + n }), newYear);
    }
    const due = async (at: number, limit = 9) =>
      (await fixture.taskStore.dueDeliveries(at, minute, limit)).map((d) => d.id);
    expect(await due(newYear - 1)).toEqual([]);
    expect(await fixture.taskStore.nextDue(newYear - 1)).toBe(newYear);
    expect(await due(newYear + 2, 1)).toEqual(["msg_a"]);
    expect(await fixture.taskStore.nextDue(newYear + 2)).toBe(newYear + 1);
    const both = await Promise.all([due(newYear + 2), due(newYear + 2)]);
    expect(both.flat().toSorted()).toEqual(["msg_b", "msg_c"]);
    const failed = { tries: 1, dueAt: newYear + 5, lastStatus: 500, lastError: "HTTP 500", deliveredAt: null };
    const leased = { dueAt: newYear + 2 + minute };
    await fixture.taskStore.recordDelivery({ id: "msg_a", ...leased }, failed);
    const arrived = { ...failed, dueAt: null, lastStatus: 200, deliveredAt: newYear + 3 };
    await fixture.taskStore.recordDelivery({ id: "msg_b", ...leased }, arrived);
    expect(await due(newYear + 5)).toEqual(["msg_a"]);
    expect(only(await fixture.taskStore.deliveries("vt_b"))).toEqual(
      delivery("b", { tries: 1, dueAt: null, lastStatus: 200, lastError: "HTTP 500", deliveredAt: newYear + 3 }),
    );
    expect((await due(newYear + 99 * minute)).toSorted()).toEqual(["msg_a", "msg_c"]);
    for (const name of ["msg_a", "msg_c"]) {
      await fixture.taskStore.recordDelivery({ id: name, dueAt: newYear + 100 * minute }, arrived);
    }
    expect(await fixture.taskStore.nextDue(newYear)).toBeNull();
  });

  test("ignores a failure by a sender that lost its lease, but records a successful delivery by any sender", async () => {
    await using fixture = await make();
    const leasedTask = await createAndLease(fixture, "a");
    await fixture.taskStore.finish(leasedTask, end, [taskEntry("a")], delivery("a", { dueAt: newYear }), newYear);
    const slow = only(await fixture.taskStore.dueDeliveries(newYear, minute, 9));
    const quick = only(await fixture.taskStore.dueDeliveries(newYear + minute, minute, 9));
    const failed = { tries: 1, dueAt: null, lastStatus: 500, lastError: "HTTP 500", deliveredAt: null };
    await fixture.taskStore.recordDelivery(slow, failed);
    expect(only(await fixture.taskStore.deliveries("vt_a"))).toEqual(quick);
    const arrived = { ...failed, lastStatus: 200, lastError: null, deliveredAt: newYear + 3 };
    await fixture.taskStore.recordDelivery(slow, arrived);
    await fixture.taskStore.recordDelivery(quick, failed);
    expect(only(await fixture.taskStore.deliveries("vt_a"))).toMatchObject(arrived);
  });
}
