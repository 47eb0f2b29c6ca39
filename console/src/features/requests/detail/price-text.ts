import { t } from "../../../language/areas/requests.ts";
import { locale } from "../../../language/chosen.ts";
import type { UsageLine } from "./token-classes.ts";

/** All digits down to a picodollar, the unit of prices, so that lines visibly add up. */
export function formatExactUsd(usd: number): string {
  return exact.format(usd);
}

const exact = new Intl.NumberFormat(locale, {
  style: "currency",
  currencyDisplay: "narrowSymbol",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 12,
});

/** The price of the usual number of units of the class, such as a million tokens. */
export function formatUnitPrice({ by, unitUsd }: Pick<UsageLine, "by" | "unitUsd">): string {
  const usd = unitUsd ?? 0;
  if (by === "million") return t("requests.cost.perMillion", { price: price.format(usd * 1e6) });
  if (by === "thousand") return t("requests.cost.perThousand", { price: price.format(usd * 1e3) });
  return t("requests.cost.perOne", { price: price.format(usd) });
}

const price = new Intl.NumberFormat(locale, {
  style: "currency",
  currencyDisplay: "narrowSymbol",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
