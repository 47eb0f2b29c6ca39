import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { alertPage } from "@sluice/contract/words";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole, simulatedModels } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";

const key = "sk-guardrails-0123456789-0123456789";

const config = simulatedModels(
  { fast: { input: 1, output: 1 } },
  {
    workspaces: [
      {
        ...{ slug: "acme", name: "Acme", groups: [{ name: "default", models: ["*"] }] },
        keys: [{ name: "ci", secret: key, capture: "bodies" }],
        guardrails: [
          { name: "from-file", check: { kind: "words", words: ["Osprey"] }, action: "flag", on: ["input"] },
          {
            name: "planned",
            check: { kind: "words", words: ["Heron"] },
            action: "block",
            on: ["input"],
            enforce: false,
          },
        ],
      },
      { slug: "beta", name: "Beta" },
    ],
  },
);

describe.skipIf(noBrowser !== null)("guardrails in the console", () => {
  let opened: OpenedConsole;
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config });
    page = await opened.page();
  });

  afterAll(() => opened?.stop());

  test("an administrator tries a template, sees whom it applies to, and creates a rule for the whole company", async () => {
    await navigateTo(page, "/console/guardrails?workspace=-");
    await page.getByText("No guardrails").waitFor();
    await page.getByRole("button", { name: "Create guardrail" }).first().click();
    const drawer = page.getByRole("dialog", { name: "Create guardrail" });
    await drawer.getByRole("radio", { name: "Mask personal data" }).check();
    await drawer.getByText("This applies to every call of the installation, in all workspaces.").waitFor();
    await drawer.getByRole("textbox", { name: "Text" }).fill("Write to mia@example.com.");
    await drawer.getByRole("button", { name: "Try" }).click();
    await drawer.getByText("1 finding").waitFor();
    expect(await drawer.locator("mark").innerText()).toContain("mia@example.com");
    await drawer.getByText("Write to ‹EMAIL_1›.").waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await drawer.getByRole("button", { name: "Create guardrail" }).click();
    await page.getByRole("row", { name: /mask-personal-data.*Mask.*Every call of the installation/ }).waitFor();
    expect((await opened.ada.call("guardrails.list", { params: { workspace: "beta" } })).data).toMatchObject([
      { name: "mask-personal-data", action: "mask", inherited: true, all_calls: true, enforce: true },
    ]);
  });

  test("the workspace, its group and its key show the rule as set above", async () => {
    const { data } = await opened.ada.call("keys.list", { params: { workspace: "acme" } });
    const paths = [
      "/console/guardrails?workspace=acme",
      "/console/workspaces/acme",
      "/console/workspaces/acme/groups/default",
      `/console/keys/${data[0]?.id}?workspace=acme`,
    ];
    for (const path of paths) {
      await navigateTo(page, path);
      await page.getByText("mask-personal-data").waitFor();
      await page.getByText("Set above").first().waitFor();
      await page.getByText("from-file").waitFor();
    }
  });

  test("a rule for one key of a workspace starts in shadow mode, and is disabled and deleted", async () => {
    await navigateTo(page, "/console/guardrails?workspace=acme");
    await page.getByRole("button", { name: "Create guardrail" }).first().click();
    const drawer = page.getByRole("dialog", { name: "Create guardrail" });
    await drawer.getByRole("radio", { name: "Blocked words" }).check();
    await drawer.getByText("Enter at least one word.").first().waitFor();
    await drawer.getByRole("textbox", { name: "Words or phrases" }).fill("Falcon\nProject Osprey");
    await drawer.getByRole("radio", { name: "Only some" }).check();
    await drawer.getByText("Choose what it applies to.").waitFor();
    await drawer.getByRole("combobox", { name: "Add a key" }).click();
    await page.getByRole("option", { name: "ci" }).click();
    await drawer.getByRole("button", { name: "Remove ci" }).waitFor();
    await drawer.getByRole("switch", { name: "Enforce" }).uncheck();
    await drawer.getByRole("button", { name: "More options" }).click();
    await drawer.getByRole("checkbox", { name: "Answers" }).uncheck();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await drawer.getByRole("button", { name: "Create guardrail" }).click();
    const row = page.getByRole("row", { name: /blocked-words.*Shadow mode.*2 words.*Block.*1 key/ });
    await row.waitFor();
    await row.getByRole("button", { name: "Edit guardrail blocked-words" }).click();
    const edit = page.getByRole("dialog", { name: "Edit guardrail blocked-words" });
    await edit.getByRole("switch", { name: "Enforce" }).check();
    await edit.getByRole("button", { name: "Save guardrail" }).click();
    await page.getByText("Guardrail saved.").waitFor();
    const { data } = await opened.ada.call("guardrails.list", { params: { workspace: "acme" } });
    expect(data.find(({ name }) => name === "blocked-words")).toMatchObject({
      ...{ name: "blocked-words", enforce: true, on: ["input"] },
      check: { kind: "words", words: ["Falcon", "Project Osprey"] },
    });
    await page
      .getByRole("row", { name: /blocked-words/ })
      .getByRole("button", { name: "Disable" })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await page
      .getByRole("row", { name: /blocked-words.*Off/ })
      .getByRole("button", { name: "Delete" })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete guardrail" }).click();
    await page.getByText("Guardrail deleted.").waitFor();
    await page.getByRole("row", { name: /blocked-words/ }).waitFor({ state: "detached" });
  });

  test("findings are counted, listed without their text, and shown on the request's page", async () => {
    const messages = [{ role: "user", content: "Where is Osprey?" }];
    const { requestId } = await opened.chat(key, { body: { messages } });
    const params = { workspace: "acme" };
    await until(async () => (await opened.ada.call("guardrails.checks", { params })).data.length > 0);
    await navigateTo(page, "/console/guardrails?workspace=acme&tab=findings");
    const row = page.getByRole("row", { name: /from-file.*Request.*Flagged.*messages\[0\]\.content.*ci/ });
    await row.waitFor();
    expect(await page.getByText("Osprey").count()).toBe(0);
    expect(await violationsInBothThemes(page)).toEqual([]);
    await row.getByRole("link").click();
    await page.waitForURL(`**/requests/${requestId}*`);
    const section = page.getByRole("region", { name: "Guardrails" });
    await section.getByRole("row", { name: /from-file.*Request.*Flagged/ }).waitFor();
  });

  test("findings are filtered with a click on the chart, and a link keeps the filter", async () => {
    await opened.chat(key, { body: { messages: [{ role: "user", content: "A heron." }] } });
    const params = { workspace: "acme" };
    await until(async () => (await opened.ada.call("guardrails.checks", { params })).data.length > 1);
    // A fresh page: answers are cached for a minute.
    await page.goto("/console/guardrails?workspace=acme&tab=findings");
    const list = page.getByRole("table", { name: "Findings", exact: true });
    await list.getByRole("row", { name: /planned/ }).waitFor();
    await page.getByRole("figure", { name: "Findings over time: By result" }).waitFor();
    await page.getByRole("button", { name: "Blocked (shadow mode)" }).click();
    await list.getByRole("row", { name: /from-file/ }).waitFor({ state: "detached" });
    await list.getByRole("row", { name: /planned.*Blocked \(shadow mode\)/ }).waitFor();
    expect(page.url()).toContain("verdict=blocked&enforced=false");
    expect(await page.getByRole("link", { name: "Export CSV" }).getAttribute("href")).toContain("verdict=blocked");
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.reload();
    await list.getByRole("row", { name: /planned/ }).waitFor();
    expect(await list.getByRole("row", { name: /from-file/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Clear" }).click();
    await list.getByRole("row", { name: /from-file/ }).waitFor();
  });

  test("the link of an alert shows the findings of its guardrail", async () => {
    const { data } = await opened.ada.call("guardrails.list", { params: { workspace: "acme" } });
    const planned = data.find(({ name }) => name === "planned");
    const facts = { guardrail: "planned", guardrail_id: planned?.id ?? "" };
    for (const kind of ["guardrail_findings", "shadow"] as const) {
      await page.goto(`/console${alertPage({ kind, facts }, "acme")}`);
      const list = page.getByRole("table", { name: "Findings", exact: true });
      await list.getByRole("row", { name: /planned/ }).waitFor();
      expect(await list.getByRole("row", { name: /from-file/ }).count()).toBe(0);
    }
  });

  test("a new rule is rehearsed on captured requests before it is saved", async () => {
    await page.goto("/console/guardrails?workspace=acme");
    await page.getByRole("button", { name: "Create guardrail" }).first().click();
    const drawer = page.getByRole("dialog", { name: "Create guardrail" });
    await drawer.getByRole("radio", { name: "Blocked words" }).check();
    const button = drawer.getByRole("button", { name: "Rehearse" });
    expect(await button.isDisabled()).toBe(true);
    await drawer.getByRole("textbox", { name: "Words or phrases" }).fill("Heron");
    await button.click();
    const dialog = page.getByRole("dialog", { name: "Rehearse this change" });
    await dialog.getByRole("button", { name: "Rehearse", exact: true }).click();
    await dialog.getByText("Would have refused 1 of 2 requests of 1 API key, and saved").waitFor();
    const section = dialog.getByRole("region", { name: "Guardrail acme/blocked-words" });
    await section.getByText("Would have stopped 1 request of 1 API key.").waitFor();
    await section.getByText("Examined: 2 captured requests with answers. Every request was captured.").waitFor();
    const found = section.getByRole("table", { name: "Requests with findings" });
    const row = found.getByRole("row", { name: /Blocked.*ci/ });
    expect(await row.getByRole("link").getAttribute("href")).toContain("/requests/req_");
    expect(await dialog.getByText("A heron.").count()).toBe(0);
    expect(await violationsInBothThemes(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Back to the form" }).click();
    await drawer.getByRole("textbox", { name: "Words or phrases" }).fill("Pelican");
    await button.click();
    await dialog.getByText("The form has changed since this rehearsal.").waitFor();
    await dialog.getByRole("button", { name: "Rehearse again" }).click();
    await dialog.getByText("Would have changed nothing about 2 requests.").waitFor();
    await section.getByText("Would have found nothing in the captured requests.").waitFor();
    await dialog.getByRole("button", { name: "Back to the form" }).click();
    const { data } = await opened.ada.call("guardrails.list", { params: { workspace: "acme" } });
    expect(data.map(({ name }) => name)).not.toContain("blocked-words");
  });

  test("the list of requests marks what shadow mode would have refused, and filters by it", async () => {
    await page.goto("/console/requests?workspace=acme");
    const list = page.getByRole("table", { name: "Requests", exact: true });
    await list.getByRole("row", { name: /Recorded by a guardrail/ }).waitFor();
    await page.getByRole("button", { name: "More filters" }).click();
    await page.getByRole("combobox", { name: "Shadow mode" }).click();
    await page.getByRole("option", { name: "Would have been refused (shadow mode)" }).click();
    await list.getByRole("row", { name: /Recorded by a guardrail/ }).waitFor({ state: "detached" });
    expect(await list.getByRole("row", { name: /Would have been refused \(shadow mode\)/ }).count()).toBe(1);
    expect(page.url()).toContain("would_refuse=true");
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole("combobox", { name: "Shadow mode" }).press("Escape");
    await page.goto("/console/requests?workspace=acme&guardrail=any");
    await list.getByRole("row", { name: /Recorded by a guardrail/ }).waitFor();
    expect(await list.getByRole("row").count()).toBe(3);
  });

  test("a rule of the config file can be read, not changed", async () => {
    await navigateTo(page, "/console/guardrails?workspace=acme");
    await page.getByRole("button", { name: "View guardrail from-file" }).click();
    const drawer = page.getByRole("dialog", { name: "View guardrail from-file" });
    expect(await drawer.getByRole("textbox", { name: "Words or phrases" }).isDisabled()).toBe(true);
    expect(await drawer.getByRole("button", { name: "Save guardrail" }).count()).toBe(0);
    expect(opened.browser.faults).toEqual([]);
  });
});
