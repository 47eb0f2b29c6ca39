import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type HostileGateway, startHostileGateway } from "./hostile/hostile-gateway.ts";
import { hostileLines, hostileStrings } from "./hostile/strings.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { navigateTo, waitUntilLoaded } from "./populated/all-pages.ts";

const of = "workspace=acme";
const step = encodeURIComponent;

describe.skipIf(noBrowser !== null)("hostile names, prompts and responses are shown as plain text", () => {
  let browser: OpenedBrowser;
  let gateway: HostileGateway;
  let page: Page;
  /** Scripts that ran or were blocked, with their pages. */
  const seen: string[] = [];

  beforeAll(async () => {
    gateway = await startHostileGateway();
    browser = await openBrowser(gateway.gateway.url);
    page = await gateway.ada.page(browser);
    await page.exposeFunction("hit", () => void seen.push(`ran on ${page.url()}`));
    await page.exposeFunction("violated", (what: string) => void seen.push(`${what} on ${page.url()}`));
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => violated(event.violatedDirective + ' ' + event.blockedURI))",
    );
    page.on("dialog", (dialog) => {
      seen.push(`a dialog on ${page.url()}`);
      void dialog.dismiss();
    });
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  async function load(path: string): Promise<void> {
    await page.goto(path);
    await waitUntilLoaded(page);
    await look(path);
  }

  /** Navigates without reloading the app, as a link does. */
  async function open(path: string): Promise<void> {
    await navigateTo(page, path);
    await look(path);
  }

  async function look(path: string): Promise<void> {
    for (const what of await page.evaluate<string[]>(becameMarkup)) seen.push(`${what} on ${path}`);
  }

  test("the check detects a script that runs", async () => {
    await page.goto("/console/profile");
    await page.evaluate("hit()");
    expect(seen.length).toBe(1);
    seen.length = 0;
  });

  test("control characters in names and tags are refused", async () => {
    const params = { workspace: "acme" };
    const refused = hostileStrings.filter((text) => !hostileLines.includes(text));
    expect(refused.length).toBeGreaterThan(0);
    for (const text of refused) {
      for (const body of [{ name: text }, { name: "a", tags: { [text]: "a" } }, { name: "a", tags: { a: text } }]) {
        const answer = await gateway.ada.call("keys.create", { params, body }).catch((thrown: unknown) => thrown);
        expect(answer).toMatchObject({ status: 400, code: "invalid_request" });
      }
    }
  });

  test("on every list and settings page", async () => {
    const paths = [
      "/console/",
      `/console/?${of}&by=key`,
      `/console/playground?${of}`,
      `/console/keys?${of}`,
      "/console/keys",
      "/console/requests",
      `/console/tasks?${of}`,
      `/console/assets?${of}`,
      `/console/limits?${of}`,
      `/console/alerts?tab=rules&${of}`,
      `/console/alerts?tab=channels&${of}`,
      "/console/models",
      "/console/providers",
      "/console/providers/main",
      "/console/providers/main?tab=import",
      "/console/providers/main?tab=settings",
      "/console/workspaces",
      "/console/workspaces/acme",
      "/console/workspaces/acme?tab=groups",
      "/console/workspaces/acme?tab=members",
      "/console/workspaces/acme?tab=access",
      "/console/workspaces/from-file",
      "/console/audit",
      "/console/settings",
      "/console/settings?tab=users",
      "/console/settings?tab=tokens",
      "/console/settings?tab=config",
      "/console/profile",
    ];
    for (const path of paths) await open(path);
    expect(seen).toEqual([]);
  });

  test("on the pages of keys, models, requests and tasks with hostile names", async () => {
    for (const id of gateway.keys.slice(0, 4)) await open(`/console/keys/${step(id)}?${of}`);
    for (const name of gateway.models.slice(0, 4)) await open(`/console/models/${step(name)}`);
    for (const id of gateway.requests.filter((_, index) => index % 3 === 0 || index < 3))
      await open(`/console/requests/${step(id)}?${of}`);
    for (const id of gateway.tasks) await open(`/console/tasks/${step(id)}?${of}`);
    expect(gateway.requests.filter((id) => id !== "").length).toBe(hostileStrings.length);
    expect(gateway.tasks.length).toBeGreaterThan(3);
    expect(seen).toEqual([]);
  });

  test("in the URL: searches, filters, tabs, workspaces, ids and the page after sign-in", async () => {
    // The URL is read at page load and during navigation; the first text is tested in both ways.
    for (const [index, text] of hostileStrings.slice(0, 6).entries()) {
      const visit = index === 0 ? load : open;
      await visit(`/console/keys?${of}&search=${step(text)}`);
      await visit(`/console/requests?model=${step(text)}&key=${step(text)}&tab=${step(text)}`);
      await visit(`/console/keys/${step(text)}?workspace=${step(text)}`);
    }
    for (const text of hostileStrings.slice(0, 4)) await load(`/console/sign-in?next=${step(text)}`);
    expect(new URL(page.url()).origin).toBe(gateway.gateway.url);
    expect(seen).toEqual([]);
  });

  test("shows a response that consists of markup as plain text", async () => {
    await open(`/console/requests/${step(gateway.requests[0] ?? "")}?${of}`);
    await page.getByText("<script>hit()</script>").first().waitFor();
    expect(seen).toEqual([]);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});

/** Elements and URLs that no page of the console has. */
const becameMarkup = `[
  ...document.querySelectorAll("iframe, object, embed, base, math, form[action], meta[http-equiv=refresh], body script:not([src])"),
  ...[...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on"))),
  ...[...document.querySelectorAll("[href], [src], [action]")].filter((element) =>
    /^[\\s\\x00-\\x1f]*(javascript|vbscript|data:text)/i.test(element.getAttribute("href") ?? element.getAttribute("src") ?? "")),
].map((element) => element.outerHTML.slice(0, 120))`;
