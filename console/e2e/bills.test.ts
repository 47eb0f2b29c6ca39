import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";

const adminKey = "sk-admin-of-the-bill-0123456789";
const price = { input: 100, output: 1_000 };
const prompt = `[[sim {"tokens":50,"prompt_tokens":1000}]] Hello`;

describe.skipIf(noBrowser !== null)("bills in the console", () => {
  let opened: OpenedConsole;
  let page: Page;
  /** The day of the calls (UTC). */
  let day = "";

  beforeAll(async () => {
    opened = await openConsole({ config: simulatedModels({ fast: price }) });
    const { ada, simulator } = opened;
    // Prices in the config file could not be set here.
    for (const id of ["vendor", "cloud"]) {
      const body = { id, kind: "openai-compatible", base_url: simulator.url, allow_private_network: true };
      await ada.call("providers.create", { body });
    }
    await ada.call("models.create", { body: { name: "gpt-bill", deployments: [{ provider: "vendor" }], price } });
    const { key, secret } = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "ci" } });
    const body = { model: "gpt-bill", messages: [{ role: "user", content: prompt }] };
    expect((await opened.chat(secret, { body })).status).toBe(200);
    const at = await until(async () => {
      const { data } = await ada.call("requests.list", { params: { workspace: "acme" }, query: { key: key.id } });
      return data[0]?.cost_usd == null ? undefined : data[0].at;
    });
    day = new Date(at).toISOString().slice(0, 10);
    // The vendor charges a fifth more for output than the gateway's price, and gives a credit.
    simulator.simulator.setBilling({
      adminKey,
      prices: { "gpt-bill": { input: 100, output: 1_200 } },
      charges: [{ day, item: "Credit", usd: -0.25 }],
    });
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  test("an administrator adds the billing source of a provider; its key is never shown again", async () => {
    await navigateTo(page, "/console/providers/vendor?tab=bill");
    await page.getByRole("combobox", { name: "Source" }).click();
    await page.getByRole("option", { name: "OpenAI: organization costs and usage" }).click();
    await page.getByRole("button", { name: "Save billing source" }).click();
    await page.getByText("Enter a key.").waitFor();
    await page.getByLabel("Admin key").fill(adminKey);
    await page.getByLabel("Address of the bill").fill(opened.simulator.url.replace(/\/v1$/, ""));
    await page.getByRole("button", { name: "Save billing source" }).click();
    await closeNotice(page, "Billing source saved.");
    await page.getByText("Stored. It can't be shown again.").waitFor();
    expect(await page.content()).not.toContain(adminKey);
    expect((await opened.ada.call("providers.show", { params: { provider: "vendor" } })).billing).toMatchObject({
      ...{ kind: "openai", has_admin_key: true, lag_days: null },
    });
    // A filter is stored without the key being typed again.
    const ids = page.getByRole("combobox", { name: "API key IDs" });
    await ids.fill("key_1");
    await ids.press("Enter");
    await page.getByRole("button", { name: "Save billing source" }).click();
    await closeNotice(page, "Billing source saved.");
    const { billing } = await opened.ada.call("providers.show", { params: { provider: "vendor" } });
    expect(billing).toMatchObject({ has_admin_key: true, account: { api_key_ids: ["key_1"] } });
    const phone = await opened.page({ viewport: { width: 360, height: 780 } });
    await navigateTo(phone, "/console/providers/vendor?tab=bill");
    await phone.getByText("Stored. It can't be shown again.").waitFor();
    expect(await phone.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expect(await violationsInBothThemes(phone)).toEqual([]);
    await phone.context().close();
    await ids.press("Backspace");
    await page.getByRole("button", { name: "Save billing source" }).click();
    await closeNotice(page, "Billing source saved.");
    const after = await opened.ada.call("providers.show", { params: { provider: "vendor" } });
    expect(after.billing).toMatchObject({ has_admin_key: true, account: {} });
    expect(after.billing?.account.api_key_ids).toBeUndefined();
  });

  test("a red day turns green: take the vendor's price, book the difference, explain the credit", async () => {
    await opened.ada.call("reconciliation.read", { params: { provider: "vendor" }, body: { from: day, to: day } });
    await navigateTo(page, "/console/bill?provider=vendor");
    await page.getByRole("button", { name: new RegExp(`^${day}: .* unexplained$`) }).click();
    const line = page.getByRole("row", { name: /gpt-bill.*Output/ });
    await line.getByText("Wrong price").waitFor();
    await line.getByRole("button", { name: /^Take price/ }).click();
    await page.getByRole("dialog").getByText("Set the price of gpt-bill to $1,200.00 per million tokens?").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Set price" }).click();
    await closeNotice(page, "Price set.");
    const { price: current } = await opened.ada.call("models.show", { params: { model: "gpt-bill" } });
    expect(current).toMatchObject({ input: 100, output: 1_200 });

    await line.getByRole("button", { name: "Book the difference of gpt-bill, Output" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Book adjustment" }).click();
    await closeNotice(page, "Adjustment booked.");
    await line.getByText("Booked").waitFor();
    expect(await line.getByRole("button").count()).toBe(0);

    const credit = page.getByRole("row", { name: /No model.*Credit/ });
    await credit.getByRole("button", { name: "Explain the difference of No model, Credit" }).click();
    await page.getByRole("dialog").getByLabel("Note").fill("Promised by the vendor");
    await page.getByRole("dialog").getByRole("button", { name: "Save note" }).click();
    await closeNotice(page, "Difference explained.");
    await credit.getByText("Explained").waitFor();
    await page.getByRole("button", { name: `${day}: matched` }).waitFor();
    const { state, lines } = await opened.ada.call("reconciliation.show", { params: { provider: "vendor", day } });
    expect(state).toBe("matched");
    expect(lines.find(({ model }) => model === "")?.decisions).toMatchObject([{ note: "Promised by the vendor" }]);
    expect(await violationsInBothThemes(page)).toEqual([]);
  });

  test("a bill file with a problem is refused with its line, and a good one is compared", async () => {
    await navigateTo(page, "/console/providers/cloud?tab=bill");
    await page.getByText("CSV with the columns day, model, class, units and cost (USD)").waitFor();
    await page.getByRole("button", { name: "Save billing source" }).click();
    await closeNotice(page, "Billing source saved.");
    await page.getByRole("link", { name: "Open bills" }).click();
    const input = page.getByLabel("Choose a bill of cloud");
    const file = (name: string, text: string) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
    await input.setInputFiles(file("bill.csv.gz", "x"));
    await page.getByText("bill.csv.gz is compressed.").waitFor();
    await input.setInputFiles(file("bill.csv", `day,model,cost\n${day},gpt-bill\n`));
    await page.getByText("line 2 has 2 fields, and the header has 3").first().waitFor();
    await input.setInputFiles(file("bill.csv", `day,model,cost\n${day},gpt-other,1.5\n`));
    await closeNotice(page, "Bill compared. Days: 1.");
    expect(await page.getByText("line 2 has 2 fields").count()).toBe(0);
    await page.getByRole("button", { name: `${day}: $1.50 unexplained` }).click();
    await page.getByRole("row", { name: /gpt-other/ }).waitFor();
  });

  test("removing the billing source asks first, and removes its key", async () => {
    await navigateTo(page, "/console/providers/vendor?tab=bill");
    await page.getByRole("button", { name: "Remove billing source" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove billing source" }).click();
    await closeNotice(page, "Billing source removed.");
    expect((await opened.ada.call("providers.show", { params: { provider: "vendor" } })).billing).toBeNull();
    const { sources } = await opened.ada.call("reconciliation.list", { query: { from: day, to: day } });
    expect(sources.map(({ provider }) => provider)).toEqual(["cloud"]);
  });
});
