import { afterAll, beforeAll, expect, test } from "bun:test";
import { focusPath } from "@sluice/contract";
import { type LedgerEntry, noUsage } from "#core/index.ts";
import { ledgerEntry } from "../conformance/store-fixture.ts";
import { billedNano, focusProblems, readFocus } from "../focus-rules.ts";
import { type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

const dayMs = 86_400_000;
let fixture: MediaFixture;
let day = 0;
let entries: readonly LedgerEntry[] = [];

beforeAll(async () => {
  fixture = await openMediaFixture();
  const { control } = fixture;
  day = Math.floor(control.clock.now() / dayMs) * dayMs - 5 * dayMs;
  const { models, workspaces } = await control.controlStore.configSnapshot();
  const owners = [...workspaces.values()].map(({ id, slug }) => ({
    workspaceId: id,
    keyId: `key_of_${slug}`,
    groupId: "g",
  }));
  const price = models.get("gpt-test")?.price;
  entries = owners.flatMap((owner, n) => [
    ledgerEntry(`${n}_plain`, {
      ...{
        ...owner,
        at: day + n,
        provider: "main",
        model: "gpt-test",
        upstreamModel: "u",
        priceVersion: price?.id ?? null,
      },
      ...{
        usage: { ...noUsage, inputUncached: 1_000, output: 10 * (n + 1) },
        costNanoUsd: 1_000_000 + 100_000 * (n + 1),
      },
    }),
    ledgerEntry(`${n}_next`, { ...owner, at: day + dayMs + n, priceVersion: null, usage: noUsage, costNanoUsd: 7 }),
  ]);
  await control.ledgerStore.insert(entries);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const get = async (who: MediaUser | null, query: Record<string, string>, init?: RequestInit) =>
  await fixture.as(who, `${focusPath}?${new URLSearchParams(query)}`, init);

test("streams the FOCUS rows of all workspaces to administrators, and of one to its admins", async () => {
  const answer = await get("administrator", { from: dateOf(day), to: dateOf(day + 2 * dayMs) });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
  expect(answer.headers.get("content-disposition")).toBe(
    `attachment; filename="focus-${dateOf(day)}-to-${dateOf(day + dayMs)}.csv"`,
  );
  const rows = readFocus(await answer.text());
  expect(focusProblems(rows)).toEqual([]);
  expect(billedNano(rows)).toBe(entries.reduce((sum, { costNanoUsd }) => sum + BigInt(costNanoUsd), 0n));
  expect(new Set(rows.map(({ x_Workspace }) => x_Workspace))).toEqual(new Set(["acme", "other"]));

  const own = readFocus(await (await get("admin", { from: dateOf(day), workspace: "acme" })).text());
  expect(new Set(own.map(({ x_Workspace, x_KeyId }) => `${x_Workspace} ${x_KeyId}`))).toEqual(
    new Set(["acme key_of_acme"]),
  );
});

test("answers unchanged exports with 304, and HEAD without a body", async () => {
  const query = { from: dateOf(day), to: dateOf(day + dayMs) };
  const text = await (await get("administrator", query)).text();
  const again = await get("administrator", query);
  const etag = again.headers.get("etag") ?? "";
  expect([etag.length > 20, await again.text()]).toEqual([true, text]);
  expect((await get("administrator", query, { headers: { "if-none-match": etag } })).status).toBe(304);
  const head = await get("administrator", query, { method: "HEAD" });
  expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, etag, ""]);
  const other = await get("administrator", { ...query, workspace: "acme" }, { headers: { "if-none-match": etag } });
  expect([other.status, other.headers.get("etag") === etag]).toEqual([200, false]);
});

test("refuses callers without the right, unknown workspaces, and days that are not closed", async () => {
  const from = dateOf(day);
  const statuses = async (calls: readonly [MediaUser | null, Record<string, string>][]) =>
    await Promise.all(calls.map(async ([who, query]) => (await get(who, query)).status));
  expect(
    await statuses([
      ["admin", { from }],
      ["member", { from, workspace: "acme" }],
      ["viewer", { from, workspace: "acme" }],
      ["admin", { from, workspace: "other" }],
      ["admin", { from, workspace: "nowhere" }],
      [null, { from }],
      ["administrator", {}],
      ["administrator", { from: "yesterday" }],
      ["administrator", { from, to: from }],
    ]),
  ).toEqual([403, 403, 403, 404, 404, 401, 400, 400, 400]);
  const today = await get("administrator", { from: dateOf(day + 5 * dayMs) });
  expect(await today.text()).toContain("is not closed yet: it closes at");
});
