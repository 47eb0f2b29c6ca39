// `npm run screenshots`: every page in six forms to artefacts/. With names behind it: only those pages.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { allPages, standing } from "./furnished/all-pages.ts";
import { furnishGateway } from "./furnished/furnished-gateway.ts";
import { addHistory } from "./furnished/history.ts";
import { openBrowser } from "./opened-browser.ts";

export const forms = [
  { form: "light", options: { colorScheme: "light", viewport: { width: 1280, height: 800 } } },
  { form: "dark", options: { colorScheme: "dark", viewport: { width: 1280, height: 800 } } },
  { form: "1024", options: { colorScheme: "light", viewport: { width: 1024, height: 768 } } },
  { form: "768", options: { colorScheme: "dark", viewport: { width: 768, height: 1024 } } },
  { form: "chinese", options: { colorScheme: "light", viewport: { width: 1440, height: 900 }, locale: "zh-CN" } },
  { form: "phone", options: { colorScheme: "light", viewport: { width: 360, height: 740 }, hasTouch: true } },
] as const;

const artefacts = join(import.meta.dir, "artefacts");
const names = process.argv.slice(2);

await mkdir(artefacts, { recursive: true });
const furnished = await furnishGateway();
addHistory(furnished.gateway.dataDir);
const browser = await openBrowser(furnished.gateway.url);
try {
  for (const { form, options } of forms.filter(
    ({ form }) => process.env["FORMS"] === undefined || process.env["FORMS"].includes(form),
  )) {
    const page = await furnished.ada.page(browser, options);
    for (const { name, path } of allPages) {
      if (names.length > 0 && !names.includes(name)) continue;
      await take(page, path(furnished), `${name}-${form}`);
    }
  }
} finally {
  await browser.close();
  await furnished.stop();
}
for (const fault of browser.faults) console.error(fault);

async function take(page: Page, path: string, name: string): Promise<void> {
  try {
    await page.goto(path);
    await standing(page);
  } catch (thrown) {
    console.error(`${name}: ${String(thrown)}`);
  }
  await page.evaluate("document.activeElement?.blur()");
  await page.screenshot({ path: join(artefacts, `${name}.png`), fullPage: true, animations: "disabled" });
}
