import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";

const calls = 5;

describe.skipIf(noBrowser !== null)("rehearsals in the console", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;
  let keyId = "";
  let keySecret = "";

  /** The key `ci` of acme makes five calls to `fast`. */
  beforeAll(async () => {
    opened = await openConsole({ config: configFor });
    ({ ada } = opened);
    await ada.call("models.create", {
      body: { name: "fast", deployments: [{ provider: "openai", upstream_model: "gpt-5" }], price: { input: 1000 } },
    });
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme", models: ["*"] } });
    const params = { workspace: "acme" };
    const { key, secret } = await ada.call("keys.create", { params, body: { name: "ci" } });
    keyId = key.id;
    keySecret = secret;
    for (let made = 0; made < calls; made += 1) expect((await opened.chat(secret)).status).toBe(200);
    await until(async () => {
      const { data } = await ada.call("requests.list", { params, query: { key: keyId } });
      return data.filter(({ cost_usd: usd }) => usd !== null && usd > 0).length === calls;
    });
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  const dialog = () => page.getByRole("dialog", { name: "Rehearse this change" });
  const editor = () => page.getByRole("dialog", { name: "Edit ci" });
  const key = async () => await ada.call("keys.show", { params: { workspace: "acme", key: keyId } });

  async function rehearse(form: Locator | Page): Promise<void> {
    await form.getByRole("button", { name: "Rehearse", exact: true }).click();
    await dialog().getByRole("combobox", { name: "Period" }).click();
    await page.getByRole("option", { name: "Last 24 hours" }).click();
    await dialog().getByRole("button", { name: "Rehearse", exact: true }).click();
  }

  test("an unsaved limit of a key shows which requests it would have refused", async () => {
    await navigateTo(page, `/console/keys/${keyId}?workspace=acme&edit=1`);
    const button = editor().getByRole("button", { name: "Rehearse" });
    expect(await button.isDisabled()).toBe(true);
    await editor().getByLabel("Budget", { exact: true }).fill("0");
    await rehearse(editor());
    await dialog().getByText("Would have refused 5 of 5 requests of 1 API key, and saved").waitFor();
    await dialog()
      .getByRole("row", { name: /API key acme\/ci.*Budget.*5/ })
      .waitFor();
    await dialog()
      .getByRole("region", { name: "First and worst moments" })
      .getByText("by Budget of API key acme/ci")
      .waitFor();
    await dialog().getByText("API keys", { exact: true }).click();
    const requests = dialog().getByRole("table", { name: "API keys" }).getByRole("link", { name: "ci" });
    const { searchParams } = new URL((await requests.getAttribute("href")) ?? "", page.url());
    expect([searchParams.get("key"), searchParams.get("workspace")]).toEqual([keyId, "acme"]);
    expect(await requests.getAttribute("target")).toBe("_blank");
    expect(await violationsInBothThemes(page)).toEqual([]);
    // The form is still open, and nothing was saved.
    await dialog().getByRole("button", { name: "Back to the form" }).click();
    await dialog().waitFor({ state: "detached" });
    expect(await editor().getByLabel("Budget", { exact: true }).inputValue()).toBe("$0");
    expect((await key()).budget).toBe(null);
    // The result stays until the form changes.
    await editor().getByLabel("Budget", { exact: true }).fill("900");
    await button.click();
    await dialog().getByText("The form has changed since this rehearsal.").waitFor();
    await dialog().getByRole("button", { name: "Rehearse again" }).click();
    await dialog().getByText("Would have changed nothing about 5 requests.").waitFor();
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
  });

  test("unsaved models of a group show the requests that they would have refused", async () => {
    const { data } = await ada.call("groups.list", { params: { workspace: "acme" } });
    await navigateTo(page, `/console/workspaces/acme?tab=groups&group=${data[0]?.id}`);
    const form = page.getByRole("dialog", { name: /default/ });
    const models = form.getByRole("combobox", { name: "Allowed models" });
    await models.press("Backspace");
    await models.fill("other-*");
    await models.press("Enter");
    await rehearse(form);
    await dialog().getByText("Would have refused 5 of 5 requests of 1 API key, and saved").waitFor();
    await dialog()
      .getByRole("row", { name: /group acme\/default.*Models.*5/ })
      .waitFor();
    await dialog().getByRole("button", { name: "Back to the form" }).click();
  });

  test("an unsaved price shows what past requests would have cost, also on a separate page", async () => {
    await navigateTo(page, "/console/models/fast?tab=price");
    await page.getByLabel("Input", { exact: true }).first().fill("2000");
    await rehearse(page);
    await dialog()
      .getByText(/Would have refused none of 5 requests, and cost \$\d.* more\./)
      .waitFor();
    const link = await dialog().getByRole("link", { name: "Open as a page" }).getAttribute("href");
    await dialog().getByRole("button", { name: "Back to the form" }).click();
    await page.getByRole("button", { name: "Discard" }).click();
    expect((await ada.call("models.show", { params: { model: "fast" } })).price).toEqual({ input: 1000 });
    await navigateTo(page, link ?? "");
    await page.getByText(/Would have refused none of 5 requests/).waitFor();
    await page.getByRole("region", { name: "The change" }).getByText('"input": 2000').waitFor();
    await page.getByRole("link", { name: "Rehearsals" }).click();
    await page.getByRole("row", { name: /fast.*All workspaces.*Done/ }).waitFor();
    await page
      .getByRole("row", { name: /acme\/ci.*acme.*Done/ })
      .first()
      .waitFor();
  });

  test("an unsaved budget policy shows the requests that it would have refused, with a link", async () => {
    const policy = await ada.call("budgets.create", {
      params: { workspace: "acme" },
      body: { name: "fast-only", usd: 900, period: "month", match: { models: ["fast"], keys: [keyId] } },
    });
    await navigateTo(page, `/console/limits?workspace=acme&budget=${policy.id}`);
    const form = page.getByRole("dialog", { name: "Policy fast-only" });
    const button = form.getByRole("button", { name: "Rehearse" });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    await form.getByLabel("Budget", { exact: true }).fill("0");
    // An increase without an end and a reason is not sent.
    await form.getByLabel("Amount in addition").fill("3");
    expect(await button.isDisabled()).toBe(true);
    await form.getByLabel("Amount in addition").fill("");
    await rehearse(form);
    await dialog().getByText("Would have refused 5 of 5 requests of 1 API key, and saved").waitFor();
    const link = dialog().getByRole("link", { name: "budget fast-only", exact: true }).first();
    const href = (await link.getAttribute("href")) ?? "";
    expect(await violationsInBothThemes(page)).toEqual([]);
    await dialog().getByRole("button", { name: "Back to the form" }).click();
    const params = { workspace: "acme", budget: policy.id };
    expect((await ada.call("budgets.show", { params })).budget.usd).toBe(900);
    await navigateTo(page, href);
    await form.waitFor();
    // A new policy of the installation.
    await navigateTo(page, "/console/limits?workspace=-&budget=new");
    const created = page.getByRole("dialog", { name: "Create policy" });
    await created.getByRole("textbox", { name: "Name", exact: true }).fill("all");
    await created.getByLabel("Budget", { exact: true }).fill("0");
    await rehearse(created);
    await dialog().getByText("Would have refused 5 of 5 requests of 1 API key, and saved").waitFor();
    await dialog().getByRole("button", { name: "Back to the form" }).click();
  });

  test("a request that a budget policy refused leads to the form of the policy", async () => {
    const params = { workspace: "acme" };
    const { data: policies } = await ada.call("budgets.list", { params });
    const budget = policies.find(({ name }) => name === "fast-only")?.id ?? "";
    await ada.call("budgets.update", { params: { ...params, budget }, body: { usd: 0 } });
    await until(async () => (await opened.chat(keySecret)).status === 402);
    let refused = "";
    // The reason is stored separately from the request, possibly later.
    await until(async () => {
      const { data } = await ada.call("requests.list", { params, query: { key: keyId, outcome: "rejected" } });
      refused = data[0]?.request_id ?? "";
      if (refused === "") return false;
      const { explanation } = await ada.call("requests.show", { params: { ...params, request: refused } });
      return explanation !== null;
    });
    await navigateTo(page, `/console/requests/${refused}?workspace=acme`);
    await page.getByRole("link", { name: "Raise this limit" }).click();
    await page.getByRole("dialog", { name: "Policy fast-only" }).waitFor();
  });

  test("an unsaved guardrail shows the requests that were not captured, also on a page for other admins", async () => {
    await navigateTo(page, "/console/guardrails?workspace=acme&guardrail=new");
    const form = page.getByRole("dialog", { name: "Create guardrail" });
    await form.getByRole("radio", { name: "Blocked words" }).check();
    const button = form.getByRole("button", { name: "Rehearse" });
    expect(await button.isDisabled()).toBe(true);
    await form.getByRole("textbox", { name: "Words or phrases" }).fill("Heron");
    await rehearse(form);
    const section = dialog().getByRole("region", { name: "Guardrail acme/blocked-words" });
    await section
      .getByText(/Examined: 0 captured requests with answers. \d+ more requests were not examined./)
      .waitFor();
    await dialog().getByText("The request has no captured body, so guardrails could not check it.").waitFor();
    const link = (await dialog().getByRole("link", { name: "Open as a page" }).getAttribute("href")) ?? "";
    await dialog().getByRole("button", { name: "Back to the form" }).click();
    const body = { email: "boss@example.com", role: "admin" } as const;
    const invitation = await ada.call("invitations.create", { params: { workspace: "acme" }, body });
    const token = invitation.link.slice(invitation.link.indexOf("=") + 1);
    await ada.call("invitation.accept", { body: { token, name: "Boss", password } });
    const boss = await signInAs(opened.gateway.url, body.email);
    for (const locale of ["en", "zh-CN"]) {
      const phone = await boss.page(opened.browser, { locale, viewport: { width: 360, height: 780 } });
      await phone.goto(new URL(link, page.url()).href);
      await phone.getByRole("heading", { name: /acme\/blocked-words/ }).waitFor();
      expect(await phone.evaluate("document.documentElement.scrollWidth")).toBe(360);
      expect(await violationsInBothThemes(phone)).toEqual([]);
    }
  });

  test("every form of a limit, budget, price, route, grant and guardrail can be rehearsed", async () => {
    const { data: groups } = await ada.call("groups.list", { params: { workspace: "acme" } });
    const { data: members } = await ada.call("members.list", { params: { workspace: "acme" } });
    const forms = [
      `keys/${keyId}?workspace=acme&edit=1`,
      `workspaces/acme?tab=groups&group=${groups[0]?.id}`,
      `workspaces/acme?tab=members&limits=${members[0]?.id}`,
      "workspaces/acme?edit=1",
      "limits?workspace=acme&budget=new",
      "limits?workspace=-&budget=new",
      "guardrails?workspace=acme&guardrail=new",
      "guardrails?workspace=-&guardrail=new",
    ];
    for (const path of forms) {
      await navigateTo(page, `/console/${path}`);
      await page.getByRole("dialog").getByRole("button", { name: "Rehearse" }).waitFor();
    }
    await navigateTo(page, "/console/models/fast?tab=price");
    await page.getByLabel("Input", { exact: true }).first().fill("3000");
    await page.getByRole("button", { name: "Rehearse" }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await navigateTo(page, "/console/models/fast?tab=serving");
    await page.getByLabel("Owned by").fill("unknown person");
    await page.getByRole("button", { name: "Rehearse" }).waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "limited", limits: { rpm: 5 } } });
    await navigateTo(page, "/console/limits?workspace=acme");
    await page.getByRole("button", { name: /^Edit .*limited/ }).click();
    await page.getByRole("button", { name: "Rehearse" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await navigateTo(page, "/console/keys?workspace=acme");
    for (const action of ["Set limits", "Set budget"]) {
      await page.getByRole("checkbox", { name: "limited" }).check();
      await page.getByRole("button", { name: action }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Rehearse" }).waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("checkbox", { name: "limited" }).uncheck();
    }
  });

  test("nothing violates the content security policy", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});

function configFor(upstream: string): string {
  return JSON.stringify({
    providers: [{ id: "openai", kind: "openai", api_key: "sk-test", base_url: upstream, allow_private_network: true }],
  });
}
