import type { RouteId } from "@sluice/contract";

/** What looks different after a provider or a model was made, changed or removed. */
export const afterCatalogChange: readonly RouteId[] = [
  "models.list",
  "models.show",
  "models.prices",
  "priceList.show",
  "providers.list",
  "providers.show",
  "providers.upstreamModels",
  "access.table",
  "access.check",
  "session.show",
];
