import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type SearchMiddleware,
} from "@tanstack/react-router";
import { Frame } from "../shell/frame.tsx";
import { PageFault } from "../shell/page-fault.tsx";
import { PageMissing } from "../shell/page-missing.tsx";
import { PageWaiting } from "../shell/page-waiting.tsx";
import { checkSearch, parseSearch, type Search, writeSearch } from "./search.ts";

/** The workspace goes along to every page, unless a link names another. */
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

const at = <const Path extends string>(path: Path, load: Parameters<typeof lazyRouteComponent>[0]) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

/** Every page is its own chunk and stands in a folder of `pages/`. */
const tree = root.addChildren([
  at("/", () => import("../pages/home/page.tsx")),
  at("/keys", () => import("../pages/keys/page.tsx")),
  at("/keys/$key", () => import("../pages/key/page.tsx")),
  at("/workspaces", () => import("../pages/workspaces/page.tsx")),
  at("/workspaces/$workspace", () => import("../pages/workspace/page.tsx")),
  at("/providers", () => import("../pages/providers/page.tsx")),
  at("/providers/$provider", () => import("../pages/provider/page.tsx")),
  at("/models", () => import("../pages/models/page.tsx")),
  at("/models/$model", () => import("../pages/model/page.tsx")),
  at("/requests", () => import("../pages/requests/page.tsx")),
  at("/requests/$request", () => import("../pages/request/page.tsx")),
  at("/tasks", () => import("../pages/tasks/page.tsx")),
  at("/tasks/$task", () => import("../pages/task/page.tsx")),
  at("/assets", () => import("../pages/assets/page.tsx")),
  at("/playground", () => import("../pages/playground/page.tsx")),
  at("/limits", () => import("../pages/limits/page.tsx")),
  at("/audit", () => import("../pages/audit/page.tsx")),
  at("/settings", () => import("../pages/settings/page.tsx")),
  at("/profile", () => import("../pages/profile/page.tsx")),
  at("/sign-in", () => import("../pages/sign-in/page.tsx")),
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
