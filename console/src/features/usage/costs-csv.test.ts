import { expect, test } from "bun:test";
import { costsCsv, differenceOf } from "./costs-csv.ts";

const line = { provider: "router", model: "gpt-5", attempts: 3, cost_usd: 14, own_cost_usd: 0.1, vendor_cost_usd: 0.3 };
const silent = { ...line, model: "=x", own_cost_usd: null, vendor_cost_usd: null };

test("writes own cost, vendor cost and their difference, and leaves empty what no vendor reported", () => {
  expect(costsCsv([line, silent])).toBe(
    [
      "provider,model,attempts,cost_usd,own_cost_usd,vendor_cost_usd,difference_usd",
      "router,gpt-5,3,14,0.1,0.3,0.2",
      "router,'=x,3,14,,,",
      "",
    ].join("\n"),
  );
});

test("is exact to the nano-USD, and has no difference where the vendor reports nothing", () => {
  expect(differenceOf({ ...line, own_cost_usd: 0.1, vendor_cost_usd: 0.100000001 })).toBe(1e-9);
  expect(differenceOf(silent)).toBeNull();
});
