import type { createAdminApp } from "./admin-app.ts";
import type { AdminOptions } from "./dependencies.ts";
import type { AdminEnv } from "./handlers/calls.ts";
import { withSecurityHeaders } from "./pages.ts";

export interface Admin {
  /** Answers /console, /docs, /api and /openapi.json; anything else is `not_found`. Never throws. */
  readonly fetch: (request: Request, info: AdminEnv["Bindings"]) => Promise<Response>;
}

/** The control plane. Its modules are loaded with the first call, so that a process that only serves model calls does not hold them. */
export function createAdmin(options: AdminOptions): Admin {
  let loading: Promise<ReturnType<typeof createAdminApp>> | null = null;
  return {
    fetch: async (request, info) => {
      loading ??= loadApp(options);
      const app = await loading;
      return withSecurityHeaders(await app.fetch(request, info));
    },
  };
}

async function loadApp(options: AdminOptions): Promise<ReturnType<typeof createAdminApp>> {
  for (const load of parts) {
    await load();
    // Loading a module blocks the event loop, so waiting model calls go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { createAdminApp } = await import("./admin-app.ts");
  return createAdminApp(options);
}

/** Ordered so that each import takes only a few milliseconds. */
const parts: readonly (() => Promise<unknown>)[] = [
  () => import("zod/v4/core"),
  () => import("zod"),
  () => import("hono"),
  () => import("@sluice/contract/config-file"),
  () => import("@sluice/contract/console/keys"),
  () => import("@sluice/contract/console/models"),
  () => import("@sluice/contract/console/providers"),
  () => import("@sluice/contract/console/requests"),
  () => import("@sluice/contract/console/session"),
  () => import("@sluice/contract/console/settings"),
  () => import("@sluice/contract/console/media"),
  () => import("@sluice/contract/console/usage"),
  () => import("@sluice/contract/console/workspaces"),
  () => import("./streaming/mount-streaming-routes.ts"),
  () => import("./handlers/console-handlers.ts"),
  () => import("./admin-app.ts"),
];
