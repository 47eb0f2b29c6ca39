import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { bareEnvironment } from "../../test/bare-environment.ts";
import { patienceMs } from "../../test/until.ts";

const program = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => Bun.which(name))
  .find((path) => path !== null);
const built = existsSync(join(import.meta.dir, "..", "dist", "index.html"));

/** Why there can be no tests in a browser here; null when there can. */
export const noBrowser = program === undefined ? "no Chromium is installed" : built ? null : "the console is not built";
if (noBrowser !== null) console.warn(`The browser tests are skipped: ${noBrowser}.`);

/** Runs as root in a container too, and looks nothing up by itself. */
const quietBrowser = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export interface OpenedBrowser {
  /** A page in a context of its own: no cookies of another. */
  page(options?: BrowserContextOptions): Promise<Page>;
  /** What no page may do: break the content policy, throw, write an error, load anything from elsewhere. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** A browser that watches every page it opens. `origin`: the gateway's, the only one that may be asked for anything. */
export async function openBrowser(origin: string): Promise<OpenedBrowser> {
  // Whatever it keeps of itself beside the profile, which is the driver's to remove.
  const home = await mkdtemp(join(tmpdir(), "sluice-browser-"));
  const env = { ...bareEnvironment(), HOME: home };
  const browser: Browser = await chromium.launch({ executablePath: program ?? "", args: quietBrowser, env });
  const faults: string[] = [];
  return {
    faults,
    page: async (options = {}) => {
      const page = await (await browser.newContext({ baseURL: origin, ...options })).newPage();
      page.setDefaultTimeout(patienceMs);
      page.on("console", (message) => {
        // An answer that is not 2xx is written to the browser's console by the browser itself.
        if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
          faults.push(message.text());
        }
      });
      page.on("pageerror", (error) => faults.push(String(error)));
      page.on("request", (request) => {
        const url = request.url();
        if (url.endsWith("/api/csp-report")) faults.push(`${url} ${request.postData() ?? ""}`);
        if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) faults.push(url);
      });
      return page;
    },
    close: async () => {
      await browser.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
