import { adminAreas } from "@sluice/contract/words";

/** The kind of a path outside the data plane, for logs and metrics: never what a caller made up. */
export function adminRoute(path: string): string {
  const [, first = "", second = ""] = path.split("/", 3);
  if (first === "console" || first === "docs") return first;
  if (path === "/") return "root";
  if (path.startsWith("/scim/v2/")) return "scim";
  if (/^\/v1\/organizations\/spend_limits(\/|$)/.test(path)) return "spend-limits";
  if (path === "/openapi.json") return "openapi";
  return first === "api" && apiWords.has(second) ? `api/${second}` : "unknown";
}

const apiWords: ReadonlySet<string> = new Set(["auth", "setup", "status", ...adminAreas]);
