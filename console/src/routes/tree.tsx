import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type SearchMiddleware,
} from "@tanstack/react-router";
import type { ComponentType } from "react";
import { Frame } from "../shell/frame.tsx";
import { PageFault } from "../shell/page-fault.tsx";
import { PageMissing } from "../shell/page-missing.tsx";
import { PageWaiting } from "../shell/page-waiting.tsx";
import { loadChunk } from "./load-chunk.ts";
import { checkSearch, parseSearch, type Search, writeSearch } from "./search.ts";

/** The workspace is kept on every page, unless a link names another one. */
const keepWorkspace: SearchMiddleware<Search> = ({ search, next }) => {
  const result = next(search);
  return "workspace" in result || search.workspace === undefined ? result : { ...result, workspace: search.workspace };
};

const root = createRootRoute({
  component: Frame,
  notFoundComponent: PageMissing,
  validateSearch: checkSearch,
  search: { middlewares: [keepWorkspace] },
});

const at = <const Path extends string>(path: Path, load: () => Promise<{ default: ComponentType }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(() => loadChunk(load)) });

/** Keeps links to a page that has moved, with their parameters. */
const moved = <const Path extends string>(path: Path, to: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    beforeLoad: ({ params, search }) => {
      throw redirect({ to, params, search, replace: true } as unknown as Parameters<typeof redirect>[0]);
    },
  });

/** Every page is a separate chunk in a folder of `features/`. */
const tree = root.addChildren([
  at("/", () => import("../features/overview/page.tsx")),
  at("/connect", () => import("../features/connect/page.tsx")),
  at("/keys", () => import("../features/keys/list/page.tsx")),
  at("/keys/$key", () => import("../features/keys/detail/page.tsx")),
  at("/workspaces", () => import("../features/workspaces/list/page.tsx")),
  createRoute({
    getParentRoute: () => root,
    path: "/workspaces/$workspace",
    // The page of a workspace also selects it.
    beforeLoad: ({ params, search }) => {
      if (search.workspace === params.workspace) return;
      throw redirect({ to: ".", params, search: { ...search, workspace: params.workspace }, replace: true });
    },
    component: lazyRouteComponent(() => loadChunk(() => import("../features/workspaces/detail/page.tsx"))),
  }),
  at("/people", () => import("../features/people/list-page.tsx")),
  at("/people/$person", () => import("../features/people/page.tsx")),
  at("/workspaces/$workspace/groups/$group", () => import("../features/people/team-page.tsx")),
  at("/providers", () => import("../features/providers/list/page.tsx")),
  at("/providers/$provider", () => import("../features/providers/detail/page.tsx")),
  at("/models", () => import("../features/models/list/page.tsx")),
  at("/models/$model", () => import("../features/models/detail/page.tsx")),
  at("/requests", () => import("../features/requests/list/page.tsx")),
  at("/requests/sessions", () => import("../features/sessions/list/page.tsx")),
  at("/requests/sessions/$key", () => import("../features/sessions/detail/page.tsx")),
  at("/requests/$request", () => import("../features/requests/detail/page.tsx")),
  at("/media", () => import("../features/tasks/list/page.tsx")),
  at("/media/$task", () => import("../features/tasks/detail/page.tsx")),
  at("/media/assets", () => import("../features/assets/page.tsx")),
  at("/batches", () => import("../features/batches/list/page.tsx")),
  at("/batches/$batch", () => import("../features/batches/detail/page.tsx")),
  at("/bill", () => import("../features/bill/page.tsx")),
  at("/files", () => import("../features/files/page.tsx")),
  moved("/tasks", "/media"),
  moved("/tasks/$task", "/media/$task"),
  moved("/assets", "/media/assets"),
  at("/rehearsals", () => import("../features/rehearsals/list/page.tsx")),
  at("/rehearsals/$rehearsal", () => import("../features/rehearsals/detail/page.tsx")),
  at("/playground", () => import("../features/playground/page.tsx")),
  at("/limits", () => import("../features/limits/page.tsx")),
  at("/guardrails", () => import("../features/guardrails/page.tsx")),
  at("/alerts", () => import("../features/alerts/page.tsx")),
  at("/audit", () => import("../features/audit/page.tsx")),
  at("/settings", () => import("../features/settings/page.tsx")),
  at("/profile", () => import("../features/profile/page.tsx")),
  at("/usage", () => import("../features/usage/page.tsx")),
  at("/my-usage", () => import("../features/own-usage/page.tsx")),
  at("/device", () => import("../features/device/page.tsx")),
  at("/sign-in", () => import("../features/sign-in/page.tsx")),
]);

export const consoleRouter = () =>
  createRouter({
    routeTree: tree,
    basepath: "/console",
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: "intent",
    defaultPendingComponent: PageWaiting,
    defaultErrorComponent: PageFault,
    scrollRestoration: true,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof consoleRouter>;
  }
}
