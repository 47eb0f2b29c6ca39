import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import { type BudgetPolicy, bounds, type Deployment, type Task } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { SharedHolds } from "#ports/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { governedPrincipal } from "../../../test/simulation/governed-principal.ts";
import { Holds } from "./holds.ts";

const ada = governedPrincipal({ person: { budget: { nanoUsd: 1_000, period: "month" } } });
const mayMs = Date.UTC(2026, 4, 10);
/** The fields of an ended task that matter for its hold. */
const ended = {
  id: "vt_1",
  attemptId: "att_1",
  workspaceId: "ws_1",
  groupId: "grp_1",
  keyId: "key_1",
  personId: ada.person,
  state: "succeeded",
  createdAt: mayMs,
  costNanoUsd: 300,
  usage: null,
} as Partial<Task> as Task;

/** The spending of Ada's budget (nano-USD) after a process learns that another one stored the end of her video. */
async function spentAfter(end: (holds: Holds) => unknown, isShared: boolean): Promise<number> {
  const clock = new FakeClock(mayMs);
  const counter = createMemoryCounter({ clock });
  const shared: SharedHolds = {
    hold: async (_id, claims) => counter.reserve(claims),
    endHold: async () => true,
    sampleHolds: async () => [],
    budgetKeys: async () => [],
    releaseOwner: async () => undefined,
    ledgerLagMs: 0,
  };
  const admission = new Admission({ counter: isShared ? Object.assign(counter, { shared }) : counter, clock });
  const permit = await admission.hold(ada, 400, false, "vt_1");
  const holds = new Holds({ admission, principalOf: () => ada, clock });
  holds.keep("vt_1", permit);
  await end(holds);
  const [budget] = await admission.limitUsages(ada.scopes);
  return Math.round((budget?.used ?? 0) * 1e9) - (isShared ? 400 : 0);
}

test("charges a person's budget for a video that another process ended", async () => {
  expect(await spentAfter((holds) => holds.settle(ended), true)).toBe(300);
  expect(await spentAfter((holds) => holds.sweep({ findById: async () => ended }), false)).toBe(300);
});

test("holds the money of a video once on its provider's budget if it is about to be sent twice", async () => {
  const policy: BudgetPolicy = {
    ...{ id: "pol_1", name: "vendor", workspaceId: null, splitBy: null },
    ...{ match: { providers: ["volc"] }, budget: { nanoUsd: 500, period: "total" } },
  };
  const clock = new FakeClock(mayMs);
  const admission = new Admission({ counter: createMemoryCounter({ clock }), clock });
  const principal = { ...ada, policies: [policy] };
  const holds = new Holds({ admission, principalOf: () => principal, clock });
  holds.keep("vt_1", await admission.hold(principal, 400, false, "vt_1"));
  const task = { ...ended, reservedNanoUsd: 400, tags: {} };
  const deployment = { id: "dep_1", provider: { id: "volc" } } as Deployment;
  await holds.enter(task, deployment, "clip");
  await holds.enter(task, deployment, "clip");
  await expect(holds.enter({ ...task, id: "vt_2" }, deployment, "clip")).rejects.toMatchObject({ code: "budget_held" });
});

test("releases the hold of a task that was never stored", async () => {
  const freed: string[] = [];
  const held = [
    { id: "vt_young", ageMs: bounds.taskHoldUnstoredMs - 1 },
    { id: "vt_old", ageMs: bounds.taskHoldUnstoredMs },
  ];
  const shared: SharedHolds = {
    hold: () => Promise.reject(new Error("nothing is held here")),
    endHold: async (id) => freed.push(id) > 0,
    sampleHolds: async () => held,
    budgetKeys: async () => [],
    releaseOwner: async () => undefined,
    ledgerLagMs: 0,
  };
  const clock = new FakeClock(mayMs);
  const admission = new Admission({ counter: Object.assign(createMemoryCounter({ clock }), { shared }), clock });
  await new Holds({ admission, principalOf: () => ada, clock }).sweep({ findById: async () => null });
  expect(freed).toEqual(["vt_old"]);
});
