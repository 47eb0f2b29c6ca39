import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { KeyWithUsage } from "@sluice/contract";
import { createMemoryCounter } from "#coordination/index.ts";
import { type Principal, usdToNano } from "#core/index.ts";
import { type Admission, createAdmission, type Estimate } from "#limits/index.ts";
import { createReportStore } from "#storage/index.ts";
import { keyHandlers } from "../../src/admin/handlers/key-handlers.ts";
import { limitHandlers } from "../../src/admin/handlers/limit-handlers.ts";
import { workspaceHandlers } from "../../src/admin/handlers/workspace-handlers.ts";
import { silentObserver } from "../conformance/store-ground.ts";
import { type ConsoleGround, openConsoleGround } from "../console-ground.ts";

/** With the real reports, a thread of its own. */
async function openLimits(): Promise<ConsoleGround & { readonly admission: Admission }> {
  let admission: Admission | undefined;
  let close = async (): Promise<void> => undefined;
  const ground = await openConsoleGround((gateway) => {
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    admission = createAdmission({ counter: createMemoryCounter({ clock: gateway.clock }), clock: gateway.clock });
    const whole = { ...gateway, admission, reports, randomBytes, changesSeen: async () => undefined };
    return { ...limitHandlers(whole), ...workspaceHandlers(whole), ...keyHandlers(whole) };
  });
  if (admission === undefined) throw new Error("The console was not opened.");
  return {
    ...ground,
    admission,
    async [Symbol.asyncDispose]() {
      await close();
      await ground[Symbol.asyncDispose]();
    },
  };
}

test("every limit says whose it is and in which workspace, widest first, and nothing of another workspace is seen", async () => {
  await using ground = await openLimits();
  const params = { workspace: "acme" };
  await ground.call("administrator", "workspaces.update", { params, body: { budget: { usd: 5, period: "month" } } });
  await ground.call("admin", "groups.create", { params, body: { name: "cheap", limits: { rpm: 60 } } });
  await ground.call("member", "keys.create", { params, body: { name: "ci", limits: { concurrency: 2 } } });
  const elsewhere = { name: "theirs", limits: { rpm: 1 } };
  await ground.call("stranger", "keys.create", { params: { workspace: "other" }, body: elsewhere });
  const { acme, other } = ground;
  const rows = async (who: "viewer" | "administrator", workspace: string) =>
    (await ground.call(who, "limits.list", { params: { workspace } })).body.data.map(
      (row: { label: string; kind: string; workspace: object }) => [row.label, row.kind, row.workspace],
    );
  const ours = [
    ["workspace acme", "budget", { id: acme.id, slug: "acme" }],
    ["group acme/cheap", "rpm", { id: acme.id, slug: "acme" }],
    ["key acme/ci", "concurrency", { id: acme.id, slug: "acme" }],
  ];
  expect(await rows("viewer", "acme")).toEqual(ours);
  expect(await rows("administrator", "-")).toEqual([
    ...ours,
    ["key other/theirs", "rpm", { id: other.id, slug: "other" }],
  ]);
});

test("a part of a name is looked for as it stands: `_` and `%` stand for themselves", async () => {
  await using ground = await openLimits();
  const params = { workspace: "acme" };
  for (const name of ["build_ci", "build-ci", "half 50%"]) {
    await ground.call("member", "keys.create", { params, body: { name, limits: { rpm: 1 } } });
  }
  const found = async (search: string) =>
    (await ground.call("viewer", "limits.list", { params, query: { search } })).body.data.map(
      ({ label }: { label: string }) => label,
    );
  expect(await found("D_C")).toEqual(["key acme/build_ci"]);
  expect(await found("0%")).toEqual(["key acme/half 50%"]);
  expect(await found("%")).toEqual(["key acme/half 50%"]);
});

/** A call of a key that costs at least this much. */
async function callOf(ground: { readonly admission: Admission }, key: { readonly id: string }, usd: number) {
  const budget = { nanoUsd: usdToNano(0.5), period: "month" } as const;
  const scope = { kind: "key", id: key.id, label: "key acme/ci", limits: {}, budget } as const;
  const estimate: Estimate = { tokens: 0, money: () => ({ most: usdToNano(usd), least: usdToNano(usd) }) };
  const principal = { scopes: [scope] } as unknown as Principal;
  return await ground.admission.admit(principal, estimate);
}

test("a budget that refuses calls is exhausted, on its limit and its key, though some of it is left", async () => {
  await using ground = await openLimits();
  const params = { workspace: "acme" };
  const body = { name: "ci", budget: { usd: 0.5, period: "month" } };
  const { key } = (await ground.call("member", "keys.create", { params, body })).body;
  const state = async () => {
    const [row] = (await ground.call("viewer", "limits.list", { params, query: { key: key.id } })).body.data;
    const [listed] = (await ground.call("viewer", "keys.list", { params })).body.data;
    const shown = (await ground.call("viewer", "keys.show", { params: { ...params, key: key.id } })).body;
    expect([shown.exhausted_by, shown.budget_used]).toEqual([listed.exhausted_by, listed.budget_used]);
    return { ...listed, exhausted: row.exhausted, refused_at: row.refused_at, used: row.used };
  };
  const permit = await callOf(ground, key, 0.25);
  expect(await state()).toMatchObject({ exhausted: false, refused_at: null, exhausted_by: null, budget_used: 0.25 });
  const at = ground.clock.now();
  await expect(callOf(ground, key, 0.3)).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(await state()).toMatchObject({ exhausted: true, refused_at: at, exhausted_by: "key", used: 0.25 });
  // What held it is over: such a call would be let through by now.
  permit.release();
  expect(await state()).toMatchObject({ exhausted: false, refused_at: null, exhausted_by: null });
  const whole = await callOf(ground, key, 0.5);
  expect(await state()).toMatchObject({ exhausted: true, exhausted_by: "key", used: 0.5 });
  whole.release();
});

test("a refusal is told for an hour, of the amount that the budget has now, and not in the next period", async () => {
  await using ground = await openLimits();
  const params = { workspace: "acme" };
  const body = { name: "ci", budget: { usd: 0.5, period: "month" } };
  const { key } = (await ground.call("member", "keys.create", { params, body })).body;
  const exhausted = async () =>
    (await ground.call("viewer", "keys.list", { params })).body.data.map((each: KeyWithUsage) => each.exhausted_by);
  await expect(callOf(ground, key, 0.75)).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(await exhausted()).toEqual(["key"]);
  const raise = { params: { ...params, key: key.id }, body: { budget: { usd: 1, period: "month" } } };
  await ground.call("admin", "keys.update", raise);
  expect(await exhausted()).toEqual([null]);
  await expect(callOf(ground, key, 2)).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(await exhausted()).toEqual(["key"]);
  ground.clock.advance(3_600_000);
  expect(await exhausted()).toEqual([null]);
});

test("an exhausted budget of a group or a workspace is told of them and of their keys", async () => {
  await using ground = await openLimits();
  const params = { workspace: "acme" };
  await ground.call("member", "keys.create", { params, body: { name: "ci" } });
  const told = async () => {
    const [group] = (await ground.call("viewer", "groups.list", { params })).body.data;
    const [key] = (await ground.call("viewer", "keys.list", { params })).body.data;
    const workspace = (await ground.call("viewer", "workspaces.show", { params })).body;
    const [listed] = (await ground.call("viewer", "workspaces.list", {})).body.data;
    expect(listed.exhausted_by).toBe(workspace.exhausted_by);
    return [key.exhausted_by, group.exhausted_by, workspace.exhausted_by];
  };
  expect(await told()).toEqual([null, null, null]);
  await ground.call("administrator", "workspaces.update", { params, body: { budget: { usd: 0, period: "day" } } });
  expect(await told()).toEqual(["workspace", "workspace", "workspace"]);
});
