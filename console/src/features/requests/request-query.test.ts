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
  expect(
    requestQueryOf({ outcome: "great", status: "2oo", min_ms: "-1", key: "", min_cost: "$1", text: "a" }, day),
  ).toEqual({ from: 1_000 });
});

test("every filter is sent in the gateway's format", () => {
  const search = Object.fromEntries(requestFilters.map((name) => [name, "xy"]));
  const costs = { min_cost: "0.5", max_cost: "12" };
  const guardrails = { guardrail_verdict: "masked", would_refuse: "true" };
  const query = requestQueryOf(
    { ...search, ...costs, ...guardrails, outcome: "unsuccessful", status: "503", min_ms: "1500" },
    day,
  );
  expect(Object.keys(query).toSorted()).toEqual([...requestFilters].toSorted());
  expect(consoleRoutes["requests.list"].query?.parse(query)).toMatchObject({ status: 503, min_ms: 1500, max_cost: 12 });
});

test("orders by time unless the URL has another order of the gateway", () => {
  expect(requestQueryOf({ sort: "-cost_usd" }, day)).toEqual({ from: 1_000, sort: "-cost_usd" });
  for (const sort of ["-at", "name", ""]) expect(requestQueryOf({ sort }, day)).toEqual({ from: 1_000 });
});
