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
  openTaskTown,
  passTime,
  type TaskSetup,
  type TaskTown,
} from "./task-setup.ts";

/** Of no other length than a body has that is kept apart, and other than every other. */
const picture = `data:image/png;base64,${Array.from({ length: 9_000 }, (_, at) => String(at).padStart(12, "A")).join("")}`;

test("a large picture is a file while its task waits, whole when it is sent, and gone then; the row stays small", async () => {
  await using town = await openTaskTown();
  const gateway = openTaskSetup(town, { blobs: town.blobs });
  const call = await largeCall(town, gateway);
  expect(call.body.text.length).toBeLessThan(1_000);
  const task = await gateway.videos.create(call);
  expect(task.request).toBe(call.body.text);
  expect(pictures(town)).toEqual([picture]);
  expect(kept(town)).toEqual([]);
});

test("what a process leaves that is killed at any step is sent once and whole, and no file stays behind", async () => {
  for (const moment of ["before", "after"] as const) {
    let steps = 0;
    for (let step = 1; ; step++) {
      await using town = await openTaskTown();
      const life = new Life(step, moment);
      const dying = openTaskSetup(town, {
        blobs: life.over(town.blobs),
        store: life.over(town.taskStore),
        transport: life.over(town.ark),
      });
      const call = await largeCall(town, dying);
      const answered = dying.videos.create(call).then(() => "answered");
      const end = await Promise.race([answered, life.killed]);
      if (end === "answered") break;
      steps++;
      const left = await town.taskStore.findById(call.body.taskId);
      const living = openTaskSetup(town, { blobs: town.blobs });
      living.videos.start();
      await until(async () => {
        await passTime(town.clock, taskMaterialSweepMs, 5_000);
        const material = await town.database.kysely.selectFrom("task_materials").selectAll().execute();
        return material.length === 0 && (left?.state !== "accepted" || (await isOver(town, left)));
      });
      await living.videos.stop();
      expect(kept(town)).toEqual([]);
      const sent = pictures(town);
      const where = `${moment} step ${step}, ${left?.state}`;
      if (left === null) expect(sent, where).toEqual([]);
      else if (left.state === "accepted") expect(sent, where).toEqual([picture]);
      else expect(sent, where).toEqual(sent.length === 0 ? [] : [picture]);
    }
    // Noted, stored, made, leased, begun, sent, its name noted, removed, forgotten.
    expect(steps).toBeGreaterThanOrEqual(9);
  }
});

test.each([
  ["recordMaterial", "internal_error"],
  ["put", "storage_unavailable"],
  ["create", "internal_error"],
] as const)("a store that fails at %s accepts nothing, sets nothing aside and keeps no file", async (name, code) => {
  await using town = await openTaskTown();
  const fails = () => Promise.reject(code === "internal_error" ? new Error("no disk") : new Failure(code, "full"));
  const gateway = openTaskSetup(town, {
    blobs: name === "put" ? { ...town.blobs, put: fails } : town.blobs,
    store: name === "put" ? town.taskStore : { ...town.taskStore, [name]: fails },
  });
  const call = await largeCall(town, gateway);
  expect((await failureOf(gateway.videos.create(call))).code).toBe(code);
  expect(kept(town)).toEqual([]);
  expect(await budgetUsed(gateway)).toBe(0);
  expect(await town.taskStore.findById(call.body.taskId)).toBeNull();
  expect(await town.taskStore.material(call.body.taskId)).toBeNull();
});

test("one Idempotency-Key makes one task with one file, also for callers at the same time; another picture is a conflict", async () => {
  await using town = await openTaskTown();
  const gateway = openTaskSetup(town, { blobs: town.blobs });
  const calls: CreateCall[] = [];
  for (let n = 0; n < 4; n++) calls.push({ ...(await largeCall(town, gateway)), idempotencyKey: "scene-1" });
  const tasks = await Promise.all(calls.map((call) => gateway.videos.create(call)));
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
  expect(pictures(town)).toEqual([picture]);
  const again = await gateway.videos.create({ ...(await largeCall(town, gateway)), idempotencyKey: "scene-1" });
  expect(again.id).toBe(tasks[0]?.id ?? "");
  const other = { ...(await largeCall(town, gateway, { image: `${picture}A` })), idempotencyKey: "scene-1" };
  expect((await failureOf(gateway.videos.create(other))).code).toBe("idempotency_conflict");
  expect(kept(town)).toEqual([]);
});

test("a second account is sent the same picture when the first refuses the task", async () => {
  await using town = await openTaskTown(1, { create: refusesOnce() });
  const gateway = openTaskSetup(town, { blobs: town.blobs });
  await gateway.videos.create(await largeCall(town, gateway));
  expect(town.ark.sent).toHaveLength(2);
  expect(pictures(town)).toEqual([picture]);
  expect(kept(town)).toEqual([]);
});

test("while there is no room for its picture a task waits, and is sent when there is", async () => {
  await using town = await openTaskTown();
  let room = false;
  const hold = (): void => {
    if (!room) throw new Failure("overloaded", "no room");
  };
  const gateway = openTaskSetup(town, { blobs: town.blobs, memory: { open: () => ({ hold, release: () => {} }) } });
  const call = { ...(await largeCall(town, gateway)), held: { hold, release: () => {} } };
  const task = await gateway.videos.create(call);
  expect(task.state).toBe("accepted");
  gateway.videos.start();
  await passTime(town.clock, 60_000, 5_000);
  expect(pictures(town)).toEqual([]);
  room = true;
  await until(async () => {
    await passTime(town.clock, 5_000);
    return await isOver(town, task);
  });
  await gateway.videos.stop();
  expect(pictures(town)).toEqual([picture]);
});

test("a task whose file somebody has removed fails for nothing, instead of being sent without it", async () => {
  await using town = await openTaskTown();
  const task = await leftBehind(town);
  for (const hash of kept(town)) await town.blobs.remove(hash);
  const gateway = openTaskSetup(town, { blobs: town.blobs });
  gateway.videos.start();
  await until(async () => {
    await passTime(town.clock, 5_000);
    return await isOver(town, task);
  });
  await gateway.videos.stop();
  expect(await town.taskStore.findById(task.id)).toMatchObject({
    state: "failed",
    costNanoUsd: 0,
    error: { code: "material_lost" },
  });
  expect(pictures(town)).toEqual([]);
});

test("a task that is cancelled before it is sent leaves no file", async () => {
  await using town = await openTaskTown();
  const task = await leftBehind(town);
  expect(kept(town)).toHaveLength(1);
  const gateway = openTaskSetup(town, { blobs: town.blobs });
  await gateway.videos.cancel(task.workspaceId, task.id);
  gateway.videos.start();
  await until(async () => {
    await passTime(town.clock, taskMaterialSweepMs, 5_000);
    return kept(town).length === 0;
  });
  await gateway.videos.stop();
  expect(pictures(town)).toEqual([]);
});

async function largeCall(town: TaskTown, gateway: TaskSetup, changes: object = {}): Promise<CreateCall> {
  const sent = { model: "seedance", prompt: "a cat", image: picture, ...changes };
  const { body } = await gateway.videos.read(
    { bytes: new TextEncoder().encode(JSON.stringify(sent)), openai: null },
    null,
  );
  return createCall(town, {}, { body });
}

/** Accepted by a process that came to no more. */
async function leftBehind(town: TaskTown): Promise<Task> {
  const gateway = openTaskSetup(town, { blobs: town.blobs, store: neverLeased(town.taskStore) });
  return await gateway.videos.create(await largeCall(town, gateway));
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

/** What the vendor was given, task by task. */
function pictures({ ark }: TaskTown): readonly unknown[] {
  return [...ark.made.values()].map(({ body }) => {
    const content = body["content"] as readonly { readonly image_url?: { readonly url?: unknown } }[];
    return content.find((item) => item.image_url !== undefined)?.image_url?.url;
  });
}

/** Hashes of all that the blob store holds. */
function kept({ blobDirectory }: TaskTown): readonly string[] {
  const folders = readdirSync(blobDirectory).filter((name) => name !== "arriving");
  return folders.flatMap((name) => readdirSync(`${blobDirectory}/${name}`));
}

async function isOver({ taskStore }: TaskTown, { id }: Task): Promise<boolean> {
  return (await taskStore.findById(id))?.finishedAt != null;
}

/** A process that is killed at its nth step outward: what it asks for then is done or not, and it never hears of it. */
class Life {
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

  over<Port extends TaskStore | BlobStore | TaskTown["ark"]>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const act: unknown = Reflect.get(target, name, target);
        if (typeof act !== "function" || name === "open") return act;
        return (...given: unknown[]) => this.#through(() => act.apply(target, given));
      },
    });
  }

  async #through(act: () => unknown): Promise<unknown> {
    const mine = ++this.#steps === this.#step;
    if (mine && this.#moment === "before") this.#end();
    if (this.#dead) return await never();
    const result = await act();
    if (mine) this.#end();
    return this.#dead ? await never() : result;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
