import type { Plugin } from "vite";
// By its path: this is read by whatever runs Vite, which need not take packages written in TypeScript.
import { consoleRoutes } from "../contract/src/console/routes.ts";
import { linesOf } from "./src/api/lines-of.ts";

/** Puts the worked out table into the build in the place of the module that works it out. */
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
