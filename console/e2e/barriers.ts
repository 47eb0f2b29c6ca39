import { source } from "axe-core";
import type { Page } from "playwright-core";

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

/** Of the same, what depends on the colours alone: for the other scheme of a page that was looked at already. */
export async function barriersOfColour(page: Page): Promise<readonly string[]> {
  return await broken(page, ["color-contrast", "link-in-text-block"]);
}

async function broken(page: Page, runOnly: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source);
  // What is in order would else be described as well, element by element.
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  const result: AxeResult = await page.evaluate(`axe.run(${options})`);
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`),
  );
}
