import { describe, expect, test } from "bun:test";
import { finalTaskStates, type TaskState } from "#core/index.ts";
import type { LeasedTask } from "#tasks/index.ts";
import { newYear } from "./store-ground.ts";
import {
  account,
  delivery,
  fullTask,
  only,
  type TaskGround,
  type TaskGroundFactory,
  task,
  taskEntry,
} from "./task-ground.ts";

/** What every implementation of the port `TaskStore` guarantees for the end of a task and the messages about it. */
export function taskEndSuite(name: string, make: TaskGroundFactory): void {
  describe(`task end: ${name}`, () => {
    finishTests(make);
    finalTests(make);
    deliveryTests(make);
  });
}

const minute = 60_000;
const end = { state: "succeeded", output: fullTask.output, costNanoUsd: 250_000_000, detail: "done" } as const;

async function createAndLease(ground: TaskGround, name: string): Promise<LeasedTask> {
  await ground.taskStore.create(task(name, { account }));
  const leased = await ground.taskStore.leaseOne(`vt_${name}`, newYear, minute);
  if (leased === null) throw new Error(`${name} cannot be leased`);
  return leased;
}

const ledgerOf = async (ground: TaskGround) => {
  const { entries, costNanoUsd, faults } = await ground.ledgerStore.check();
  const spent = (await ground.ledgerStore.usage({})).reduce((sum, row) => sum + row.costNanoUsd, 0);
  return { entries, costNanoUsd, spent, faults };
};

function finishTests(make: TaskGroundFactory): void {
  test("writes the end of a task, its entry, the sums and the message together", async () => {
    await using ground = await make();
    const leased = await createAndLease(ground, "a");
    const at = newYear + 5 * minute;
    expect(await ground.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), at)).toBe(true);
    expect(await ground.taskStore.findById("vt_a")).toEqual({
      ...leased.task,
      state: "succeeded",
      output: fullTask.output,
      costNanoUsd: 250_000_000,
      updatedAt: at,
      finishedAt: at,
      dueAt: null,
    });
    expect((await ground.taskStore.events("vt_a")).at(-1)).toEqual({
      taskId: "vt_a",
      at,
      state: "succeeded",
      detail: "done",
    });
    expect(await ground.taskStore.deliveries("vt_a")).toEqual([delivery("a")]);
    expect((await ground.ledgerStore.page({}, null, 5)).entries).toEqual([taskEntry("a")]);
    expect(await ledgerOf(ground)).toEqual({ entries: 1, costNanoUsd: "250000000", spent: 250_000_000, faults: [] });
  });

  test("ends a task once and charges once for fifty concurrent attempts", async () => {
    await using ground = await make();
    const leased = await createAndLease(ground, "a");
    const states: readonly TaskState[] = [...finalTaskStates];
    const finishers = Array.from({ length: 50 }, (_, n) => {
      const step = { ...end, state: states[n % 4] ?? "failed" };
      return ground.taskStore.finish(leased, step, [taskEntry("a")], delivery("a", { id: `msg_${n}` }), newYear + n);
    });
    const answers = await Promise.all(finishers);
    expect(answers.filter((ended) => ended)).toHaveLength(1);
    const winner = answers.indexOf(true);
    expect(await ground.taskStore.findById("vt_a")).toMatchObject({ state: states[winner % 4] });
    expect(only(await ground.taskStore.deliveries("vt_a")).id).toBe(`msg_${winner}`);
    expect(await ground.taskStore.events("vt_a")).toHaveLength(2);
    expect(await ledgerOf(ground)).toMatchObject({ entries: 1, spent: 250_000_000, faults: [] });
  });

  test("ends a task whose entry is already in the ledger, and counts the entry once", async () => {
    await using ground = await make();
    const leased = await createAndLease(ground, "a");
    await ground.ledgerStore.insert([taskEntry("a")]);
    expect(await ground.taskStore.finish(leased, end, [taskEntry("a")], null, newYear)).toBe(true);
    expect(await ground.ledgerStore.insert([taskEntry("a")])).toBe(0);
    expect(await ledgerOf(ground)).toMatchObject({ entries: 1, spent: 250_000_000, faults: [] });
  });

  test("writes nothing when a part of the end cannot be written, and allows another attempt", async () => {
    await using ground = await make();
    const leased = await createAndLease(ground, "a");
    const invalidEnds: [ReturnType<typeof taskEntry>, ReturnType<typeof delivery>][] = [
      [taskEntry("a", { endedAt: Number.NaN }), delivery("a")],
      [taskEntry("a"), delivery("a", { createdAt: Number.NaN })],
      [taskEntry("a"), delivery("other")],
    ];
    for (const [entry, message] of invalidEnds) {
      await expect(ground.taskStore.finish(leased, end, [entry], message, newYear)).rejects.toThrow();
      expect(await ground.taskStore.findById("vt_a")).toEqual(leased.task);
      expect(await ground.taskStore.events("vt_a")).toHaveLength(1);
      expect(await ground.taskStore.deliveries("vt_a")).toEqual([]);
      expect(await ledgerOf(ground)).toMatchObject({ entries: 0, spent: 0 });
    }
    expect(await ground.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), newYear)).toBe(true);
  });

  test("rejects the end by a process that lost its lease", async () => {
    await using ground = await make();
    const old = await createAndLease(ground, "a");
    const newLease = await ground.taskStore.leaseOne("vt_a", newYear + minute, minute);
    const args = [end, [taskEntry("a")], delivery("a"), newYear + minute] as const;
    expect(await ground.taskStore.finish(old, ...args)).toBe(false);
    expect(await ground.taskStore.finish({ ...old, lease: "guessed" }, ...args)).toBe(false);
    expect(await ledgerOf(ground)).toMatchObject({ entries: 0, spent: 0 });
    expect(await ground.taskStore.deliveries("vt_a")).toEqual([]);
    if (newLease === null) throw new Error("an expired lease was not granted again");
    expect(await ground.taskStore.finish(newLease, ...args)).toBe(true);
  });

  test("ends a task only in a final state", async () => {
    await using ground = await make();
    const leased = await createAndLease(ground, "a");
    for (const state of ["accepted", "submitting", "unknown", "queued", "running"] as const) {
      await expect(ground.taskStore.finish(leased, { state }, [taskEntry("a")], null, newYear)).rejects.toThrow(state);
    }
    expect(await ground.taskStore.findById("vt_a")).toEqual(leased.task);
  });
}

function finalTests(make: TaskGroundFactory): void {
  test("never changes a final task", async () => {
    await using ground = await make();
    for (const [n, state] of [...finalTaskStates].entries()) {
      const name = `t${n}`;
      const leased = await createAndLease(ground, name);
      await ground.taskStore.finish(leased, { ...end, state }, [taskEntry(name)], null, newYear);
      const final = await ground.taskStore.findById(leased.task.id);
      const later = newYear + 99 * minute;
      expect(await ground.taskStore.step(leased, { state: "running" }, later, false)).toBe(false);
      expect(await ground.taskStore.step(leased, { progress: 1 }, later, false)).toBe(false);
      expect(await ground.taskStore.finish(leased, { state: "failed" }, [taskEntry(`${name}x`)], null, later)).toBe(
        false,
      );
      expect(await ground.taskStore.leaseOne(leased.task.id, later, minute)).toBeNull();
      await ground.taskStore.makeDueNow(leased.task.id, later);
      expect(await ground.taskStore.lease(later, minute, 9)).toEqual([]);
      expect(await ground.taskStore.findById(leased.task.id)).toEqual(final);
      expect(final?.state).toBe(state);
    }
    expect(await Array.fromAsync(ground.taskStore.open())).toEqual([]);
    expect(await ledgerOf(ground)).toMatchObject({ entries: finalTaskStates.size, faults: [] });
  });

  test("records a copied result on a final task, and changes nothing else", async () => {
    await using ground = await make();
    const leased = await createAndLease(ground, "a");
    const output = {
      videoUrl: "https://v",
      lastFrameUrl: null,
      expiresAt: null,
      blobHash: null,
      contentType: "video/x",
    };
    await ground.taskStore.finish(leased, { ...end, output }, [taskEntry("a")], null, newYear);
    const before = await ground.taskStore.findById("vt_a");
    await ground.taskStore.attachBlob("vt_a", "ab12", null);
    expect(await ground.taskStore.findById("vt_a")).toEqual({
      ...(before ?? leased.task),
      output: { ...output, blobHash: "ab12" },
    });
    await ground.taskStore.attachBlob("vt_a", "ab12", "video/mp4");
    expect((await ground.taskStore.findById("vt_a"))?.output?.contentType).toBe("video/mp4");
    await createAndLease(ground, "without");
    expect(await ground.taskStore.attachBlob("vt_without", "ab12", null)).toBe(false);
    expect((await ground.taskStore.findById("vt_without"))?.output).toBeNull();
  });

  test("deletes an ended task once and only in its workspace, and keeps its key and upstream id reserved", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a", { idempotencyKey: "once", upstreamId: "up-a" }));
    expect(await ground.taskStore.remove("ws_1", "vt_a", newYear)).toBeNull();
    const leased = await ground.taskStore.leaseOne("vt_a", newYear, minute);
    if (leased === null) throw new Error("the task cannot be leased");
    const { output } = fullTask;
    await ground.taskStore.finish(leased, { ...end, output }, [taskEntry("a")], null, newYear);
    await ground.taskStore.attachBlob("vt_a", "ab12", null);
    expect(await ground.taskStore.remove("ws_2", "vt_a", newYear)).toBeNull();
    expect(await ground.taskStore.remove("ws_1", "vt_a", newYear + 1)).toEqual({ blobHash: "ab12" });
    expect(await ground.taskStore.remove("ws_1", "vt_a", newYear + 2)).toBeNull();
    expect(await ground.taskStore.find("ws_1", "vt_a")).toBeNull();
    for (const workspaceId of ["ws_1", null]) {
      expect((await ground.taskStore.page({ workspaceId }, null, 5)).tasks).toEqual([]);
    }
    const deletedTask = await ground.taskStore.findByKey("ws_1", "once");
    expect(deletedTask).toMatchObject({
      deletedAt: newYear + 1,
      request: "{}",
      output: null,
      error: null,
      account: null,
    });
    expect([deletedTask?.asked.prompt, deletedTask?.metadata, deletedTask?.callbackUrl]).toEqual([null, {}, null]);
    expect(await ground.taskStore.findById("vt_a")).toEqual(deletedTask);
    expect((await ground.taskStore.withUpstreamIds(["up-a"])).map(({ taskId }) => taskId)).toEqual(["vt_a"]);
    expect(await ground.taskStore.attachBlob("vt_a", "ab12", null)).toBe(false);
    expect(await ground.assetStore.blobUses("ab12")).toBe(0);
    expect((await ground.ledgerStore.page({}, null, 5)).entries).toEqual([taskEntry("a")]);
  });

  test("deletes the messages of a deleted task, sent ones at once and others after they were sent", async () => {
    await using ground = await make();
    const sent = { tries: 1, dueAt: null, lastStatus: 200, lastError: null, deliveredAt: newYear };
    for (const name of ["sent", "waiting", "kept"]) {
      const leased = await createAndLease(ground, name);
      await ground.taskStore.finish(leased, end, [taskEntry(name)], delivery(name), newYear);
    }
    const leased = await ground.taskStore.dueDeliveries(newYear, minute, 9);
    const send = async (id: string): Promise<void> => {
      const one = leased.find((message) => message.id === id);
      if (one !== undefined) await ground.taskStore.recordDelivery(one, sent);
    };
    await send("msg_sent");
    await send("msg_kept");
    for (const name of ["sent", "waiting"]) await ground.taskStore.remove("ws_1", `vt_${name}`, newYear);
    const countMessages = async () => {
      const names = ["sent", "waiting", "kept"];
      return (await Promise.all(names.map((name) => ground.taskStore.deliveries(`vt_${name}`)))).map(
        (all) => all.length,
      );
    };
    expect(await countMessages()).toEqual([0, 1, 1]);
    await send("msg_waiting");
    expect(await countMessages()).toEqual([0, 0, 1]);
  });

  test("keeps tasks, their history and messages when the ledger is pruned", async () => {
    await using ground = await make();
    const leased = await createAndLease(ground, "a");
    await ground.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), newYear);
    await createAndLease(ground, "open");
    expect(await ground.ledgerStore.prune(newYear + 99 * minute)).toBe(1);
    expect((await ground.taskStore.page({ workspaceId: "ws_1" }, null, 9)).tasks).toHaveLength(2);
    expect(await ground.taskStore.events("vt_a")).toHaveLength(2);
    expect(await ground.taskStore.deliveries("vt_a")).toHaveLength(1);
    expect((await ground.taskStore.findById("vt_a"))?.request).toBe(leased.task.request);
  });
}

function deliveryTests(make: TaskGroundFactory): void {
  test("leases a message to one sender at a time, oldest first, until its result is recorded", async () => {
    await using ground = await make();
    for (const [n, name] of ["a", "b", "c"].entries()) {
      const leased = await createAndLease(ground, name);
      await ground.taskStore.finish(leased, end, [taskEntry(name)], delivery(name, { dueAt: newYear + n }), newYear);
    }
    const due = async (at: number, limit = 9) =>
      (await ground.taskStore.dueDeliveries(at, minute, limit)).map((d) => d.id);
    expect(await due(newYear - 1)).toEqual([]);
    expect(await ground.taskStore.nextDue(newYear - 1)).toBe(newYear);
    expect(await due(newYear + 2, 1)).toEqual(["msg_a"]);
    expect(await ground.taskStore.nextDue(newYear + 2)).toBe(newYear + 1);
    const both = await Promise.all([due(newYear + 2), due(newYear + 2)]);
    expect(both.flat().toSorted()).toEqual(["msg_b", "msg_c"]);
    const failed = { tries: 1, dueAt: newYear + 5, lastStatus: 500, lastError: "HTTP 500", deliveredAt: null };
    const leased = { dueAt: newYear + 2 + minute };
    await ground.taskStore.recordDelivery({ id: "msg_a", ...leased }, failed);
    const arrived = { ...failed, dueAt: null, lastStatus: 200, deliveredAt: newYear + 3 };
    await ground.taskStore.recordDelivery({ id: "msg_b", ...leased }, arrived);
    expect(await due(newYear + 5)).toEqual(["msg_a"]);
    expect(only(await ground.taskStore.deliveries("vt_b"))).toEqual(
      delivery("b", { tries: 1, dueAt: null, lastStatus: 200, lastError: "HTTP 500", deliveredAt: newYear + 3 }),
    );
    expect((await due(newYear + 99 * minute)).toSorted()).toEqual(["msg_a", "msg_c"]);
    for (const name of ["msg_a", "msg_c"]) {
      await ground.taskStore.recordDelivery({ id: name, dueAt: newYear + 100 * minute }, arrived);
    }
    expect(await ground.taskStore.nextDue(newYear)).toBeNull();
  });

  test("ignores a failure by a sender that lost its lease, but records a successful delivery by any sender", async () => {
    await using ground = await make();
    const leasedTask = await createAndLease(ground, "a");
    await ground.taskStore.finish(leasedTask, end, [taskEntry("a")], delivery("a", { dueAt: newYear }), newYear);
    const slow = only(await ground.taskStore.dueDeliveries(newYear, minute, 9));
    const quick = only(await ground.taskStore.dueDeliveries(newYear + minute, minute, 9));
    const failed = { tries: 1, dueAt: null, lastStatus: 500, lastError: "HTTP 500", deliveredAt: null };
    await ground.taskStore.recordDelivery(slow, failed);
    expect(only(await ground.taskStore.deliveries("vt_a"))).toEqual(quick);
    const arrived = { ...failed, lastStatus: 200, lastError: null, deliveredAt: newYear + 3 };
    await ground.taskStore.recordDelivery(slow, arrived);
    await ground.taskStore.recordDelivery(quick, failed);
    expect(only(await ground.taskStore.deliveries("vt_a"))).toMatchObject(arrived);
  });
}
