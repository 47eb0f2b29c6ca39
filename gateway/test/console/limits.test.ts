import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createMemoryCounter } from "#coordination/index.ts";
import { createAdmission } from "#limits/index.ts";
import { createReportStore } from "#storage/index.ts";
import { keyHandlers } from "../../src/admin/handlers/key-handlers.ts";
import { limitHandlers } from "../../src/admin/handlers/limit-handlers.ts";
import { workspaceHandlers } from "../../src/admin/handlers/workspace-handlers.ts";
import { silentObserver } from "../conformance/store-ground.ts";
import { type ConsoleGround, openConsoleGround } from "../console-ground.ts";

/** With the real reports, a thread of its own. */
async function openLimits(): Promise<ConsoleGround> {
  let close = async (): Promise<void> => undefined;
  const ground = await openConsoleGround((gateway) => {
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    const admission = createAdmission({ counter: createMemoryCounter({ clock: gateway.clock }), clock: gateway.clock });
    const whole = { ...gateway, admission, reports, randomBytes, changesSeen: async () => undefined };
    return { ...limitHandlers(whole), ...workspaceHandlers(whole), ...keyHandlers(whole) };
  });
  return {
    ...ground,
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
