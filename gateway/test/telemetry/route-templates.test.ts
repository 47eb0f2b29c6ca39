import { expect, test } from "bun:test";
import { routes } from "../../src/api/routes.ts";
import { routeTemplates } from "../../src/telemetry/otlp/route-templates.ts";

const probes = ["healthz", "readyz", "metrics", "root"];
/** What coding agents sign in by is no call of a model. */
const isSignIn = (name: string): boolean => name.startsWith("agent-");

test("every route of a call has a template for its spans, and probes have none", () => {
  const names = new Set(routes.map(({ name }) => name));
  expect([...names].filter((name) => !routeTemplates.has(name) && !isSignIn(name)).sort()).toEqual([...probes].sort());
  expect([...routeTemplates.keys()].filter((name) => !names.has(name))).toEqual([]);
});
