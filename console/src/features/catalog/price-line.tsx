import type { PriceConfig } from "@sluice/contract";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/catalog.ts";
import { priceWords } from "./price-words.ts";

/** A model's price in a list. One without a price is flagged: its calls cost 0 and no budget counts them. */
export function PriceLine({ price }: { readonly price: PriceConfig | null }) {
  const words = priceWords(price);
  if (words === null) {
    return (
      <StatusBadge status="unpriced" tone="warn" label={t("catalog.price.none")} hint={t("catalog.price.noneHelp")} />
    );
  }
  return (
    <span className="tabular">
      {words.amount} {words.unit !== null && <span className="aside">{words.unit}</span>}
    </span>
  );
}
