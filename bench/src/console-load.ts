import { parseArgs } from "node:util";
import { openBrowser } from "../../console/e2e/opened-browser.ts";
import { password, signInAs } from "../../console/e2e/signed-in-user.ts";
import { startGateway } from "../../console/e2e/started-gateway.ts";
import { keepResult } from "./keep-result.ts";
import { describeMachine } from "./machine.ts";
import { quantiles } from "./statistics.ts";

/**
 * Time from navigation until the console's home page is visible, in browsers with an empty cache:
 *
 *     bun bench/src/console-load.ts [--loads 20]
 *
 * The target is a median of one second on an idle machine. Needs Chromium and a built console.
 */
const headingMsMax = 1_000;
const loadsMax = 1_000;
const email = "ada@example.com";

async function main(): Promise<boolean> {
  const { values } = parseArgs({ options: { loads: { type: "string", default: "20" } } });
  const loads = Math.min(loadsMax, Math.max(3, Number(values.loads)));
  const startedAt = new Date();
  const gateway = await startGateway({ administrator: { email, password } });
  const browser = await openBrowser(gateway.url);
  try {
    const ada = await signInAs(gateway.url, email);
    const took: number[] = [];
    // The first load warms up the gateway.
    for (let load = 0; load <= loads; load++) {
      const page = await ada.page(browser);
      const beganAt = performance.now();
      await page.goto("/console/", { waitUntil: "commit" });
      await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
      if (load > 0) took.push(performance.now() - beganAt);
      await page.context().close();
    }
    const headingMs = quantiles(took);
    console.log(
      `The home page was visible after ${Math.round(headingMs.p50)} ms (p99 ${Math.round(headingMs.p99)} ms).`,
    );
    await keepResult("console-load", startedAt, { machine: describeMachine(), loads, headingMs });
    return headingMs.p50 < headingMsMax;
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

if (import.meta.main) process.exit((await main()) ? 0 : 1);
