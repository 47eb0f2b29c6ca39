import { expect, test } from "bun:test";
import { Failure, type Task } from "#core/index.ts";
import {
  budgetUsed,
  catOnRoof,
  createCall,
  entriesOf,
  failureOf,
  openTaskSetup,
  openTaskWorld,
  passTime,
  type TaskWorld,
} from "../../../test/simulation/task-setup.ts";
import type { TaskStore } from "../store/task-store.ts";

type Lost = "before the commit" | "after the commit" | "unsent";

/** A store that fails at the first created task; `down`: it then stays unavailable until it is repaired. */
function breakingStore({ taskStore }: TaskWorld, lost: Lost, down: boolean): { store: TaskStore; mend(): void } {
  let broken: "not yet" | "now" | "mended" = "not yet";
  const arrival = lost === "unsent" ? "unsent" : "unknown";
  const away = () => new Failure("storage_unavailable", "The database went away.", { arrival });
  const whenThere = <T>(act: () => Promise<T>): Promise<T> =>
    broken === "now" && down ? Promise.reject(away()) : act();
  const store: TaskStore = {
    ...taskStore,
    async create(task: Task, material) {
      if (broken !== "not yet") return taskStore.create(task, material);
      broken = "now";
      if (lost === "after the commit") await taskStore.create(task, material);
      throw away();
    },
    findById: (id) => whenThere(() => taskStore.findById(id)),
    leaseOne: (id, now, leaseMs) => whenThere(() => taskStore.leaseOne(id, now, leaseMs)),
    lease: (now, leaseMs, limit) => whenThere(() => taskStore.lease(now, leaseMs, limit)),
    nextDue: (now) => whenThere(() => taskStore.nextDue(now)),
  };
  return {
    store,
    mend: () => {
      broken = "mended";
    },
  };
}

test("submits a task if the confirmation of its commit was lost, and holds its money", async () => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world, { store: breakingStore(world, "after the commit", false).store });
  const made = await gateway.videos.create(createCall(world, catOnRoof));
  expect([made.state, world.ark.tasks.size, gateway.videos.held]).toEqual(["queued", 1, 1]);
  expect(await budgetUsed(gateway)).toBeGreaterThan(1);
  gateway.videos.start();
  await passTime(world.clock, 60_000);
  expect([await budgetUsed(gateway), gateway.videos.held, (await entriesOf(world)).length]).toEqual([1, 0, 1]);
  await gateway.videos.stop();
});

test("holds money while it is uncertain whether a task was stored", async () => {
  for (const lost of ["after the commit", "before the commit"] as const) {
    await using world = await openTaskWorld();
    const { store, mend } = breakingStore(world, lost, true);
    const gateway = openTaskSetup(world, { store });
    const { videos, admission } = gateway;
    videos.start();
    expect((await failureOf(videos.create(createCall(world, catOnRoof)))).code).toBe("storage_unavailable");
    await passTime(world.clock, 20_000);
    expect([videos.held, world.ark.tasks.size]).toEqual([1, 0]);
    expect(await budgetUsed(gateway)).toBeGreaterThan(1);
    mend();
    await passTime(world.clock, 90_000);
    const made = lost === "after the commit" ? 1 : 0;
    expect([videos.held, world.ark.tasks.size, await budgetUsed(gateway)]).toEqual([0, made, made]);
    expect([admission.outstanding, admission.repeatedEndings]).toEqual([0, 0]);
    await videos.stop();
  }
});

test.each([
  ["unsent", true],
  ["before the commit", false],
] as const)("a task that was certainly not stored holds nothing: %s", async (lost, down) => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world, { store: breakingStore(world, lost, down).store });
  expect((await failureOf(gateway.videos.create(createCall(world, catOnRoof)))).code).toBe("storage_unavailable");
  expect([gateway.videos.held, await budgetUsed(gateway), gateway.admission.outstanding]).toEqual([0, 0, 0]);
});
