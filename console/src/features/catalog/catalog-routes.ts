import type { RouteId } from "@sluice/contract";

/** Queries to refetch after a provider or a model was created, updated or deleted. */
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
