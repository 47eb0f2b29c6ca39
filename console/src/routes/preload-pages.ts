import type { AnyRouter } from "@tanstack/react-router";

const quietMs = 4_000;

/** Loads the other pages while the browser is idle, so that they open at once, even while the gateway restarts. */
export function preloadPages(router: AnyRouter): void {
  const connection = "connection" in navigator ? (navigator.connection as { saveData?: boolean }) : {};
  if (connection.saveData === true) return;
  const loads = Object.values(router.routesById as Record<string, { options: { component?: unknown } }>).flatMap(
    ({ options: { component } }) =>
      typeof component === "function" && "preload" in component ? [component.preload as () => Promise<unknown>] : [],
  );
  const next = () => {
    const load = loads.shift();
    if (load === undefined) return;
    // The page reports an error when it is opened.
    void load()
      .catch(() => undefined)
      .then(() => whenIdle(next));
  };
  setTimeout(() => whenIdle(next), quietMs);
}

function whenIdle(run: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(run);
  else setTimeout(run, 200);
}
