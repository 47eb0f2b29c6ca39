import { describe, expect, test } from "bun:test";
import type { TaskState } from "#core/index.ts";
import { newYear } from "./store-ground.ts";
import { type TaskGround, type TaskGroundFactory, task } from "./task-ground.ts";

const material = { hash: "a".repeat(64), size: 30_000_000 };
const minute = 60_000;

/** What every implementation of the port `TaskStore` guarantees of the material of tasks. */
export function taskMaterialSuite(name: string, make: TaskGroundFactory): void {
  describe(`material of tasks: ${name}`, () => {
    test("what was noted is its task's, from before the task is there", async () => {
      await using ground = await noted("a");
      expect(await ground.taskStore.material("vt_a")).toEqual(material);
      expect(await ground.taskStore.material("vt_b")).toBeNull();
      expect(await ground.taskStore.create(task("a"), material)).toMatchObject({ created: true });
      expect(await ground.taskStore.material("vt_a")).toEqual(material);
      await expect(ground.taskStore.recordMaterial("vt_a", material, newYear)).rejects.toThrow();
    });

    test("a task is not made without the material that it was to have, and nothing of it stays", async () => {
      await using ground = await noted("a");
      await expect(ground.taskStore.create(task("b"), material)).rejects.toThrow("given up");
      await expect(ground.taskStore.create(task("a"), { ...material, hash: "b".repeat(64) })).rejects.toThrow();
      expect(await ground.taskStore.markUnneededMaterial(newYear + 1, 9)).toEqual([
        { taskId: "vt_a", hash: material.hash },
      ]);
      await expect(ground.taskStore.create(task("a"), material)).rejects.toThrow("given up");
      expect(await ground.taskStore.findById("vt_a")).toBeNull();
      expect(await ground.taskStore.events("vt_b")).toEqual([]);
    });

    test("what belongs to no task is spent when it is old enough, and stays spent until it is forgotten", async () => {
      await using ground = await noted("a");
      expect(await ground.taskStore.markUnneededMaterial(newYear, 9)).toEqual([]);
      const spent = [{ taskId: "vt_a", hash: material.hash }];
      expect(await ground.taskStore.markUnneededMaterial(newYear + 1, 9)).toEqual(spent);
      expect(await ground.taskStore.material("vt_a")).toBeNull();
      expect(await ground.taskStore.markUnneededMaterial(0, 9)).toEqual(spent);
      await ground.taskStore.deleteMaterial("vt_a");
      expect(await ground.taskStore.markUnneededMaterial(newYear + minute, 9)).toEqual([]);
    });

    test("what is not spent cannot be forgotten, nor is more taken than was asked for, nor another task's", async () => {
      await using ground = await noted("a", "b", "c");
      await ground.taskStore.deleteMaterial("vt_a");
      expect(await ground.taskStore.material("vt_a")).toEqual(material);
      expect(await ground.taskStore.markUnneededMaterial(newYear + 1, 2)).toHaveLength(2);
      expect(await ground.taskStore.markUnneededMaterial(newYear + 1, 9, "vt_c")).toEqual([
        { taskId: "vt_c", hash: material.hash },
      ]);
    });

    test.each([
      ["accepted", false],
      ["submitting", false],
      ["unknown", true],
      ["queued", true],
      ["running", true],
      ["succeeded", true],
      ["cancelled", true],
    ] as const)("of a task that is %s, that it is spent is %p", async (state: TaskState, spent) => {
      await using ground = await noted("a");
      await ground.taskStore.create(task("a", { state }), material);
      // However long it has been waiting.
      expect(await ground.taskStore.markUnneededMaterial(newYear + 1_000 * minute, 9)).toHaveLength(spent ? 1 : 0);
    });
  });

  async function noted(...names: readonly string[]): Promise<TaskGround> {
    const ground = await make();
    for (const name of names) await ground.taskStore.recordMaterial(`vt_${name}`, material, newYear);
    return ground;
  }
}
