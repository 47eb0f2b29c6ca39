import { expect, test } from "bun:test";
import { newYear } from "../../../test/conformance/store-fixture.ts";
import { forecastSince, spendRates } from "./forecast.ts";

const hour = 3_600_000;
const day = 24 * hour;

test.each([0, 9, 23])("forecasts steady spend to continue at the same rate, at hour %d of the day", (hours) => {
  const now = newYear + 20 * day + hours * hour;
  const since = forecastSince(now);
  const place = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };
  // The spending as reports return it: whole hours since then, by day.
  const days = [];
  for (let at = Math.floor(since / hour) * hour; at < now; at += hour)
    days.push({ ...place, day: at - (at % day), usd: 1 });
  expect((spendRates(days, [], now).get("key key_1") ?? 0) * hour).toBeCloseTo(1, 9);
});
