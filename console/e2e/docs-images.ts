// `npm run docs-images -w console`: screenshots for the documentation, from the same populated gateway as the tests.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openBrowser } from "./opened-browser.ts";
import { waitUntilLoaded } from "./populated/all-pages.ts";
import { addHistory } from "./populated/history.ts";
import { type PopulatedGateway, startPopulatedGateway } from "./populated/populated-gateway.ts";

const images = join(import.meta.dir, "..", "..", "docs", "images");
const bytesMax = 200 * 1_024;

interface Picture {
  readonly name: string;
  readonly path: (populated: PopulatedGateway) => string;
  readonly colorScheme?: "dark";
  readonly locale?: "zh-CN";
  readonly before?: (page: Page) => Promise<void>;
}

const pictures: readonly Picture[] = [
  { name: "console-home", path: () => "/console/" },
  { name: "console-request", path: ({ requestId }) => `/console/requests/${requestId}?workspace=acme` },
  { name: "console-key", path: () => "/console/keys?workspace=acme", before: makeKey },
  { name: "console-access", path: () => "/console/workspaces/acme?tab=access" },
  { name: "console-playground", path: () => "/console/playground?workspace=acme", before: ask },
  { name: "console-dark", path: () => "/console/models/gpt-5", colorScheme: "dark" },
  { name: "console-chinese", path: () => "/console/", locale: "zh-CN" },
];

await mkdir(images, { recursive: true });
const populated = await startPopulatedGateway();
addHistory(populated.gateway.dataDir);
const browser = await openBrowser(populated.gateway.url);
try {
  for (const { name, path, colorScheme = "light", locale = "en-US", before } of pictures) {
    const page = await populated.ada.page(browser, { colorScheme, locale, viewport: { width: 1_280, height: 800 } });
    await page.goto(path(populated));
    await waitUntilLoaded(page);
    await before?.(page);
    const file = join(images, `${name}.png`);
    const { byteLength } = await page.screenshot({ path: file, animations: "disabled" });
    console.log(`${file} ${byteLength} bytes`);
    if (byteLength > bytesMax) throw new Error(`${file} is larger than ${bytesMax} bytes`);
    await browser.leave(page);
  }
} finally {
  await browser.close();
  await populated.stop();
}

async function makeKey(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Create key" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name").first().fill("release notes");
  await form.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("region", { name: "secret" }).waitFor();
}

async function ask(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill("Write a haiku about a lock on a river.");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Copy response" }).waitFor();
  // The cost appears in the ledger a moment later.
  await page
    .getByText(/^\$0\.\d/)
    .first()
    .waitFor();
}
