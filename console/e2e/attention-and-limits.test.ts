import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const params = { workspace: "acme" };

describe.skipIf(noBrowser !== null)("attention and limits in the console", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config: simulatedModels({ fast: { input: 1, output: 2 } }) });
    ({ ada } = opened);
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  async function createKey(name: string, bounds: object): Promise<{ readonly id: string; readonly secret: string }> {
    const { key, secret } = await ada.call("keys.create", { params, body: { name, ...bounds } });
    return { id: key.id, secret };
  }

  const amount = () => page.getByRole("textbox", { name: /^New limit/ });
  const attention = () => page.getByRole("region", { name: "Needs attention" });

  test("an exhausted budget on the home page leads to its limit, and is gone once that is raised", async () => {
    await createKey("spent", { budget: { usd: 0, period: "month" } });
    await navigateTo(page, "/console/?workspace=acme");
    const item = attention().getByRole("listitem").filter({ hasText: "acme/spent has used $0.00 of its $0.00" });
    await item.getByRole("link", { name: "Change limit" }).click();
    expect(await amount().inputValue()).toBe("$0");
    await amount().fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    await closeNotice(page, "Limit changed. It applies at once.");
    await page.getByRole("row", { name: /acme\/spent.*\$5\.00 per month/ }).waitFor();
    await navigateTo(page, "/console/?workspace=acme");
    await page.getByText("All clear").waitFor();
    expect(await attention().count()).toBe(0);
  });

  test("an admin raises a limit from a refused request, with a higher amount filled in, and the next call passes", async () => {
    const { secret } = await createKey("slow", { limits: { rpm: 1 } });
    expect((await opened.chat(secret)).status).toBe(200);
    const refused = await opened.chat(secret);
    expect(refused.status).toBe(429);
    const request = refused.requestId;
    const path = `/console/requests/${encodeURIComponent(request)}?workspace=acme`;
    const params = { workspace: "acme", request };
    await until(async () => {
      const shown = await ada.call("requests.show", { params }).catch(() => null);
      return shown?.explanation?.refusal != null;
    });
    await navigateTo(page, path);
    await page.getByRole("link", { name: "Raise this limit" }).click();
    expect(await amount().inputValue()).toBe("2");
    await page.getByRole("button", { name: "Save" }).click();
    await closeNotice(page, "Limit changed. It applies at once.");
    expect((await opened.chat(secret)).status).toBe(200);
  });

  test("the cards filter the limits, and their counts agree with the rows", async () => {
    await createKey("empty", { budget: { usd: 0, period: "day" } });
    // Rates are free again within a minute, so only budgets stay the same.
    await navigateTo(page, "/console/limits?workspace=acme&kind=budget");
    const card = (name: string) => page.getByRole("button", { name: new RegExp(`^${name}`) });
    const count = async (name: string) => Number(await card(name).locator(".stat-value").innerText());
    const rows = () => page.locator("tbody tr").count();
    await page.getByRole("row", { name: /acme\/empty/ }).waitFor();
    await card("Exhausted").click();
    await until(async () => (await rows()) === 1);
    expect([await count("Exhausted"), (await count("At risk")) >= 1]).toEqual([1, true]);
    await card("At risk").click();
    await until(async () => (await rows()) === (await count("At risk")));
    await card("At risk").click();
    await until(async () => (await rows()) === (await count("All limits")));
    expect(page.url()).not.toContain("state=");
  });

  test("nothing violates the content security policy", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});
