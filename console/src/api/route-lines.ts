import { consoleRoutes } from "@sluice/contract";
import { linesOf } from "./lines-of.ts";

/**
 * Method and path of every call. The build inlines this table (see `route-lines-plugin.ts`), so that the
 * schemas of the admin API stay out of the page.
 */
export const routeLines = linesOf(consoleRoutes);
