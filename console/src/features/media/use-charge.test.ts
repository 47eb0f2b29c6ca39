import { expect, test } from "bun:test";
import { chargeOf, chargeWords } from "./use-charge.ts";

const attempt = { cost_usd: 0.002, usage: { search_units: 1 }, usage_source: "upstream", price_version: "p1" } as const;
const words = (charge: ReturnType<typeof chargeOf>) => chargeWords(charge, (usd) => `$${usd}`);

test("the usage of a request is summed over its attempts by class", () => {
  const charge = chargeOf([attempt, { ...attempt, usage: { search_units: 2, input_uncached: 7, reasoning: 3 } }]);
  expect(charge.used).toEqual([
    { label: "input tokens", units: 7 },
    { label: "search units", units: 3 },
  ]);
  expect(words(charge)).toBe("$0.004");
});

test("an estimate is marked, and an unpriced model does not look free", () => {
  expect(words(chargeOf([{ ...attempt, usage_source: "estimated" }]))).toBe("about $0.002");
  expect(words(chargeOf([{ ...attempt, cost_usd: 0, price_version: null }]))).toBe("no price set");
  expect(words(chargeOf([{ ...attempt, cost_usd: 0 }]))).toBe("$0");
});
