import { describe, expect, test } from "bun:test";
import type { TaskState } from "#core/index.ts";
import { newYear } from "./store-fixture.ts";
import { type TaskFixture, type TaskFixtureFactory, task } from "./task-fixture.ts";

const material = { hash: "a".repeat(64), size: 30_000_000 };
const minute = 60_000;

/** Guarantees of every implementation of the port `TaskStore` for the material of tasks. */
export function taskMaterialSuite(name: string, make: TaskFixtureFactory): void {
  describe(`material of tasks: ${name}`, () => {
    test("records material for a task before the task exists", async () => {
      await using fixture = await openWithMaterial("a");
      expect(await fixture.taskStore.material("vt_a")).toEqual(material);
      expect(await fixture.taskStore.material("vt_b")).toBeNull();
      expect(await fixture.taskStore.create(task("a"), material)).toMatchObject({ created: true });
      expect(await fixture.taskStore.material("vt_a")).toEqual(material);
      await expect(fixture.taskStore.recordMaterial("vt_a", material, newYear)).rejects.toThrow();
    });

    test("stores no task without its recorded material", async () => {
      await using fixture = await openWithMaterial("a");
      await expect(fixture.taskStore.create(task("b"), material)).rejects.toThrow("given up");
      await expect(fixture.taskStore.create(task("a"), { ...material, hash: "b".repeat(64) })).rejects.toThrow();
      expect(await fixture.taskStore.markUnneededMaterial(newYear + 1, 9)).toEqual([
        { taskId: "vt_a", hash: material.hash },
      ]);
      await expect(fixture.taskStore.create(task("a"), material)).rejects.toThrow("given up");
      expect(await fixture.taskStore.findById("vt_a")).toBeNull();
      expect(await fixture.taskStore.events("vt_b")).toEqual([]);
    });

    test("marks material without a task as unneeded when it is old enough, until it is deleted", async () => {
      await using fixture = await openWithMaterial("a");
      expect(await fixture.taskStore.markUnneededMaterial(newYear, 9)).toEqual([]);
      const unneeded = [{ taskId: "vt_a", hash: material.hash }];
      expect(await fixture.taskStore.markUnneededMaterial(newYear + 1, 9)).toEqual(unneeded);
      expect(await fixture.taskStore.material("vt_a")).toBeNull();
      expect(await fixture.taskStore.markUnneededMaterial(0, 9)).toEqual(unneeded);
      await fixture.taskStore.deleteMaterial("vt_a");
      expect(await fixture.taskStore.markUnneededMaterial(newYear + minute, 9)).toEqual([]);
    });

    test("deletes only unneeded material, up to the limit, and only of the requested task", async () => {
      await using fixture = await openWithMaterial("a", "b", "c");
      await fixture.taskStore.deleteMaterial("vt_a");
      expect(await fixture.taskStore.material("vt_a")).toEqual(material);
      expect(await fixture.taskStore.markUnneededMaterial(newYear + 1, 2)).toHaveLength(2);
      expect(await fixture.taskStore.markUnneededMaterial(newYear + 1, 9, "vt_c")).toEqual([
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
    ] as const)("marks the material of a task that is %s as unneeded: %p", async (state: TaskState, isUnneeded) => {
      await using fixture = await openWithMaterial("a");
      await fixture.taskStore.create(task("a", { state }), material);
      // The age of the material does not matter.
      expect(await fixture.taskStore.markUnneededMaterial(newYear + 1_000 * minute, 9)).toHaveLength(
        isUnneeded ? 1 : 0,
      );
    });
  });

  async function openWithMaterial(...names: readonly string[]): Promise<TaskFixture> {
    const fixture = await make();
    for (const name of names) await fixture.taskStore.recordMaterial(`vt_${name}`, material, newYear);
    return fixture;
  }
}
