import { afterAll, beforeAll, expect, test } from "bun:test";
import { chargebackCsvPath, usageCsvPath } from "@sluice/contract";
import { aliceSecret, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

let fixture: MediaFixture;
beforeAll(async () => {
  fixture = await openMediaFixture();
  for (const tags of ["team=+SUM(1),feature=a", "team=b", ""]) {
    const answer = await fetch(`${fixture.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${aliceSecret}`,
        "content-type": "application/json",
        ...(tags === "" ? {} : { "x-sluice-tags": tags }),
      },
      body: JSON.stringify({ model: "no-such-model", messages: [{ role: "user", content: "hello" }] }),
    });
    await answer.text();
  }
  await fixture.entries();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const csv = async (who: MediaUser, path: string, query: Record<string, string>) =>
  await fixture.as(who, `${path}?${new URLSearchParams(query)}`);
const time = { from: "0", to: "4000000000000" };

test("exports the rows and columns of a usage list, and keeps spreadsheets from running them", async () => {
  const query = { ...time, by: "tag", tag: "team", sort: "label", columns: "requests,cost_usd,share" };
  const answer = await csv("admin", usageCsvPath("acme"), query);
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="usage-by-tag-/);
  expect((await answer.text()).split("\n")).toEqual([
    "id,tag,requests,cost_usd,share",
    "'+SUM(1),'+SUM(1),1,0,",
    "b,b,1,0,",
    "'-,Without this tag,1,0,",
    "",
  ]);
});

test("exports a chargeback report with its totals", async () => {
  const month = new Date().toISOString().slice(0, 7);
  const answer = await csv("viewer", chargebackCsvPath("acme"), { by: "workspace", from: month, to: month });
  const lines = (await answer.text()).trimEnd().split("\n");
  expect(lines[0]).toBe(`id,workspace,${month},total`);
  expect(lines.at(-1)).toBe(",Total,0,0");
});

test("refuses unknown columns, missing times and other workspaces", async () => {
  const path = usageCsvPath("acme");
  const statuses = [
    await csv("admin", path, { ...time, by: "model", columns: "secret" }),
    await csv("admin", path, { by: "model" }),
    await csv("admin", path, { ...time, by: "tag" }),
    await csv("viewer", usageCsvPath("-"), { ...time, by: "model" }),
    await csv("viewer", usageCsvPath("other"), { ...time, by: "model" }),
    await csv("viewer", chargebackCsvPath("acme"), { by: "group", from: "2026-13", to: "2026-13" }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 400, 403, 404, 400]);
});
