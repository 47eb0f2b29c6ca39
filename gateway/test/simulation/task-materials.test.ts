import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { Failure, type Task } from "#core/index.ts";
import type { BlobStore } from "#ports/index.ts";
import { taskMaterialSweepMs } from "#tasks/accept/task-body.ts";
import type { CreateCall, TaskStore } from "#tasks/index.ts";
import { until } from "../../../test/until.ts";
import {
  budgetUsed,
  createCall,
  failureOf,
  openTaskSetup,
  openTaskWorld,
  passTime,
  type TaskSetup,
  type TaskWorld,
} from "./task-setup.ts";

/** Just as long as a body that is stored as a file, and without repetition. */
const picture = `data:image/png;base64,${Array.from({ length: 9_000 }, (_, at) => String(at).padStart(12, "A")).join("")}`;

test("stores a large picture as a file until its task is sent, keeps the row small, and deletes the file then", async () => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world, { blobs: world.blobs });
  const call = await largeCall(world, gateway);
  expect(call.body.text.length).toBeLessThan(1_000);
  const task = await gateway.videos.create(call);
  expect(task.request).toBe(call.body.text);
  expect(pictures(world)).toEqual([picture]);
  expect(storedBlobs(world)).toEqual([]);
});

test("sends the task of a killed process once with its picture, and leaves no file, for a kill at any step", async () => {
  for (const moment of ["before", "after"] as const) {
    let steps = 0;
    for (let step = 1; ; step++) {
      await using world = await openTaskWorld();
      const killer = new KillAtStep(step, moment);
      const killedProcess = openTaskSetup(world, {
        blobs: killer.wrap(world.blobs),
        store: killer.wrap(world.taskStore),
        transport: killer.wrap(world.ark),
      });
      const call = await largeCall(world, killedProcess);
      const creation = killedProcess.videos.create(call).then(() => "answered");
      const end = await Promise.race([creation, killer.killed]);
      if (end === "answered") break;
      steps++;
      const leftTask = await world.taskStore.findById(call.body.taskId);
      const nextProcess = openTaskSetup(world, { blobs: world.blobs });
      nextProcess.videos.start();
      await until(async () => {
        await passTime(world.clock, taskMaterialSweepMs, 5_000);
        const material = await world.database.kysely.selectFrom("task_materials").selectAll().execute();
        return material.length === 0 && (leftTask?.state !== "accepted" || (await isOver(world, leftTask)));
      });
      await nextProcess.videos.stop();
      expect(storedBlobs(world)).toEqual([]);
      const sent = pictures(world);
      const description = `${moment} step ${step}, ${leftTask?.state}`;
      if (leftTask === null) expect(sent, description).toEqual([]);
      else if (leftTask.state === "accepted") expect(sent, description).toEqual([picture]);
      else expect(sent, description).toEqual(sent.length === 0 ? [] : [picture]);
    }
    // Recorded, stored, created, leased, started, sent, recorded as sent, removed and deleted.
    expect(steps).toBeGreaterThanOrEqual(9);
  }
});

test.each([
  ["recordMaterial", "internal_error"],
  ["put", "storage_unavailable"],
  ["create", "internal_error"],
] as const)("accepts nothing, reserves nothing and keeps no file when the store fails at %s", async (name, code) => {
  await using world = await openTaskWorld();
  const fails = () => Promise.reject(code === "internal_error" ? new Error("no disk") : new Failure(code, "full"));
  const gateway = openTaskSetup(world, {
    blobs: name === "put" ? { ...world.blobs, put: fails } : world.blobs,
    store: name === "put" ? world.taskStore : { ...world.taskStore, [name]: fails },
  });
  const call = await largeCall(world, gateway);
  expect((await failureOf(gateway.videos.create(call))).code).toBe(code);
  expect(storedBlobs(world)).toEqual([]);
  expect(await budgetUsed(gateway)).toBe(0);
  expect(await world.taskStore.findById(call.body.taskId)).toBeNull();
  expect(await world.taskStore.material(call.body.taskId)).toBeNull();
});

test("creates one task with one file for an Idempotency-Key, also for concurrent calls, and returns a conflict for another picture", async () => {
  await using world = await openTaskWorld();
  const gateway = openTaskSetup(world, { blobs: world.blobs });
  const calls: CreateCall[] = [];
  for (let n = 0; n < 4; n++) calls.push({ ...(await largeCall(world, gateway)), idempotencyKey: "scene-1" });
  const tasks = await Promise.all(calls.map((call) => gateway.videos.create(call)));
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
  expect(pictures(world)).toEqual([picture]);
  const again = await gateway.videos.create({ ...(await largeCall(world, gateway)), idempotencyKey: "scene-1" });
  expect(again.id).toBe(tasks[0]?.id ?? "");
  const other = { ...(await largeCall(world, gateway, { image: `${picture}A` })), idempotencyKey: "scene-1" };
  expect((await failureOf(gateway.videos.create(other))).code).toBe("idempotency_conflict");
  expect(storedBlobs(world)).toEqual([]);
});

test("sends the same picture to a second account when the first one refuses the task", async () => {
  await using world = await openTaskWorld(1, { create: refusesOnce() });
  const gateway = openTaskSetup(world, { blobs: world.blobs });
  await gateway.videos.create(await largeCall(world, gateway));
  expect(world.ark.sent).toHaveLength(2);
  expect(pictures(world)).toEqual([picture]);
  expect(storedBlobs(world)).toEqual([]);
});

test("keeps a task waiting until there is memory for its picture", async () => {
  await using world = await openTaskWorld();
  let hasMemory = false;
  const hold = (): void => {
    if (!hasMemory) throw new Failure("overloaded", "no memory");
  };
  const gateway = openTaskSetup(world, { blobs: world.blobs, memory: { open: () => ({ hold, release: () => {} }) } });
  const call = { ...(await largeCall(world, gateway)), held: { hold, release: () => {} } };
  const task = await gateway.videos.create(call);
  expect(task.state).toBe("accepted");
  gateway.videos.start();
  await passTime(world.clock, 60_000, 5_000);
  expect(pictures(world)).toEqual([]);
  hasMemory = true;
  await until(async () => {
    await passTime(world.clock, 5_000);
    return await isOver(world, task);
  });
  await gateway.videos.stop();
  expect(pictures(world)).toEqual([picture]);
});

test("fails a task without cost when its file is missing", async () => {
  await using world = await openTaskWorld();
  const task = await acceptedOnly(world);
  for (const hash of storedBlobs(world)) await world.blobs.remove(hash);
  const gateway = openTaskSetup(world, { blobs: world.blobs });
  gateway.videos.start();
  await until(async () => {
    await passTime(world.clock, 5_000);
    return await isOver(world, task);
  });
  await gateway.videos.stop();
  expect(await world.taskStore.findById(task.id)).toMatchObject({
    state: "failed",
    costNanoUsd: 0,
    error: { code: "material_lost" },
  });
  expect(pictures(world)).toEqual([]);
});

test("deletes the file of a task that is cancelled before it is sent", async () => {
  await using world = await openTaskWorld();
  const task = await acceptedOnly(world);
  expect(storedBlobs(world)).toHaveLength(1);
  const gateway = openTaskSetup(world, { blobs: world.blobs });
  await gateway.videos.cancel(task.workspaceId, task.id);
  gateway.videos.start();
  await until(async () => {
    await passTime(world.clock, taskMaterialSweepMs, 5_000);
    return storedBlobs(world).length === 0;
  });
  await gateway.videos.stop();
  expect(pictures(world)).toEqual([]);
});

async function largeCall(world: TaskWorld, gateway: TaskSetup, changes: object = {}): Promise<CreateCall> {
  const sent = { model: "seedance", prompt: "a cat", image: picture, ...changes };
  const { body } = await gateway.videos.read(
    { bytes: new TextEncoder().encode(JSON.stringify(sent)), openai: null },
    null,
  );
  return createCall(world, {}, { body });
}

/** A task that was accepted by a process that did nothing more. */
async function acceptedOnly(world: TaskWorld): Promise<Task> {
  const gateway = openTaskSetup(world, { blobs: world.blobs, store: neverLeased(world.taskStore) });
  return await gateway.videos.create(await largeCall(world, gateway));
}

function neverLeased(store: TaskStore): TaskStore {
  return { ...store, leaseOne: async () => null };
}

function refusesOnce() {
  let refused = false;
  return () => {
    if (refused) return null;
    refused = true;
    return { status: 429, code: "QuotaExceeded" } as const;
  };
}

/** The pictures that the vendor received, task by task. */
function pictures({ ark }: TaskWorld): readonly unknown[] {
  return [...ark.tasks.values()].map(({ body }) => {
    const content = body["content"] as readonly { readonly image_url?: { readonly url?: unknown } }[];
    return content.find((item) => item.image_url !== undefined)?.image_url?.url;
  });
}

/** The hashes of all blobs in the store. */
function storedBlobs({ blobDirectory }: TaskWorld): readonly string[] {
  const folders = readdirSync(blobDirectory).filter((name) => name !== "arriving");
  return folders.flatMap((name) => readdirSync(`${blobDirectory}/${name}`));
}

async function isOver({ taskStore }: TaskWorld, { id }: Task): Promise<boolean> {
  return (await taskStore.findById(id))?.finishedAt != null;
}

/** A process that is killed at its nth step. That step happens or not, and the process never learns of its result. */
class KillAtStep {
  readonly killed: Promise<"over">;
  readonly #step: number;
  readonly #moment: "before" | "after";
  readonly #end: () => void;
  #steps = 0;
  #dead = false;

  constructor(step: number, moment: "before" | "after") {
    const { promise, resolve } = Promise.withResolvers<"over">();
    this.killed = promise;
    this.#end = () => {
      this.#dead = true;
      resolve("over");
    };
    this.#step = step;
    this.#moment = moment;
  }

  wrap<Port extends TaskStore | BlobStore | TaskWorld["ark"]>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const act: unknown = Reflect.get(target, name, target);
        if (typeof act !== "function" || name === "open") return act;
        return (...args: unknown[]) => this.#through(() => act.apply(target, args));
      },
    });
  }

  async #through(act: () => unknown): Promise<unknown> {
    const isKillStep = ++this.#steps === this.#step;
    if (isKillStep && this.#moment === "before") this.#end();
    if (this.#dead) return await never();
    const result = await act();
    if (isKillStep) this.#end();
    return this.#dead ? await never() : result;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
