import type { UsageLine } from "./token-classes.ts";

/** Every digit down to a picodollar, which is what prices are made of, so that lines add up before the eye. */
export function formatExactUsd(usd: number): string {
  return exact.format(usd);
}

const exact = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 12,
});

/** For as many of them as prices of the class are written for. */
export function formatUnitPrice({ by, unit, unitUsd }: Pick<UsageLine, "by" | "unit" | "unitUsd">): string {
  const usd = unitUsd ?? 0;
  if (by === "million") return `${price.format(usd * 1e6)} / 1M`;
  return by === "thousand" ? `${price.format(usd * 1e3)} / 1K` : `${price.format(usd)} / ${unit}`;
}

const price = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
