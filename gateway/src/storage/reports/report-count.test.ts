import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CountedList } from "#ports/index.ts";
import { openReportFixture, type ReportFixture } from "../../../test/conformance/report-fixture.ts";
import { PastSums } from "./past-sums.ts";
import { Deadline } from "./report-context.ts";
import { listCount } from "./report-count.ts";

let fixture: ReportFixture;

beforeAll(async () => {
  fixture = await openReportFixture(4);
  await fixture.database.kysely.deleteFrom("audit_log").execute();
  const rows = Array.from({ length: 10 }, (_, n) => ({
    at: n,
    actor: "ada",
    action: n === 0 ? "create" : "update",
    object: `key ${n}`,
    workspace_id: n < 8 ? fixture.acme.id : fixture.beta.id,
  }));
  for (const row of rows) await fixture.database.kysely.insertInto("audit_log").values(row).execute();
});
afterAll(() => fixture[Symbol.asyncDispose]());

function count(filter: Partial<Extract<CountedList, { list: "audit" }>["filter"]>, max: number) {
  const { kysely: connection, flavour } = fixture.database;
  const context = {
    connection,
    flavour,
    price: async () => null,
    deadline: new Deadline(60_000),
    pastSums: new PastSums(),
  };
  return listCount(context, { list: "audit", filter: { workspaceId: null, ...filter } }, max);
}

test("counts the rows that match, within a workspace and a time", async () => {
  expect(await count({}, 10)).toEqual({ total: 10, more_than_total: false });
  expect(await count({ workspaceId: fixture.acme.id }, 10)).toEqual({ total: 8, more_than_total: false });
  expect(await count({ search: "KEY 7" }, 10)).toEqual({ total: 1, more_than_total: false });
  expect(await count({ from: 2, to: 5 }, 10)).toEqual({ total: 3, more_than_total: false });
  expect(await count({ action: "create" }, 10)).toEqual({ total: 1, more_than_total: false });
});

test("reports more rows than it counts, and does not count rare matches in a longer list", async () => {
  expect(await count({}, 9)).toEqual({ total: 9, more_than_total: true });
  expect(await count({ action: "create" }, 5)).toEqual({ total: null, more_than_total: false });
  // The scanned rows reach back beyond the time.
  expect(await count({ from: 7 }, 5)).toEqual({ total: 3, more_than_total: false });
});
