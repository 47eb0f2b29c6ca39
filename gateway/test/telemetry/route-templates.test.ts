import { expect, test } from "bun:test";
import { adminAreas } from "@sluice/contract/words";
import { adminRoute } from "#api/answer-arrival.ts";
import { createMetrics } from "#telemetry/index.ts";
import { routes } from "../../src/api/routes.ts";
import { routeTemplates } from "../../src/telemetry/otlp/span-attributes.ts";

const probes = ["healthz", "readyz", "metrics", "root"];
/** Agent sign-in routes are not model calls. */
const isSignIn = (name: string): boolean => name.startsWith("agent-");

test("every call route has a template for its spans, and probes have none", () => {
  const names = new Set(routes.map(({ name }) => name));
  expect([...names].filter((name) => !routeTemplates.has(name) && !isSignIn(name)).sort()).toEqual([...probes].sort());
  expect([...routeTemplates.keys()].filter((name) => !names.has(name))).toEqual([]);
});

test("counts every route separately, also after many unknown paths", async () => {
  const paths = ["/", "/console/", "/docs", "/scim/v2/Users", "/v1/organizations/spend_limits", "/openapi.json", "/x"];
  const areas = [...adminAreas, "auth", "setup", "status"].map((area) => `/api/${area}`);
  const names = new Set([...routes.map(({ name }) => name), ...[...paths, ...areas].map(adminRoute)]);
  const metrics = createMetrics();
  for (const name of names) metrics.requestEnd({ route: name, status: 401, outcome: "refused", totalMs: 1 });
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("sluice_requests_total{"));
  expect(lines).toHaveLength(names.size);
  expect(lines.filter((line) => line.includes('route="other"'))).toEqual([]);
});
