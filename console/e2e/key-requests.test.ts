import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { accessibilityViolations } from "./accessibility.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";

const viewer = "vera@example.com";
const acme = { workspace: "acme" };

describe.skipIf(noBrowser !== null)("key requests", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;
  let vera: SignedInUser;

  beforeAll(async () => {
    opened = await openConsole();
    ({ ada, browser } = opened);
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
    const { link } = await ada.call("invitations.create", { params: acme, body: { email: viewer, role: "viewer" } });
    const token = link.slice(link.indexOf("=") + 1);
    await ada.call("invitation.accept", { body: { token, name: "Vera", password } });
    vera = await signInAs(opened.gateway.url, viewer);
  });

  afterEach(() => browser?.leave());
  afterAll(() => opened?.stop());

  test("a viewer requests a key, an admin approves it with changes, and only the viewer gets its secret", async () => {
    const page = await vera.page(browser);
    await page.goto("/console/keys?workspace=acme");
    await page.getByRole("button", { name: "Request key" }).first().click();
    const form = page.getByRole("dialog", { name: "Request key" });
    await form.getByLabel("Purpose").fill("Nightly evaluations");
    await form.getByLabel("Name").fill("evals");
    expect(await accessibilityViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Send request" }).click();
    await form.waitFor({ state: "hidden" });
    const requested = (await vera.call("keyRequests.list", { params: acme })).data;
    expect(requested).toMatchObject([{ state: "pending", purpose: "Nightly evaluations" }]);

    const adminPage = await ada.page(browser);
    await adminPage.goto("/console/?workspace=acme");
    await adminPage.getByText("1 key request waits for a decision in acme.").waitFor();
    await adminPage.getByRole("link", { name: "Review requests" }).click();
    await adminPage.getByRole("link", { name: "evals" }).click();
    const decision = adminPage.getByRole("dialog", { name: "Request for evals" });
    await decision.getByText("Nightly evaluations").waitFor();
    await decision.getByRole("textbox", { name: "Name" }).fill("nightly");
    expect(await accessibilityViolations(adminPage)).toEqual([]);
    await decision.getByRole("button", { name: "Approve with changes" }).click();
    await decision.waitFor({ state: "hidden" });

    await page.goto("/console/?workspace=acme");
    await page.getByRole("link", { name: "Collect key" }).click();
    await page
      .getByRole("dialog", { name: "Request for nightly" })
      .getByRole("button", { name: "Collect key" })
      .click();
    const created = page.getByRole("dialog", { name: "Key nightly created" });
    const secret = (await created.getByRole("region", { name: "secret" }).innerText()).trim();
    expect(secret).toMatch(/^sk-sluice-\w+$/);
    await created.getByLabel("I have saved it").check();
    await created.getByRole("button", { name: "Done" }).click();
    await created.waitFor({ state: "hidden" });
    expect(await page.content()).not.toContain(secret);
    const { data } = await ada.call("keys.list", { params: acme });
    expect(data).toMatchObject([{ name: "nightly", owner: { email: viewer } }]);
    expect(browser.faults).toEqual([]);
  });

  test("an admin declines with a reason by keyboard, and the requester reads it", async () => {
    const body = { name: "big", purpose: "Everything", budget: { usd: 9_000, period: "day" } } as const;
    const { id } = await vera.call("keyRequests.create", { params: acme, body });
    const page = await ada.page(browser);
    await page.goto(`/console/keys?workspace=acme&view=requests&request=${id}`);
    const decision = page.getByRole("dialog", { name: "Request for big" });
    await decision.getByRole("radio", { name: "Approve" }).focus();
    await page.keyboard.press("ArrowRight");
    await decision.getByLabel("Reason").fill("Use the shared key.");
    await decision.getByRole("button", { name: "Decline" }).press("Enter");
    await decision.waitFor({ state: "hidden" });
    const reader = await vera.page(browser);
    await reader.goto(`/console/keys?workspace=acme&view=requests&request=${id}`);
    await reader.getByRole("dialog").getByText("Use the shared key.").waitFor();
    expect(browser.faults).toEqual([]);
  });
});
