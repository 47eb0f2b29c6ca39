import type { Page } from "playwright-core";
import { patienceMs, until } from "../../../test/until.ts";
import type { PopulatedGateway } from "./populated-gateway.ts";

export interface ConsolePage {
  readonly name: string;
  path(populated: PopulatedGateway): string;
}

const acme = "workspace=acme";
const key = (name: string, { tenants }: PopulatedGateway) => encodeURIComponent(tenants.keys[name] ?? "");

/** Every page of the console with data, with its tabs and dialogs. */
export const allPages: readonly ConsolePage[] = [
  { name: "home", path: () => "/console/" },
  { name: "home-of-a-workspace", path: () => `/console/?${acme}` },
  { name: "playground", path: () => `/console/playground?${acme}` },
  { name: "playground-compare", path: () => `/console/playground?${acme}&models=gpt-5,gpt-5-mini` },
  { name: "connect", path: () => `/console/connect?${acme}` },
  { name: "keys", path: () => `/console/keys?${acme}` },
  { name: "key-requests", path: () => `/console/keys?${acme}&view=requests` },
  {
    name: "key-request",
    path: ({ tenants }) => `/console/keys?${acme}&view=requests&request=${encodeURIComponent(tenants.keyRequest)}`,
  },
  { name: "key", path: (populated) => `/console/keys/${key("checkout service", populated)}?${acme}` },
  { name: "key-revoked", path: (populated) => `/console/keys/${key("old laptop", populated)}?${acme}` },
  { name: "requests", path: () => "/console/requests" },
  { name: "request", path: ({ requestId }) => `/console/requests/${encodeURIComponent(requestId)}?${acme}` },
  {
    name: "request-panel",
    path: ({ requestId }) => `/console/requests?request=${encodeURIComponent(requestId)}&${acme}`,
  },
  { name: "tasks", path: () => `/console/media?${acme}` },
  { name: "task", path: ({ taskId }) => `/console/media/${encodeURIComponent(taskId)}?${acme}` },
  { name: "assets", path: () => `/console/media/assets?${acme}` },
  { name: "batches", path: () => `/console/batches?${acme}` },
  { name: "batch", path: ({ batchId }) => `/console/batches/${encodeURIComponent(batchId)}?${acme}` },
  { name: "bill", path: () => "/console/bill" },
  { name: "files", path: () => `/console/files?${acme}` },
  { name: "limits", path: () => `/console/limits?${acme}` },
  { name: "budget-policy-new", path: () => `/console/limits?${acme}&budget=new` },
  { name: "rehearsals", path: () => "/console/rehearsals" },
  {
    name: "rehearsal",
    path: ({ rehearsalId }) => `/console/rehearsals/${encodeURIComponent(rehearsalId)}`,
  },
  { name: "guardrails", path: () => `/console/guardrails?${acme}` },
  { name: "guardrails-of-the-installation", path: () => "/console/guardrails?workspace=-" },
  { name: "guardrail-new", path: () => `/console/guardrails?${acme}&guardrail=new` },
  { name: "guardrails-findings", path: () => `/console/guardrails?${acme}&tab=findings` },
  { name: "guardrails-try", path: () => `/console/guardrails?${acme}&tab=try` },
  { name: "alerts", path: () => "/console/alerts" },
  { name: "alerts-rules", path: () => "/console/alerts?tab=rules" },
  { name: "alerts-channels", path: () => `/console/alerts?tab=channels&${acme}` },
  { name: "models", path: () => "/console/models" },
  { name: "model", path: () => "/console/models/gpt-5" },
  { name: "model-price", path: () => "/console/models/gpt-5?tab=price" },
  { name: "model-compare", path: () => `/console/models/gpt-5?tab=compare&with=gpt-5-mini&${acme}` },
  { name: "providers", path: () => "/console/providers" },
  { name: "provider", path: () => "/console/providers/openai-main" },
  { name: "provider-bill", path: () => "/console/providers/openai-main?tab=bill" },
  { name: "provider-bill-new", path: () => "/console/providers/lab-cluster?tab=bill" },
  { name: "provider-down", path: () => "/console/providers/lab-cluster" },
  { name: "workspaces", path: () => "/console/workspaces" },
  { name: "workspace", path: () => "/console/workspaces/acme" },
  { name: "workspace-groups", path: () => "/console/workspaces/acme?tab=groups" },
  { name: "workspace-members", path: () => "/console/workspaces/acme?tab=members" },
  { name: "workspace-access", path: () => "/console/workspaces/acme?tab=access" },
  { name: "workspace-agents", path: () => "/console/workspaces/acme?tab=agents" },
  { name: "workspace-of-the-file", path: () => "/console/workspaces/platform" },
  { name: "group", path: () => "/console/workspaces/acme/groups/agents" },
  {
    name: "person",
    path: ({ tenants }) => `/console/people/${encodeURIComponent(tenants.people["max@example.com"] ?? "")}?workspace=-`,
  },
  { name: "audit", path: () => `/console/audit?${acme}` },
  { name: "settings", path: () => "/console/settings" },
  { name: "settings-users", path: () => "/console/settings?tab=users" },
  { name: "settings-config", path: () => "/console/settings?tab=config" },
  { name: "settings-system", path: () => "/console/settings?tab=system" },
  { name: "usage", path: () => `/console/usage?${acme}` },
  { name: "usage-chargeback", path: () => `/console/usage?${acme}&tab=chargeback` },
  { name: "usage-scheduled", path: () => `/console/usage?${acme}&tab=scheduled&report=new` },
  { name: "my-usage", path: () => `/console/my-usage?${acme}` },
  { name: "profile", path: () => "/console/profile" },
];

/**
 * Navigates to a page without reloading the app, as a link does. It visits a missing page in between, so that the result cannot be the
 * page that was open before.
 */
export async function navigateTo(page: Page, path: string, missingWords = "Page not found"): Promise<void> {
  if (!page.url().includes("/console/")) await page.goto("/console/");
  const options = JSON.stringify({ path, missingWords, patienceMs, lookMs: pollMs });
  await page.evaluate(`(${navigateInPage})(${options}, () => ${isIdle})`);
}

/** Runs inside the page, because the driver would poll for each wait separately. */
const navigateInPage = `async ({ path, missingWords, patienceMs, lookMs }, nothingBusy) => {
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

const pollMs = 60;

/** Waits until a page has its heading and is idle in two checks in a row. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  let quiet = 0;
  await until(async () => {
    // Evaluated by the driver, because the content security policy forbids evaluation in the page.
    quiet = (await page.evaluate<boolean>(isIdle)) ? quiet + 1 : 0;
    if (quiet < 2) await Bun.sleep(pollMs);
    return quiet === 2;
  });
}

const checksMax = 40;

/** Problems that remain after some time: charts follow a resized window with a delay. */
export async function settled(check: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let checks = 0;
  let found: readonly string[] = [];
  await until(async () => {
    found = await check();
    return found.length === 0 || ++checks === checksMax;
  });
  return found;
}

/** Whether the page has no visible loading indicators or skeletons. */
const isIdle = `[...document.querySelectorAll('[aria-busy="true"], .mantine-Skeleton-root[data-visible], .mantine-Loader-root')]
  .every((element) => !element.checkVisibility({ checkOpacity: true }))`;
