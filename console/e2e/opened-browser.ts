import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { bareEnvironment } from "../../test/bare-environment.ts";
import { patienceMs } from "../../test/until.ts";

// Prefers the headless shell, which needs a fifth less CPU time than a full browser.
const program = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
  .map((name) => Bun.which(name))
  .find((path) => path !== null);
const built = existsSync(join(import.meta.dir, "..", "dist", "index.html"));

/** Why browser tests cannot run here. null: they can. */
export const noBrowser = program === undefined ? "no Chromium is installed" : built ? null : "the console is not built";
if (noBrowser !== null) console.warn(`The browser tests are skipped: ${noBrowser}.`);

/** Also runs as root in a container, and makes no background requests. */
const quietBrowser = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Test machines have no GPU, and emulating one costs more than rendering without it.
  "--disable-gpu",
  // The slower of the two optimizing compilers only pays off for pages that run for minutes. The faster one saves a fifth of the CPU
  // time of axe.
  "--js-flags=--no-opt",
  // Pages of one context share a process, which has already parsed the console's scripts.
  "--process-per-site",
  // A fake microphone that plays a tone, with permission granted: the headless shell cannot show a prompt.
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
];

/** The console then loads no pages in advance, which takes a fifth of the CPU time. A test of that sets it to false. */
const saveData = 'Object.defineProperty(navigator.connection, "saveData", { value: true, configurable: true })';

export interface OpenedBrowser {
  /** Opens a page in a separate context without cookies. Restarts the browser if it was closed or has crashed. */
  page(options?: BrowserContextOptions): Promise<Page>;
  /**
   * Closes a page (without one: every page) and clears its cookies and storage. Loaded scripts stay cached, so that the next page with
   * the same options starts faster.
   */
  leave(page?: Page): Promise<void>;
  /** Content security policy violations, exceptions, logged errors and requests to other origins. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** A browser that watches every page it opens. `origin`: the gateway's origin, the only one that pages may load from. */
export async function openBrowser(origin: string): Promise<OpenedBrowser> {
  const faults: string[] = [];
  let running = await startBrowser();
  const contextFor = async (options: ContextOptions): Promise<BrowserContext> => {
    if (!running.browser.isConnected()) {
      await running.stop();
      running = await startBrowser();
    }
    const wanted = JSON.stringify(options);
    const free = running.contexts.find(({ inUse: taken, options: has }) => !taken && has === wanted);
    if (free !== undefined) {
      free.inUse = true;
      return free.context;
    }
    // Reduced motion: a dialog that is fading out cannot be clicked.
    const context = await running.browser.newContext({ baseURL: origin, reducedMotion: "reduce", ...options });
    await context.addInitScript(saveData);
    // This page stays open, and with it the cached scripts of the context.
    const anchor = await context.newPage();
    await anchor.goto("/healthz");
    running.contexts.push({ context, anchor, options: wanted, inUse: true });
    return context;
  };
  return {
    faults,
    page: async ({ viewport = { width: 1_280, height: 720 }, colorScheme = "light", ...options } = {}) => {
      const page = await (await contextFor(options)).newPage();
      watch(page, origin, faults);
      // Set for the page, so that a context serves pages of every size and color scheme.
      if (viewport !== null) await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      return page;
    },
    leave: async (page) => {
      if (!running.browser.isConnected()) return;
      for (const one of running.contexts) {
        if (!one.inUse || (page !== undefined && one.context !== page.context())) continue;
        await forget(one, origin);
        one.inUse = false;
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
  // For files outside the profile. The driver removes the profile itself.
  const home = await mkdtemp(join(tmpdir(), "sluice-browser-"));
  // Otherwise the sound library leaves a folder in the temporary directory.
  const env = { ...bareEnvironment(), HOME: home, PULSE_RUNTIME_PATH: join(home, "sound") };
  const browser = await chromium.launch({ executablePath: program ?? "", args: quietBrowser, env });
  const stop = async () => {
    await browser.close();
    await rm(home, { recursive: true, force: true });
  };
  return { browser, contexts: [], stop };
}

type ContextOptions = Omit<BrowserContextOptions, "viewport" | "colorScheme">;

interface OpenedContext {
  readonly context: BrowserContext;
  readonly anchor: Page;
  readonly options: string;
  inUse: boolean;
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
    // The browser itself logs every response that is not 2xx.
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
