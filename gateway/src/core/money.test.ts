import { expect, test } from "bun:test";
import fc from "fast-check";
import { nanoToUsdText } from "./money.ts";

test("writes each amount as a decimal, to the last nano-USD", () => {
  const edges = [0, 1, 999, 1_000, 1_001, 999_999_999, 1_000_000_000, 1_000_000_001, 999_999_999_999_999, 1e15];
  for (const nano of [...edges, Number.MAX_SAFE_INTEGER]) expect(nanoToUsdText(nano)).toBe(written(nano));
  fc.assert(fc.property(fc.maxSafeNat(), (nano) => nanoToUsdText(nano) === written(nano)));
  fc.assert(fc.property(fc.nat(10_000_000), (nano) => nanoToUsdText(nano) === written(nano)));
});

function written(nano: number): string {
  const digits = String(nano).padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${fraction}`;
}
