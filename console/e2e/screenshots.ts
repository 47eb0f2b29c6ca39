// `npm run screenshots`: saves every page in six variants to artifacts/. Pass page names to limit it.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openBrowser } from "./opened-browser.ts";
import { allPages, waitUntilLoaded } from "./populated/all-pages.ts";
import { addHistory } from "./populated/history.ts";
import { startPopulatedGateway } from "./populated/populated-gateway.ts";

export const forms = [
  { form: "light", options: { colorScheme: "light", viewport: { width: 1280, height: 800 } } },
  { form: "dark", options: { colorScheme: "dark", viewport: { width: 1280, height: 800 } } },
  { form: "1024", options: { colorScheme: "light", viewport: { width: 1024, height: 768 } } },
  { form: "768", options: { colorScheme: "dark", viewport: { width: 768, height: 1024 } } },
  { form: "chinese", options: { colorScheme: "light", viewport: { width: 1440, height: 900 }, locale: "zh-CN" } },
  { form: "phone", options: { colorScheme: "light", viewport: { width: 360, height: 740 }, hasTouch: true } },
] as const;

const artifacts = join(import.meta.dir, "artifacts");
const names = process.argv.slice(2);

await mkdir(artifacts, { recursive: true });
const populated = await startPopulatedGateway();
addHistory(populated.gateway.dataDir);
const browser = await openBrowser(populated.gateway.url);
try {
  for (const { form, options } of forms.filter(
    ({ form }) => process.env["FORMS"] === undefined || process.env["FORMS"].includes(form),
  )) {
    const page = await populated.ada.page(browser, options);
    for (const { name, path } of allPages) {
      if (names.length > 0 && !names.includes(name)) continue;
      await take(page, path(populated), `${name}-${form}`);
    }
  }
} finally {
  await browser.close();
  await populated.stop();
}
for (const fault of browser.faults) console.error(fault);

async function take(page: Page, path: string, name: string): Promise<void> {
  try {
    await page.goto(path);
    await waitUntilLoaded(page);
  } catch (thrown) {
    console.error(`${name}: ${String(thrown)}`);
  }
  await page.evaluate("document.activeElement?.blur()");
  await page.screenshot({ path: join(artifacts, `${name}.png`), fullPage: true, animations: "disabled" });
}
