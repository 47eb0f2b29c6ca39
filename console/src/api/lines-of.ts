import type { RouteId, RouteLines } from "@sluice/contract";

/** Method and path of every route, without its schemas. */
export function linesOf(routes: RouteLines): RouteLines {
  return Object.fromEntries(Object.entries(routes).map(([id, { method, path }]) => [id, { method, path }])) as Record<
    RouteId,
    RouteLines[RouteId]
  >;
}
