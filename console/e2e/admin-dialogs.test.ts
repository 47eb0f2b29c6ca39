import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { accessibilityViolations } from "./accessibility.ts";
import { oneTimeCode } from "./one-time-code.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";

const bob = "bob@example.com";

describe.skipIf(noBrowser !== null)("dialogs for administrators", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;

  beforeAll(async () => {
    opened = await openConsole();
    ({ ada } = opened);
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
  });

  afterEach(() => opened?.browser.leave());
  afterAll(() => opened?.stop());

  test("resets a lost second factor from the user list; the menu item then disappears", async () => {
    const { link } = await ada.call("invitations.create", {
      params: { workspace: "acme" },
      body: { email: bob, role: "member" },
    });
    const token = link.slice(link.indexOf("=") + 1);
    await ada.call("invitation.accept", { body: { token, name: "Bob", password } });
    const page = await ada.page(opened.browser);
    await page.goto("/console/settings?tab=users");
    const menu = page.getByRole("button", { name: `Actions for ${bob}` });
    const item = page.getByRole("menuitem", { name: "Reset second factor" });
    await menu.click();
    await page.getByRole("menuitem", { name: "Make administrator" }).waitFor();
    expect(await item.count()).toBe(0);

    await withAuthenticatorApp(await signInAs(opened.gateway.url, bob));
    await page.reload();
    await menu.click();
    await item.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("signed out everywhere").waitFor();
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Reset second factor" }).click();
    await page.getByText(`${bob} can sign in without it now.`).waitFor();
    await dialog.waitFor({ state: "hidden" });
    expect((await ada.call("users.list", { query: { search: bob } })).data).toMatchObject([{ two_factor: false }]);
    await menu.click();
    await page.getByRole("menuitem", { name: "Make administrator" }).waitFor();
    expect(await item.count()).toBe(0);
    expect(opened.browser.faults).toEqual([]);
  });

  test("shows the signing secret of a workspace on request, and removes it from the page with its dialog", async () => {
    const { secret } = await ada.call("workspaces.webhookSecret", { params: { workspace: "acme" } });
    const page = await ada.page(opened.browser);
    await page.goto("/console/alerts?tab=channels&workspace=acme");
    await page.getByRole("button", { name: "Show signing secret" }).click();
    const dialog = page.getByRole("dialog", { name: "Signing secret of acme" });
    await dialog.getByText(secret).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await page.content()).not.toContain(secret);
    expect(opened.browser.faults).toEqual([]);
  });
});

async function withAuthenticatorApp(somebody: SignedInUser): Promise<void> {
  const post = (path: string, body: object) =>
    somebody.send(`/api/auth/two-factor/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const { totp_uri } = (await (await post("enable", { password })).json()) as { totp_uri: string };
  const key = new URL(totp_uri).searchParams.get("secret") ?? "";
  const answer = await post("verify-totp", { code: oneTimeCode(key) });
  if (!answer.ok) throw new Error(`The code was not taken: ${await answer.text()}`);
}
