import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, type Task, type TaskState } from "#core/index.ts";
import type { TaskFilter, TaskPage } from "#tasks/index.ts";
import { newYear } from "./store-fixture.ts";
import { everyTask, fullTask, type TaskFixtureFactory, task } from "./task-fixture.ts";

/** Guarantees of every implementation of the port `TaskStore` for its lists. */
export function taskPageSuite(name: string, make: TaskFixtureFactory): void {
  describe(`task store, lists: ${name}`, () => {
    pageTests(make);
    openTests(make);
  });
}

const minute = 60_000;

function pageTests(make: TaskFixtureFactory): void {
  const newestFirst = (tasks: readonly Task[]): string[] =>
    tasks.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map((one) => one.id);

  test("lists every task once, newest first, while new ones arrive", async () => {
    await using fixture = await make();
    const tasks = Array.from({ length: 50 }, (_, n) => task(`${n}`, { createdAt: newYear + Math.floor(n / 8) }));
    for (const one of tasks) await fixture.taskStore.create(one);
    let late = 0;
    const listed = await everyTask(
      (cursor) => fixture.taskStore.page({ workspaceId: "ws_1" }, cursor, 7),
      async () => void (await fixture.taskStore.create(task(`late${late++}`, { createdAt: newYear + minute }))),
    );
    expect(listed.map((one) => one.id)).toEqual(newestFirst(tasks));
  });

  test("lists exactly the tasks that match a filter, for one or all workspaces and any page size", async () => {
    await using fixture = await make();
    const words: readonly TaskState[] = ["accepted", "unknown", "queued", "running"];
    const tasks = Array.from({ length: 60 }, (_, n) =>
      task(`${n}`, {
        workspaceId: `ws_${n % 2}`,
        keyId: `key_${n % 3}`,
        model: `m${n % 4}`,
        ...(n % 7 === 0 ? {} : { personId: `usr_${n % 7}` }),
        state: words[n % 5] ?? "submitting",
        createdAt: newYear + (n % 7),
      }),
    );
    for (const one of tasks) await fixture.taskStore.create(one);
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
    const query = fc.record({
      workspace: maybe(fc.nat(1)),
      key: maybe(fc.nat(3)),
      model: maybe(fc.nat(4)),
      person: maybe(fc.nat(8)),
      states: maybe(fc.array(fc.constantFrom<TaskState>(...words, "submitting", "failed"), { maxLength: 4 })),
      size: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(query, async ({ workspace, key, model, person, states, size }) => {
        const filter: TaskFilter = {
          workspaceId: workspace === null ? null : `ws_${workspace}`,
          ...(key === null ? {} : { keyId: `key_${key}` }),
          ...(model === null ? {} : { model: `m${model}` }),
          ...(person === null ? {} : { visiblePerson: `usr_${person}` }),
          ...(states === null ? {} : { states }),
        };
        const expected = tasks.filter(
          (one) =>
            (workspace === null || one.workspaceId === filter.workspaceId) &&
            (key === null || one.keyId === filter.keyId) &&
            (model === null || one.model === filter.model) &&
            (person === null || one.personId === undefined || one.personId === filter.visiblePerson) &&
            (states === null || states.includes(one.state)),
        );
        const listed = await everyTask((cursor) => fixture.taskStore.page(filter, cursor, size));
        // Across workspaces, tasks are ordered by id, and ids are created in order of time.
        const byId = expected.map((one) => one.id).toSorted((a, b) => (a < b ? 1 : -1));
        expect(listed.map((one) => one.id)).toEqual(workspace === null ? byId : newestFirst(expected));
      }),
      { numRuns: 60 },
    );
  });

  test("lists the oldest tasks first on request, and continues after a task like after a cursor", async () => {
    await using fixture = await make();
    const tasks = Array.from({ length: 30 }, (_, n) => task(`${n}`, { createdAt: newYear + Math.floor(n / 4) }));
    for (const one of tasks) await fixture.taskStore.create(one);
    for (const oldestFirst of [false, true]) {
      for (const states of [undefined, ["accepted", "queued"] as const]) {
        const filter: TaskFilter = { workspaceId: "ws_1", oldestFirst, ...(states === undefined ? {} : { states }) };
        const expected = oldestFirst ? newestFirst(tasks).toReversed() : newestFirst(tasks);
        const byCursor = await everyTask((cursor) => fixture.taskStore.page(filter, cursor, 7));
        expect(byCursor.map((one) => one.id)).toEqual(expected);
        const byTask: Task[] = [];
        for (let last: Task | null = null; ; ) {
          const page: TaskPage = await fixture.taskStore.page(filter, last, 7);
          byTask.push(...page.tasks);
          last = page.tasks.at(-1) ?? null;
          if (page.next === null || last === null) break;
        }
        expect(byTask.map((one) => one.id)).toEqual(expected);
      }
    }
  });

  test("returns tasks with all fields except the request body", async () => {
    await using fixture = await make();
    await fixture.taskStore.create(fullTask);
    const page = await fixture.taskStore.page({ workspaceId: "ws_1" }, null, 5);
    expect(page).toEqual({ tasks: [{ ...fullTask, request: "" }], next: null });
  });

  test("rejects an invalid cursor as the caller's error", async () => {
    await using fixture = await make();
    for (const cursor of ["", "x", "1.", Buffer.from("-1.vt").toString("base64url")]) {
      await expect(fixture.taskStore.page({ workspaceId: "ws_1" }, cursor, 10)).rejects.toMatchObject({
        code: "invalid_request",
        param: "cursor",
      });
    }
  });
}

function openTests(make: TaskFixtureFactory): void {
  test("lists each open task once with its reservation, also when there is more than one page", async () => {
    await using fixture = await make();
    const count = bounds.listPageMax + 30;
    const ownerOf = (n: number) => (n % 2 === 0 ? {} : { personId: `usr_${n}` });
    const tasks = Array.from({ length: count }, (_, n) =>
      task(`${n}`, { reservedNanoUsd: n, dueAt: null, ...ownerOf(n) }),
    );
    await Promise.all(tasks.map((one) => fixture.taskStore.create(one)));
    await fixture.taskStore.create(task("done", { state: "succeeded", dueAt: null }));
    const open = new Map<string, number>();
    for await (const one of fixture.taskStore.open()) {
      expect([one.workspaceId, one.groupId, one.keyId]).toEqual(["ws_1", "grp_1", "key_1"]);
      expect(one.personId).toBe(ownerOf(one.reservedNanoUsd).personId);
      open.set(one.id, one.reservedNanoUsd);
    }
    expect(open).toEqual(
      new Map(tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((t) => [t.id, t.reservedNanoUsd])),
    );
    expect(open.size).toBe(count);
  });
}
