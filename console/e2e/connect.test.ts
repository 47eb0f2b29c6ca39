import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bareEnvironment } from "../../test/bare-environment.ts";
import { toolTexts } from "../src/features/connect/tool-texts.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { waitUntilLoaded } from "./populated/all-pages.ts";

describe.skipIf(noBrowser !== null)("the connect page", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;

  beforeAll(async () => {
    opened = await openConsole({ config: simulatedModels({ "a-model": { input: 1 }, "gpt-5": { input: 1 } }) });
    ({ browser } = opened);
  });

  afterAll(() => opened?.stop());

  test("every tool has its setup, also in Chinese on a phone, without scrolling sideways", async () => {
    const page = await opened.page({
      viewport: { width: 360, height: 740 },
      locale: "zh-CN",
      hasTouch: true,
    });
    for (const tool of ["claude-code", "cursor", "cline", "gemini-cli", "opencode", "open-webui", "go", "ci"]) {
      await page.goto(`/console/connect?tool=${tool}`);
      await waitUntilLoaded(page);
      await page.locator(".code-block").first().waitFor();
      expect(await page.evaluate<number>("document.documentElement.scrollWidth"), tool).toBe(360);
    }
    await browser.leave(page);
  });

  test.each([
    ["curl", "sh", "-c"],
    ["javascript", process.execPath, "-e"],
  ] as const)("the snippets of %s run as they are shown", async (tool, program, option) => {
    const { secret } = await opened.ada.call("keys.create", { params: { workspace: "acme" }, body: { name: tool } });
    const parts = toolTexts(tool, { baseUrl: opened.gateway.url, apiKey: secret, model: "gpt-5" });
    for (const { code } of parts) {
      const run = Bun.spawn([program, option, code], { env: bareEnvironment(), stdout: "pipe", stderr: "ignore" });
      expect([await run.exited, await new Response(run.stdout).text()]).toEqual([
        0,
        expect.stringContaining("You asked:"),
      ]);
    }
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});
