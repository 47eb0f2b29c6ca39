import { Text } from "@mantine/core";
import type { PriceConfig } from "@sluice/contract";
import { t } from "../../../language/areas/models.ts";
import { priceItems } from "../../catalog/price-words.ts";

/** All figures of a price, read-only. */
export function PriceTable({ price }: { readonly price: PriceConfig | null }) {
  const items = priceItems(price);
  if (items.length === 0) {
    return (
      <Text size="sm" c="dimmed" p="md" pt={0}>
        {t("models.price.none")}
      </Text>
    );
  }
  return (
    <dl className="price-table">
      {items.map(({ label, words }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two variants may be called the same; the order does not change.
        <div key={place}>
          <dt>{label}</dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}
