import { source } from "axe-core";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Violations of the WCAG 2.2 A and AA rules that can be checked automatically. */
export async function accessibilityViolations(page: Page): Promise<readonly string[]> {
  return await runAxe(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]);
}

/** Checks every rule in the current color scheme, and the color rules in the other one. */
export async function violationsInBothThemes(page: Page): Promise<readonly string[]> {
  const [first, second] = (await page.evaluate<boolean>(isDark))
    ? (["dark", "light"] as const)
    : (["light", "dark"] as const);
  const found = await accessibilityViolations(page);
  // The page stays in this scheme, and the next page is checked in it first: each switch renders everything again.
  await page.emulateMedia({ colorScheme: second });
  await page.locator(`html[data-mantine-color-scheme=${second}]`).waitFor();
  const colors = await runAxe(page, ["color-contrast", "link-in-text-block"]);
  return [...found.map((line) => `${first}: ${line}`), ...colors.map((line) => `${second}: ${line}`)];
}

const isDark = "document.documentElement.dataset.mantineColorScheme === 'dark'";

/** Waits for transitions, because colors and positions are not final before they end. */
async function waitForAnimations(page: Page): Promise<void> {
  const moving = "document.getAnimations().some(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)";
  await until(async () => {
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    return !(await page.evaluate<boolean>(moving));
  });
}

async function runAxe(page: Page, runOnly: readonly string[]): Promise<readonly string[]> {
  await waitForAnimations(page);
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source);
  // By default, axe also describes every passed element. Selectors are a sixth of its work, and the markup shows the element as well.
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"], selectors: false });
  const result: AxeResult = await page.evaluate(`axe.run(${options})`);
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}
