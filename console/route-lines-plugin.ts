import type { Plugin } from "vite";
// Imported by path, because Vite may run in a runtime that cannot load packages written in TypeScript.
import { consoleRoutes } from "../contract/src/console/routes.ts";
import { linesOf } from "./src/api/lines-of.ts";

/** Replaces the module that computes the table with the computed table. */
export function routeLinesPlugin(): Plugin {
  return {
    name: "route-lines",
    apply: "build",
    load: {
      filter: { id: /\/src\/api\/route-lines\.ts$/ },
      handler: () => ({
        code: `export const routeLines = ${JSON.stringify(linesOf(consoleRoutes))};`,
        moduleType: "js",
      }),
    },
  };
}
