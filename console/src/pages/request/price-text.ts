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

/** Tokens are priced by the million, calls of tools by the thousand, as vendors write it. */
export function formatUnitPrice({ unit, unitUsd }: Pick<UsageLine, "unit" | "unitUsd">): string {
  const usd = unitUsd ?? 0;
  if (unit === "token") return `${price.format(usd * 1e6)} / 1M`;
  return unit === "call" ? `${price.format(usd * 1e3)} / 1K` : `${price.format(usd)} / ${unit}`;
}

const price = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
