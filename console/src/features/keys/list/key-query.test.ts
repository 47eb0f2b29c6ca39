import { expect, test } from "bun:test";
import { isFiltered, keyQuery } from "./key-query.ts";

const now = Date.UTC(2026, 4, 10, 12, 30);
const place = { oneWorkspace: true, sort: "-used", now } as const;

test("the list is queried with the filters of the URL", () => {
  const address = { search: "ci", state: "active", owner: "me", group: "grp_1", create: "1", workspace: "acme" };
  expect(keyQuery(address, place)).toEqual({
    sort: "-used",
    search: "ci",
    state: "active",
    mine: "true",
    group: "grp_1",
  });
  expect(keyQuery({ owner: "usr_1", model: "gpt-5", tag: "team:search" }, place)).toEqual({
    sort: "-used",
    owner: "usr_1",
    model: "gpt-5",
    tag: "team:search",
  });
});

test("days become times to the hour", () => {
  const hour = Date.UTC(2026, 4, 10, 12);
  const day = 86_400_000;
  expect(keyQuery({ unused: "90", expiring: "7" }, place)).toEqual({
    sort: "-used",
    unused_since: hour - 90 * day,
    expires_before: hour + 7 * day,
  });
});

test("invalid filters are left out, and a group needs one workspace", () => {
  expect(keyQuery({ state: "odd", service: "maybe", unused: "x" }, place)).toEqual({ sort: "-used" });
  expect(keyQuery({ group: "grp_1" }, { ...place, oneWorkspace: false })).toEqual({ sort: "-used" });
  expect([isFiltered({ order: "-used", workspace: "acme" }), isFiltered({ tag: "team" })]).toEqual([false, true]);
});
