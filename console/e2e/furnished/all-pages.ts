import type { Page } from "playwright-core";
import { patienceMs, until } from "../../../test/until.ts";
import type { FurnishedGateway } from "./furnished-gateway.ts";

export interface PageToSee {
  readonly name: string;
  path(furnished: FurnishedGateway): string;
}

const acme = "workspace=acme";
const key = (name: string, { tenants }: FurnishedGateway) => encodeURIComponent(tenants.keys[name] ?? "");

/** Every page of the console with something on it, each of its tabs, and what opens on top of it. */
export const allPages: readonly PageToSee[] = [
  { name: "home", path: () => "/console/" },
  { name: "home-of-a-workspace", path: () => `/console/?${acme}` },
  { name: "playground", path: () => `/console/playground?${acme}` },
  { name: "connect", path: () => `/console/connect?${acme}` },
  { name: "keys", path: () => `/console/keys?${acme}` },
  { name: "key", path: (furnished) => `/console/keys/${key("checkout service", furnished)}?${acme}` },
  { name: "key-revoked", path: (furnished) => `/console/keys/${key("old laptop", furnished)}?${acme}` },
  { name: "requests", path: () => "/console/requests" },
  { name: "request", path: ({ requestId }) => `/console/requests/${encodeURIComponent(requestId)}?${acme}` },
  { name: "tasks", path: () => `/console/tasks?${acme}` },
  { name: "task", path: ({ taskId }) => `/console/tasks/${encodeURIComponent(taskId)}?${acme}` },
  { name: "assets", path: () => `/console/assets?${acme}` },
  { name: "limits", path: () => `/console/limits?${acme}` },
  { name: "limits-notices", path: () => `/console/limits?tab=notices&${acme}` },
  { name: "models", path: () => "/console/models" },
  { name: "model", path: () => "/console/models/gpt-5" },
  { name: "providers", path: () => "/console/providers" },
  { name: "provider", path: () => "/console/providers/openai-main" },
  { name: "provider-down", path: () => "/console/providers/lab-cluster" },
  { name: "workspaces", path: () => "/console/workspaces" },
  { name: "workspace", path: () => "/console/workspaces/acme" },
  { name: "workspace-groups", path: () => "/console/workspaces/acme?tab=groups" },
  { name: "workspace-members", path: () => "/console/workspaces/acme?tab=members" },
  { name: "workspace-access", path: () => "/console/workspaces/acme?tab=access" },
  { name: "workspace-agents", path: () => "/console/workspaces/acme?tab=agents" },
  { name: "workspace-of-the-file", path: () => "/console/workspaces/platform" },
  { name: "audit", path: () => `/console/audit?${acme}` },
  { name: "settings", path: () => "/console/settings" },
  { name: "settings-users", path: () => "/console/settings?tab=users" },
  { name: "settings-config", path: () => "/console/settings?tab=config" },
  { name: "settings-system", path: () => "/console/settings?tab=system" },
  { name: "usage", path: () => `/console/usage?${acme}` },
  { name: "profile", path: () => "/console/profile" },
];

/**
 * Goes to a page as by a link: the program stays, its page changes. In between stands a page that is none, so that what
 * stands in the end is not what stood at first.
 */
export async function followTo(page: Page, path: string, missingWords = "Page not found"): Promise<void> {
  if (!page.url().includes("/console/")) await page.goto("/console/");
  const given = JSON.stringify({ path, missingWords, patienceMs, lookMs });
  await page.evaluate(`(${followInside})(${given}, () => ${nothingBusy})`);
}

/** In one step inside the page: the driver would ask for each of its waits again and again. */
const followInside = `async ({ path, missingWords, patienceMs, lookMs }, nothingBusy) => {
  const startMs = performance.now();
  const until = async (holds, restMs) => {
    while (!holds()) {
      if (performance.now() - startMs > patienceMs) throw new Error("Not within " + patienceMs + " ms: " + path + ": " + holds);
      await new Promise((rested) => setTimeout(rested, restMs));
    }
  };
  const headings = () => [...document.querySelectorAll("h1")];
  const missing = () => headings().some(({ textContent }) => textContent === missingWords);
  await until(() => headings().length > 0, 20);
  history.pushState(null, "", "/console/no/such/page");
  await until(missing, 10);
  history.pushState(null, "", path);
  await until(() => !missing() && headings().length > 0, 20);
  let quiet = 0;
  await until(() => (quiet = nothingBusy() ? quiet + 1 : 0) === 2, lookMs);
}`;

const lookMs = 60;

/** Until a page has its heading and nothing on it is still on the way, at two looks in a row. */
export async function standing(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  let quiet = 0;
  await until(async () => {
    // Looked at from outside: the page's own policy lets nothing be evaluated inside it.
    quiet = (await page.evaluate<boolean>(nothingBusy)) ? quiet + 1 : 0;
    if (quiet < 2) await Bun.sleep(lookMs);
    return quiet === 2;
  });
}

const looksMax = 40;

/** What is still wrong with a page when it has had time to find its place: charts follow a window of another width late. */
export async function settled(look: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let looks = 0;
  let found: readonly string[] = [];
  await until(async () => {
    found = await look();
    return found.length === 0 || ++looks === looksMax;
  });
  return found;
}

/** Placeholders of what is to come say that they are busy, or are skeletons. */
const nothingBusy = `[...document.querySelectorAll('[aria-busy="true"], .mantine-Skeleton-root[data-visible], .mantine-Loader-root')]
  .every((element) => !element.checkVisibility({ checkOpacity: true }))`;
