import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { navigateTo } from "./populated/all-pages.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

const email = "ada@example.com";
const config = `
workspaces:
  - { slug: acme, name: Acme, models: ["*"], groups: [{ name: default }] }
`;
const requested = {
  model: "demo",
  messages: [
    { role: "system", content: "Be short." },
    { role: "user", content: "Where do ships go?" },
  ],
  temperature: 0.3,
  stream: true,
};

describe.skipIf(noBrowser !== null)("requests in the console", () => {
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  let ada: SignedInUser;
  let page: Page;
  let request = "";

  beforeAll(async () => {
    gateway = await startGateway({ administrator: { email, password }, config });
    ada = await signInAs(gateway.url, email);
    const body = { name: "a key that keeps what passes", capture: "bodies" as const };
    const made = await ada.call("keys.create", { params: { workspace: "acme" }, body });
    const answer = await ask(made.secret);
    expect([answer.status, (await answer.text()).includes("[DONE]")]).toEqual([200, true]);
    request = answer.headers.get("x-request-id") ?? "";
    await until(async () => {
      const { data } = await ada.call("requests.list", { params: { workspace: "acme" } });
      return data.some((row) => row.request_id === request);
    });
    browser = await openBrowser(gateway.url);
    page = await ada.page(browser, { viewport: { width: 1440, height: 900 } });
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const ask = (secret: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify(requested),
    });
  const sideways = () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const list = async () => {
    await navigateTo(page, "/console/requests?workspace=acme");
    await page.getByRole("row").nth(1).waitFor();
  };

  test("an empty list shows new requests automatically", async () => {
    const { key, secret } = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "new" } });
    await page.goto(`/console/requests?workspace=acme&key=${encodeURIComponent(key.id)}`);
    await page.getByText("No requests match these filters").waitFor();
    expect((await ask(secret)).status).toBe(200);
    await page.getByRole("row").nth(1).waitFor();
  });

  test("chosen columns are kept in the browser until they are reset", async () => {
    await list();
    const head = page.getByRole("columnheader", { name: "Provider" });
    await head.waitFor();
    await page.getByRole("button", { name: "Choose columns" }).click();
    await page.getByRole("menuitemcheckbox", { name: "Provider" }).click();
    await head.waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("row").nth(1).waitFor();
    expect(await head.count()).toBe(0);
    await page.getByRole("button", { name: "Choose columns" }).click();
    await page.getByRole("menuitem", { name: "Reset to default" }).click();
    await head.waitFor();
  });

  test("Refresh shows a loading state until the response arrives", async () => {
    await list();
    const held = Promise.withResolvers<void>();
    const lists = /\/api\/workspaces\/acme\/requests\?/;
    await page.route(lists, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Refresh" }).click();
    const asking = page.locator("button[data-loading]", { hasText: "Refresh" });
    await asking.waitFor();
    held.resolve();
    await asking.waitFor({ state: "detached" });
    await page.unroute(lists);
  });

  test("the list fits every width; columns without room scroll inside the table", async () => {
    for (const width of [1_440, 1_024, 768, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await list();
      expect([width, await sideways()]).toEqual([width, 0]);
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test("more filters push the list down instead of covering it", async () => {
    await list();
    await page.getByRole("button", { name: "More filters" }).click();
    const filter = await page.getByRole("combobox", { name: "Error code" }).boundingBox();
    const table = await page.getByRole("table").boundingBox();
    expect((filter?.y ?? 0) + (filter?.height ?? 0)).toBeLessThanOrEqual(table?.y ?? 0);
  });

  test("a captured chat is shown as messages with the assembled response, its raw events a click away, and opens in the playground", async () => {
    await page.goto(`/console/requests/${encodeURIComponent(request)}?workspace=acme`);
    const messages = page.getByRole("list", { name: "Messages" }).getByRole("listitem");
    await messages.first().waitFor();
    expect(await messages.nth(0).textContent()).toBe("SystemBe short.");
    expect(await messages.nth(1).textContent()).toBe("UserWhere do ships go?");
    const answer = (await messages.nth(2).textContent()) ?? "";
    expect(answer).toStartWith("Response");
    expect(answer).not.toContain("data:");
    await page.getByRole("heading", { name: "Client response" }).click();
    await page.getByText("Raw events").click();
    await page.getByText("data: [DONE]").first().waitFor();

    await page.getByRole("link", { name: "Open in playground" }).click();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Where do ships go?");
    expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toBe("demo");
    await page.getByText("Be short.").waitFor();
    expect(browser.faults).toEqual([]);
  });
});
