import { expect, test } from "bun:test";
import { consoleRoutes } from "@sluice/contract";
import { requestFilters, requestQueryOf } from "./request-query.ts";

const day = { name: "24h", from: 1_000, to: 2_000 };

test("a URL without filters requests the default range up to now", () => {
  expect(requestQueryOf({}, day)).toEqual({ from: 1_000 });
  expect(requestQueryOf({}, { ...day, name: null })).toEqual({ from: 1_000, to: 2_000 });
});

test("a search for an ID ignores the time range", () => {
  expect(requestQueryOf({ search: " req_1 ", model: "m" }, day)).toEqual({ search: "req_1", model: "m" });
});

test("invalid filters in the URL are left out, so that the list still loads", () => {
  expect(requestQueryOf({ outcome: "great", status: "2oo", min_ms: "-1", key: "" }, day)).toEqual({ from: 1_000 });
});

test("every filter is sent in the gateway's format", () => {
  const search = Object.fromEntries(requestFilters.map((name) => [name, "x"]));
  const query = requestQueryOf({ ...search, outcome: "unsuccessful", status: "503", min_ms: "1500" }, day);
  expect(Object.keys(query).toSorted()).toEqual([...requestFilters].toSorted());
  expect(consoleRoutes["requests.list"].query?.parse(query)).toMatchObject({ status: 503, min_ms: 1500 });
});
