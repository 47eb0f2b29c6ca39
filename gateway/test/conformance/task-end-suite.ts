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

/** What every implementation of the port `TaskStore` guarantees about the end of a task and the messages about it. */
export function taskEndSuite(name: string, make: TaskGroundFactory): void {
  describe(`task end: ${name}`, () => {
    finishTests(make);
    finalTests(make);
    deliveryTests(make);
  });
}

const minute = 60_000;
const end = { state: "succeeded", output: fullTask.output, costNanoUsd: 250_000_000, detail: "done" } as const;

async function taken(ground: TaskGround, name: string): Promise<LeasedTask> {
  await ground.taskStore.create(task(name, { account }));
  const leased = await ground.taskStore.leaseOne(`vt_${name}`, newYear, minute);
  if (leased === null) throw new Error(`${name} cannot be leased`);
  return leased;
}

const moneyOf = async (ground: TaskGround) => {
  const { entries, costNanoUsd, faults } = await ground.ledgerStore.check();
  const spent = (await ground.ledgerStore.usage({})).reduce((sum, row) => sum + row.costNanoUsd, 0);
  return { entries, costNanoUsd, spent, faults };
};

function finishTests(make: TaskGroundFactory): void {
  test("the end, its entry, the rollups and the message are written together", async () => {
    await using ground = await make();
    const leased = await taken(ground, "a");
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
    expect(await moneyOf(ground)).toEqual({ entries: 1, costNanoUsd: "250000000", spent: 250_000_000, faults: [] });
  });

  test("of fifty that end it at once one does, and money moves once", async () => {
    await using ground = await make();
    const leased = await taken(ground, "a");
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
    expect(await moneyOf(ground)).toMatchObject({ entries: 1, spent: 250_000_000, faults: [] });
  });

  test("an entry that is in the ledger already ends the task and counts once", async () => {
    await using ground = await make();
    const leased = await taken(ground, "a");
    await ground.ledgerStore.insert([taskEntry("a")]);
    expect(await ground.taskStore.finish(leased, end, [taskEntry("a")], null, newYear)).toBe(true);
    expect(await ground.ledgerStore.insert([taskEntry("a")])).toBe(0);
    expect(await moneyOf(ground)).toMatchObject({ entries: 1, spent: 250_000_000, faults: [] });
  });

  test("an end that cannot be written whole is not written at all, and may be tried again", async () => {
    await using ground = await make();
    const leased = await taken(ground, "a");
    const broken: [ReturnType<typeof taskEntry>, ReturnType<typeof delivery>][] = [
      [taskEntry("a", { endedAt: Number.NaN }), delivery("a")],
      [taskEntry("a"), delivery("a", { createdAt: Number.NaN })],
      [taskEntry("a"), delivery("other")],
    ];
    for (const [entry, message] of broken) {
      await expect(ground.taskStore.finish(leased, end, [entry], message, newYear)).rejects.toThrow();
      expect(await ground.taskStore.findById("vt_a")).toEqual(leased.task);
      expect(await ground.taskStore.events("vt_a")).toHaveLength(1);
      expect(await ground.taskStore.deliveries("vt_a")).toEqual([]);
      expect(await moneyOf(ground)).toMatchObject({ entries: 0, spent: 0 });
    }
    expect(await ground.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), newYear)).toBe(true);
  });

  test("who lost the lease ends nothing and moves no money", async () => {
    await using ground = await make();
    const old = await taken(ground, "a");
    const fresh = await ground.taskStore.leaseOne("vt_a", newYear + minute, minute);
    const args = [end, [taskEntry("a")], delivery("a"), newYear + minute] as const;
    expect(await ground.taskStore.finish(old, ...args)).toBe(false);
    expect(await ground.taskStore.finish({ ...old, lease: "guessed" }, ...args)).toBe(false);
    expect(await moneyOf(ground)).toMatchObject({ entries: 0, spent: 0 });
    expect(await ground.taskStore.deliveries("vt_a")).toEqual([]);
    if (fresh === null) throw new Error("an expired lease was not given again");
    expect(await ground.taskStore.finish(fresh, ...args)).toBe(true);
  });

  test("a task ends only in a final state", async () => {
    await using ground = await make();
    const leased = await taken(ground, "a");
    for (const state of ["accepted", "submitting", "unknown", "queued", "running"] as const) {
      await expect(ground.taskStore.finish(leased, { state }, [taskEntry("a")], null, newYear)).rejects.toThrow(state);
    }
    expect(await ground.taskStore.findById("vt_a")).toEqual(leased.task);
  });
}

function finalTests(make: TaskGroundFactory): void {
  test("a final task never changes, whoever asks", async () => {
    await using ground = await make();
    for (const [n, state] of [...finalTaskStates].entries()) {
      const name = `t${n}`;
      const leased = await taken(ground, name);
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
    expect(await moneyOf(ground)).toMatchObject({ entries: finalTaskStates.size, faults: [] });
  });

  test("a copied result is noted on a final task, and nothing else of it changes", async () => {
    await using ground = await make();
    const leased = await taken(ground, "a");
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
    await taken(ground, "without");
    expect(await ground.taskStore.attachBlob("vt_without", "ab12", null)).toBe(false);
    expect((await ground.taskStore.findById("vt_without"))?.output).toBeNull();
  });

  test("what has ended is deleted once, of its own workspace alone: nothing of it is shown, its key and its upstream id stay taken", async () => {
    await using ground = await make();
    await ground.taskStore.create(task("a", { idempotencyKey: "once", upstreamId: "up-a" }));
    expect(await ground.taskStore.remove("ws_1", "vt_a", newYear)).toBeNull();
    const leased = await ground.taskStore.leaseOne("vt_a", newYear, minute);
    if (leased === null) throw new Error("nobody has it");
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
    const left = await ground.taskStore.findByKey("ws_1", "once");
    expect(left).toMatchObject({ deletedAt: newYear + 1, request: "{}", output: null, error: null, account: null });
    expect([left?.asked.prompt, left?.metadata, left?.callbackUrl]).toEqual([null, {}, null]);
    expect(await ground.taskStore.findById("vt_a")).toEqual(left);
    expect((await ground.taskStore.withUpstreamIds(["up-a"])).map(({ taskId }) => taskId)).toEqual(["vt_a"]);
    expect(await ground.taskStore.attachBlob("vt_a", "ab12", null)).toBe(false);
    expect(await ground.assetStore.blobUses("ab12")).toBe(0);
    expect((await ground.ledgerStore.page({}, null, 5)).entries).toEqual([taskEntry("a")]);
  });

  test("messages go with the task that was deleted: at once when they are over, else when they have been told", async () => {
    await using ground = await make();
    const told = { tries: 1, dueAt: null, lastStatus: 200, lastError: null, deliveredAt: newYear };
    for (const name of ["told", "waiting", "kept"]) {
      const leased = await taken(ground, name);
      await ground.taskStore.finish(leased, end, [taskEntry(name)], delivery(name), newYear);
    }
    const leased = await ground.taskStore.dueDeliveries(newYear, minute, 9);
    const tell = async (id: string): Promise<void> => {
      const one = leased.find((message) => message.id === id);
      if (one !== undefined) await ground.taskStore.recordDelivery(one, told);
    };
    await tell("msg_told");
    await tell("msg_kept");
    for (const name of ["told", "waiting"]) await ground.taskStore.remove("ws_1", `vt_${name}`, newYear);
    const left = async () => {
      const names = ["told", "waiting", "kept"];
      return (await Promise.all(names.map((name) => ground.taskStore.deliveries(`vt_${name}`)))).map(
        (all) => all.length,
      );
    };
    expect(await left()).toEqual([0, 1, 1]);
    await tell("msg_waiting");
    expect(await left()).toEqual([0, 0, 1]);
  });

  test("retention of the ledger takes no task, no history and no message", async () => {
    await using ground = await make();
    const leased = await taken(ground, "a");
    await ground.taskStore.finish(leased, end, [taskEntry("a")], delivery("a"), newYear);
    await taken(ground, "open");
    expect(await ground.ledgerStore.prune(newYear + 99 * minute)).toBe(1);
    expect((await ground.taskStore.page({ workspaceId: "ws_1" }, null, 9)).tasks).toHaveLength(2);
    expect(await ground.taskStore.events("vt_a")).toHaveLength(2);
    expect(await ground.taskStore.deliveries("vt_a")).toHaveLength(1);
    expect((await ground.taskStore.findById("vt_a"))?.request).toBe(leased.task.request);
  });
}

function deliveryTests(make: TaskGroundFactory): void {
  test("a message is given to one sender at a time, oldest due first, until it is told how it went", async () => {
    await using ground = await make();
    for (const [n, name] of ["a", "b", "c"].entries()) {
      const leased = await taken(ground, name);
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

  test("a sender that lost its lease changes nothing by a failure; that a message arrived is noted whoever says it", async () => {
    await using ground = await make();
    const first = await taken(ground, "a");
    await ground.taskStore.finish(first, end, [taskEntry("a")], delivery("a", { dueAt: newYear }), newYear);
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
