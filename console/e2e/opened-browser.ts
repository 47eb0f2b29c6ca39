import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { bareEnvironment } from "../../test/bare-environment.ts";
import { patienceMs } from "../../test/until.ts";

// The engine alone, where the machine has it, spends a fifth less processor time than a browser whose window nobody sees.
const program = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
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
  // There is none on the machines of the tests, and one that is played by software costs more than drawing without.
  "--disable-gpu",
  // Optimized code pays for pages that run for minutes; of these it is a tenth of the processor time.
  "--js-flags=--no-opt,--no-maglev",
  // Pages of one context live in one process, which has read the console's programs already.
  "--process-per-site",
  // A microphone that gives a tone, and is given to whoever asks for it: the engine alone has nobody whom it could ask.
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
];

export interface OpenedBrowser {
  /** A page in a context of its own: no cookies of another. Starts the browser again if it was closed or has crashed. */
  page(options?: BrowserContextOptions): Promise<Page>;
  /**
   * Closes a page (without one: every page), and forgets who was signed in there: cookies and whatever pages have stored.
   * The programs that were loaded stay, as in a browser that people share: the next page of the same options does not
   * read them anew.
   */
  leave(page?: Page): Promise<void>;
  /** What no page may do: break the content policy, throw, write an error, load anything from elsewhere. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** A browser that watches every page it opens. `origin`: the gateway's, the only one that may be asked for anything. */
export async function openBrowser(origin: string): Promise<OpenedBrowser> {
  const faults: string[] = [];
  let running = await startBrowser();
  const contextFor = async (options: BrowserContextOptions): Promise<BrowserContext> => {
    if (!running.browser.isConnected()) {
      await running.stop();
      running = await startBrowser();
    }
    const wanted = JSON.stringify(options);
    const free = running.contexts.find(({ taken, options: has }) => !taken && has === wanted);
    if (free !== undefined) {
      free.taken = true;
      return free.context;
    }
    // Without movement a dialog is there or it is not: nothing is clicked while it fades away.
    const context = await running.browser.newContext({ baseURL: origin, reducedMotion: "reduce", ...options });
    // It stays when others are closed, and with it what they have loaded.
    const anchor = await context.newPage();
    await anchor.goto("/healthz");
    running.contexts.push({ context, anchor, options: wanted, taken: true });
    return context;
  };
  return {
    faults,
    page: async (options = {}) => {
      const page = await (await contextFor(options)).newPage();
      watch(page, origin, faults);
      return page;
    },
    leave: async (page) => {
      if (!running.browser.isConnected()) return;
      for (const one of running.contexts) {
        if (!one.taken || (page !== undefined && one.context !== page.context())) continue;
        await forget(one, origin);
        one.taken = false;
      }
    },
    close: () => running.stop(),
  };
}

interface BrowserProcess {
  readonly browser: Browser;
  readonly contexts: OpenedContext[];
  stop(): Promise<void>;
}

async function startBrowser(): Promise<BrowserProcess> {
  // Whatever it keeps of itself beside the profile, which is the driver's to remove.
  const home = await mkdtemp(join(tmpdir(), "sluice-browser-"));
  // The library for the machine's sound would leave a folder in the temporary one.
  const env = { ...bareEnvironment(), HOME: home, PULSE_RUNTIME_PATH: join(home, "sound") };
  const browser = await chromium.launch({ executablePath: program ?? "", args: quietBrowser, env });
  const stop = async () => {
    await browser.close();
    await rm(home, { recursive: true, force: true });
  };
  return { browser, contexts: [], stop };
}

interface OpenedContext {
  readonly context: BrowserContext;
  readonly anchor: Page;
  readonly options: string;
  taken: boolean;
}

async function forget({ context, anchor }: OpenedContext, origin: string): Promise<void> {
  for (const page of context.pages()) if (page !== anchor) await page.close();
  const devtools = await context.newCDPSession(anchor);
  const storageTypes = "cookies,local_storage,indexeddb,cache_storage,service_workers";
  await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes });
  await devtools.detach();
  await context.clearCookies();
}

function watch(page: Page, origin: string, faults: string[]): void {
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
}
