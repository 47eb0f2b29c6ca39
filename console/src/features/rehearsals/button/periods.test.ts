import { expect, test } from "bun:test";
import { periodSpan } from "./periods.ts";

test("periods end now, and the month begins on its first day", () => {
  const now = new Date(2026, 10, 30, 17, 5).getTime();
  expect(periodSpan("24h", now)).toEqual({ from: now - 86_400_000, to: now });
  expect(periodSpan("this_month", now)).toEqual({ from: new Date(2026, 10, 1).getTime(), to: now });
  const midnight = new Date(2026, 10, 1).getTime();
  expect(periodSpan("this_month", midnight)).toEqual({ from: midnight - 1, to: midnight });
});
