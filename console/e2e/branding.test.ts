import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { accessibilityViolations } from "./accessibility.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import type { SignedInUser } from "./signed-in-user.ts";

/** Contains scripts, which must neither run nor be stored. */
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 40" width="80" height="40">
  <script>document.title = "program"</script><rect width="80" height="40" fill="#862e9c" onload="alert(1)"/></svg>`;

describe.skipIf(noBrowser !== null)("branding", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;

  beforeAll(async () => {
    opened = await openConsole();
    ({ ada, browser } = opened);
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
  });

  afterEach(() => browser?.leave());
  afterAll(() => opened?.stop());

  test("shows the name, logo and color of the installation in the header and on the sign-in page", async () => {
    const page = await ada.page(browser);
    await page.goto("/console/settings");
    await page.getByLabel("Product name").fill("Acme AI");
    await page.getByRole("textbox", { name: "Accent color" }).fill("#ffc9f0");
    await page.getByRole("textbox", { name: "Accent color" }).press("Escape");
    const image = { name: "logo.svg", mimeType: "image/svg+xml", buffer: Buffer.from(svg) };
    await page.locator('input[type="file"]').first().setInputFiles(image);
    await page.getByAltText("Current logo").waitFor();
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("link", { name: "Acme AI" }).first().waitFor();
    const { brand } = await ada.call("session.show", {});
    expect(brand).toMatchObject({ name: "Acme AI", accent: "#ffc9f0" });
    expect(brand.logo).toStartWith("data:image/png;base64,");
    expect(Buffer.from(brand.logo, "base64").includes("script")).toBe(false);
    expect(await page.title()).toBe("Settings · Acme AI");
    expect(browser.faults).toEqual([]);
  });

  test.each(["light", "dark"] as const)("keeps texts readable in a pale accent color, %s", async (colorScheme) => {
    const console = { name: "Acme AI", accent: "#ffc9f0", logo: "" };
    await ada.call("settings.update", { body: { console } });
    const visitor = await browser.page({ colorScheme });
    await visitor.goto("/console/sign-in");
    await visitor.getByText("Acme AI").waitFor();
    expect(await visitor.title()).toBe("Sign in · Acme AI");
    expect(await accessibilityViolations(visitor)).toEqual([]);
    const page = await ada.page(browser, { colorScheme });
    await page.goto("/console/keys?create=1&workspace=acme");
    await page.getByRole("dialog").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    const filled = await page.evaluate<string>(
      'getComputedStyle(document.documentElement).getPropertyValue("--mantine-primary-color-filled")',
    );
    expect(filled).not.toBe("#ffc9f0");
    expect(filled).toMatch(/^#[0-9a-f]{6}$/);
    expect(browser.faults).toEqual([]);
  });
});
