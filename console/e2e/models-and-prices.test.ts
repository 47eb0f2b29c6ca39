import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const listPrice = { input: 1.25, output: 10 };

describe.skipIf(noBrowser !== null)("models, their prices and usage in the console", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config: configFor });
    ({ ada } = opened);
    const deployments = (upstream_model: string) => [{ provider: "openai", upstream_model }];
    await ada.call("models.create", {
      body: { name: "backup", deployments: deployments("house"), price: { input: 1 } },
    });
    await ada.call("models.create", {
      body: { name: "manual", deployments: deployments("gpt-5"), price: { input: 9 } },
    });
    await ada.call("models.create", {
      body: { name: "forgotten", deployments: deployments("gpt-5"), unpriced: "allow" },
    });
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  const show = (model: string) => ada.call("models.show", { params: { model } });

  test("a new model gets the price list's price and a fallback with four clicks", async () => {
    await navigateTo(page, "/console/models");
    await page.getByRole("button", { name: "Add model" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name").fill("gpt-5");
    await form.getByText("Use list price: $1.25 in · $10.00 out").waitFor();
    await form.getByRole("combobox", { name: "Fallback" }).click();
    await page.getByRole("option", { name: "backup" }).click();
    await form.getByRole("button", { name: "Add model" }).click();
    await closeNotice(page, "Model gpt-5 added.");
    expect(await show("gpt-5")).toMatchObject({ price: listPrice, price_origin: "price_list", fallbacks: ["backup"] });
  });

  test("a manual price is replaced by the price list's in one click", async () => {
    await navigateTo(page, "/console/models/manual?tab=price");
    await page.getByText("Price list: $1.25 in · $10.00 out").waitFor();
    await page.getByRole("button", { name: "Use list price" }).click();
    await closeNotice(page, "manual now has the price list's price.");
    expect(await show("manual")).toMatchObject({ price: listPrice, price_origin: "price_list" });
    expect(await page.getByRole("button", { name: "Use list price" }).count()).toBe(0);
  });

  test("the list of models offers the list price to a model without one", async () => {
    await navigateTo(page, "/console/models");
    const row = page.getByRole("row", { name: /forgotten/ });
    await row.getByText("No price").waitFor();
    await row.getByRole("button", { name: "Use list price" }).click();
    await row.getByText("$1.25 in · $10.00 out").waitFor();
    expect((await show("forgotten")).price).toMatchObject(listPrice);
  });

  test("a model's page shows its usage and who caused it, and compares it with another model", async () => {
    const { key, secret } = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "ci" } });
    expect((await opened.chat(secret, { body: { model: "manual" } })).status).toBe(200);
    const spent = await until(async () => {
      const { data } = await ada.call("requests.list", { params: { workspace: "acme" }, query: { key: key.id } });
      return data[0]?.cost_usd;
    });
    expect(spent).toBeGreaterThan(0);
    await navigateTo(page, "/console/models/manual?workspace=acme");
    const keys = page.getByRole("region", { name: "Top API keys" });
    await keys.getByRole("link", { name: "ci" }).waitFor();
    const link = await keys.getByRole("link", { name: "ci" }).getAttribute("href");
    expect(new URL(link ?? "", page.url()).searchParams.get("range")).toBe("7d");
    const requests = page.locator(".stat").filter({ hasText: "Requests" }).locator(".stat-value");
    expect(await requests.innerText()).toBe("1");
    await page.getByRole("tab", { name: "Compare" }).click();
    await page.getByRole("combobox", { name: "Compare with" }).click();
    await page.getByRole("option", { name: "backup" }).click();
    await page.getByRole("option", { name: "forgotten" }).click();
    await page.keyboard.press("Escape");
    const table = page.getByRole("table", { name: "Comparison" });
    await table.getByRole("row", { name: /^Price \$1\.25 in · \$10\.00 out.* \$1\.00 in.* \$1\.25 in/ }).waitFor();
    await table.getByRole("row", { name: /^Input \$1\.25 per million tokens \$1\.00/ }).waitFor();
    await table.getByRole("row", { name: "Deployments openai openai openai" }).waitFor();
    await table.getByRole("row", { name: /^Requests 1 0 0/ }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("link", { name: "Compare in the playground" }).click();
    await page.getByText("Sends 3 requests, one to each model.").waitFor();
    expect(new URL(page.url()).searchParams.get("models")).toBe("manual,backup,forgotten");
  });

  test("nothing violates the content security policy", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});

function configFor(upstream: string): string {
  return JSON.stringify({
    providers: [{ id: "openai", kind: "openai", api_key: "sk-test", base_url: upstream, allow_private_network: true }],
    workspaces: [{ slug: "acme", name: "acme", models: ["*"], groups: [{ name: "default" }] }],
  });
}
