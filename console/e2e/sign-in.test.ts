import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { violationsInBothThemes } from "./accessibility.ts";
import { oneTimeCode } from "./one-time-code.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { navigateTo } from "./populated/all-pages.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

const email = "ada@example.com";
const password = "correct horse battery";

/** The tests depend on their order: setup happens once per gateway, and later tests need it. */
describe.skipIf(noBrowser !== null)("signing in to the console", () => {
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  /** Key of the authenticator app that one of the tests sets up. */
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

  test("without the setup link, the page explains where to find it and shows nothing else", async () => {
    const page = await browser.page();
    await page.goto("/console/keys");
    await page.getByRole("heading", { name: "There is no administrator yet" }).waitFor();
    expect(await page.getByRole("navigation", { name: "Pages" }).count()).toBe(0);
  });

  test("the setup link creates the first administrator and signs them in; the token is removed from the address bar", async () => {
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

  test("a wrong password shows an error; the right one opens the requested page", async () => {
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

  test("an authenticator app is set up with its key and a first code, and shows backup codes", async () => {
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
    // Backup codes are shown once, so Escape and outside clicks do not close this dialog.
    await page.keyboard.press("Escape");
    expect(await dialog.getByRole("button", { name: "Done" }).isDisabled()).toBe(true);
    await dialog.getByLabel("I have saved them").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "New backup codes" }).waitFor();
  });

  test("sign-in then requires a code; a backup code works once instead", async () => {
    const page = await browser.page();
    await page.goto("/console/profile");
    await givePassword(page);
    await page.getByLabel("Code", { exact: true }).fill("000000");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("This code is wrong, or was used before.").waitFor();
    // The code that confirmed the app cannot be reused; the next one is already valid.
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

  test("a passkey can be added, renamed and used to sign in", async () => {
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
    await navigateTo(page, "/console/profile");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No passkeys yet").waitFor();
  });

  test("at 360 pixels, nothing overflows horizontally in light or dark mode", async () => {
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

  test("sign-in and profile pass the automated WCAG 2.2 AA checks in light and dark mode", async () => {
    const page = await browser.page();
    await page.goto("/console/profile");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await givePassword(page);
    await page.getByRole("button", { name: "Use a backup code" }).click();
    await page.getByLabel("Backup code").fill(backupCodes[2] ?? "");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("row", { name: /This session/ }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});
