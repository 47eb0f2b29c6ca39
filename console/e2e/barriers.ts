import { source } from "axe-core";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
  }[];
}

/**
 * What in a page keeps somebody out, by the rules of WCAG 2.2 A and AA that a machine can check. The page's context needs
 * `bypassCSP`, since the checker is a script that the page itself would refuse.
 */
export async function barriers(page: Page): Promise<readonly string[]> {
  return await broken(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]);
}

/** Light and dark: all of it in the scheme that the page has, and in the other one what depends on the colors alone. */
export async function barriersInBoth(page: Page): Promise<readonly string[]> {
  const [first, second] = (await page.evaluate<boolean>(isDark))
    ? (["dark", "light"] as const)
    : (["light", "dark"] as const);
  const found = await barriers(page);
  // The page stays in this scheme, in which the next one is checked first: each switch draws everything again.
  await page.emulateMedia({ colorScheme: second });
  await page.locator(`html[data-mantine-color-scheme=${second}]`).waitFor();
  const colors = await broken(page, ["color-contrast", "link-in-text-block"]);
  return [...found.map((line) => `${first}: ${line}`), ...colors.map((line) => `${second}: ${line}`)];
}

const isDark = "document.documentElement.dataset.mantineColorScheme === 'dark'";

/** Colours change slowly, and dialogs come out of nothing; what is on its way is neither the one nor the other. */
async function still(page: Page): Promise<void> {
  const moving = "document.getAnimations().some(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)";
  await until(async () => {
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    return !(await page.evaluate<boolean>(moving));
  });
}

async function broken(page: Page, runOnly: readonly string[]): Promise<readonly string[]> {
  await still(page);
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source);
  // What is in order would else be described as well, element by element.
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  const result: AxeResult = await page.evaluate(`axe.run(${options})`);
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`),
  );
}
