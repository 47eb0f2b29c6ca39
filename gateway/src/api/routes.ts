import { chat } from "./endpoints/chat.ts";
import { healthz, metrics, readyz } from "./endpoints/health.ts";
import { getModel, listModels } from "./endpoints/models.ts";
import { getUsage } from "./endpoints/usage.ts";
import type { Endpoint } from "./face.ts";
import { modelPrefix } from "./model-path.ts";

interface Route {
  /** The name in metrics. */
  readonly name: string;
  readonly methods: Readonly<Record<string, Endpoint>>;
}

const exact: ReadonlyMap<string, Route> = new Map([
  ["/v1/chat/completions", { name: "chat", methods: { POST: chat } }],
  ["/v1/models", { name: "models", methods: { GET: listModels } }],
  ["/v1/usage", { name: "usage", methods: { GET: getUsage } }],
  ["/healthz", { name: "healthz", methods: { GET: healthz, HEAD: healthz } }],
  ["/readyz", { name: "readyz", methods: { GET: readyz, HEAD: readyz } }],
  ["/metrics", { name: "metrics", methods: { GET: metrics } }],
]);

const model: Route = { name: "model", methods: { GET: getModel } };

/** The route of a path; null when there is none. The one place where paths have a meaning. */
export function routeOf(path: string): Route | null {
  const route = exact.get(path);
  if (route !== undefined) return route;
  // Model names may hold slashes, so the whole rest of the path is the name.
  return path.startsWith(modelPrefix) && path.length > modelPrefix.length ? model : null;
}
