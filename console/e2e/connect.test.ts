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

  test("connects an agent in three clicks, and shows its first call as soon as it arrives", async () => {
    const page = await opened.page();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/console/connect");
    await page.getByRole("button", { name: "Codex" }).click();
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("It is shown only now.").waitFor();
    await page.getByRole("button", { name: "Copy Codex: In a shell" }).click();

    const command = await page.evaluate<string>("navigator.clipboard.readText()");
    const key = /sk-sluice-\w+/.exec(command)?.[0] ?? "";
    expect(await page.getByRole("region", { name: "Codex: ~/.codex/config.toml" }).innerText()).toContain('"gpt-5"');
    await page.getByText("Waiting for your first call").waitFor();
    const answer = await fetch(`${opened.gateway.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-5", input: "hello" }),
    });
    expect(answer.status).toBe(200);
    await page.getByText("Connected: the first call succeeded").waitFor();
    await page.getByRole("link", { name: "Open the request to gpt-5" }).click();
    await page.waitForURL(/\/requests\/req_/);
    await browser.leave(page);
  });

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
