import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { barriersInBoth } from "./barriers.ts";
import { followTo } from "./furnished/all-pages.ts";
import { oneTimeCode } from "./one-time-code.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

const email = "ada@example.com";
const password = "correct horse battery";

/** In order: set-up happens once in the life of a gateway, and what follows builds on it. */
describe.skipIf(noBrowser !== null)("signing in to the console", () => {
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  /** Of the authenticator app that one of the tests sets up. */
  let key = "";
  let backupCodes: readonly string[] = [];

  beforeAll(async () => {
    gateway = await startGateway();
    browser = await openBrowser(gateway.url);
  });

  afterEach(() => browser?.leave());
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  async function givePassword(page: Page, given = password): Promise<void> {
    await page.getByRole("textbox", { name: "Email address" }).fill(email);
    await page.getByRole("textbox", { name: "Password" }).fill(given);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }

  async function signOut(page: Page): Promise<void> {
    await page.getByRole("button", { name: /Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  }

  test("without the set-up link the page says where to find it, and shows no page of the console", async () => {
    const page = await browser.page();
    await page.goto("/console/keys");
    await page.getByRole("heading", { name: "There is no administrator yet" }).waitFor();
    expect(await page.getByRole("navigation", { name: "Pages" }).count()).toBe(0);
  });

  test("the set-up link makes the first administrator and signs them in; its token leaves the address bar at once", async () => {
    const page = await browser.page();
    await page.goto(gateway.consoleLink);
    await page.getByLabel("Email address").fill(email);
    expect(page.url()).not.toContain("setup=");
    await page.getByLabel("Password", { exact: true }).fill("too short");
    await page.getByLabel("Repeat password").fill("too short");
    await page.getByRole("button", { name: "Create administrator" }).click();
    await page.getByText("3 more characters are needed.").waitFor();
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByLabel("Repeat password").fill(password);
    await page.getByRole("button", { name: "Create administrator" }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.goto("about:blank");
    await page.goto(gateway.consoleLink);
    await page.getByRole("heading", { name: "Setup is already complete" }).waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
  });

  test("a wrong password is told apart from nothing, and a right one leads back to the page one wanted", async () => {
    const page = await browser.page();
    await page.goto("/console/profile");
    await givePassword(page, "correct horse batter");
    await page.getByRole("alert").getByText("sign_in_refused").waitFor();
    await givePassword(page);
    await page.getByRole("heading", { name: "Profile and sign-in" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/profile");
    await page.getByRole("row", { name: /This session/ }).waitFor();
    await signOut(page);
    expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage, document.cookie]))).not.toContain(
      "ada",
    );
    await page.goto("/console/profile");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  test("an authenticator app is set up by its key and a first code, and gives backup codes", async () => {
    const page = await browser.page();
    await page.goto("/console/profile");
    await givePassword(page);
    await page.getByRole("button", { name: "Set up" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Password" }).fill("wrong password here");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("The password is wrong.", { exact: true }).waitFor();
    await dialog.getByRole("textbox", { name: "Password" }).fill(password);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByRole("img", { name: /QR code/ }).waitFor();
    key = (await dialog.locator("code").first().textContent()) ?? "";
    await dialog.getByLabel("Code shown by the app").fill(oneTimeCode(key));
    await dialog.getByRole("button", { name: "Enable" }).click();
    const codes = await dialog.locator("pre").textContent();
    backupCodes = (codes ?? "").split("\n");
    expect(backupCodes.length).toBe(10);
    // They are shown once: what closes other dialogs takes them from nobody.
    await page.keyboard.press("Escape");
    expect(await dialog.getByRole("button", { name: "Done" }).isDisabled()).toBe(true);
    await dialog.getByLabel("I have saved them").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "New backup codes" }).waitFor();
  });

  test("from then on a code is asked for; a backup code works once in its place", async () => {
    const page = await browser.page();
    await page.goto("/console/profile");
    await givePassword(page);
    await page.getByLabel("Code", { exact: true }).fill("000000");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("This code is wrong, or was used before.").waitFor();
    // The one that proved the app opens nothing any more; the next one is good already.
    await page.getByLabel("Code", { exact: true }).fill(oneTimeCode(key, Date.now() + 30_000));
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Profile and sign-in" }).waitFor();
    await signOut(page);
    for (const [backup, works] of [
      [backupCodes[0], true],
      [backupCodes[0], false],
    ] as const) {
      await givePassword(page);
      await page.getByRole("button", { name: "Use a backup code" }).click();
      await page.getByLabel("Backup code").fill(backup ?? "");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      if (!works) await page.getByText("The code is wrong or has expired.").waitFor();
      else {
        await page.getByRole("navigation", { name: "Pages" }).waitFor();
        await signOut(page);
      }
    }
  });

  test("a passkey is added, named, and signs in by itself", async () => {
    const page = await browser.page();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto("/console/profile");
    await givePassword(page);
    await page.getByRole("button", { name: "Use a backup code" }).click();
    await page.getByLabel("Backup code").fill(backupCodes[1] ?? "");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Add passkey" }).click();
    await page.getByRole("button", { name: "Rename Linux" }).click();
    await page.getByLabel("Passkey name").fill("Test device");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Rename Test device" }).waitFor();
    await signOut(page);
    await page.getByRole("button", { name: "Continue with a passkey" }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await followTo(page, "/console/profile");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No passkeys yet").waitFor();
  });

  test("at 360 pixels, light or dark, nothing sticks out sideways", async () => {
    const page = await browser.page();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto("/console/");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await page.locator("html").getAttribute("data-mantine-color-scheme")).toBe("dark");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("html[data-mantine-color-scheme=light]").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  test("sign-in and profile meet WCAG 2.2 AA as far as a machine can tell, light and dark", async () => {
    const page = await browser.page({ bypassCSP: true });
    await page.goto("/console/profile");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await barriersInBoth(page)).toEqual([]);
    await givePassword(page);
    await page.getByRole("button", { name: "Use a backup code" }).click();
    await page.getByLabel("Backup code").fill(backupCodes[2] ?? "");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("row", { name: /This session/ }).waitFor();
    expect(await barriersInBoth(page)).toEqual([]);
  });

  test("no page breaks the content policy, throws, or loads anything from elsewhere", () => {
    expect(browser.faults).toEqual([]);
  });
});
