import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { noBrowser } from "./opened-browser.ts";
import { factsOf, type OpenedPlayground, openPlayground } from "./opened-playground.ts";
import { navigateTo } from "./populated/all-pages.ts";

describe.skipIf(noBrowser !== null)("chats in the playground", () => {
  let playground: OpenedPlayground;
  let page: Page;

  beforeAll(async () => {
    playground = await openPlayground();
    ({ page } = playground);
  });

  afterAll(() => playground?.opened.stop());

  test("a response is rendered as Markdown without creating HTML elements from it", async () => {
    await navigateTo(page, playground.url("chat&model=a-claude"));
    await page.getByRole("textbox", { name: "Message" }).fill("Say **one** and `two` <img src=x onerror=alert(1)>");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Copy response" }).waitFor();
    const answer = page.locator(".markdown");
    // The upstream repeats the prompt.
    expect(await answer.locator("strong").first().innerText()).toBe("one");
    expect(await answer.locator("code").first().innerText()).toBe("two");
    expect(await answer.locator("img").count()).toBe(0);
  });

  test("at 1440 by 900, the message box and its button are visible, also below a long response", async () => {
    await page.setViewportSize({ width: 1_440, height: 900 });
    const send = page.getByRole("button", { name: "Send", exact: true });
    const message = page.getByRole("textbox", { name: "Message" });
    await navigateTo(page, playground.url("chat&model=a-claude"));
    const inSight = async () => {
      const [button, box] = [await send.boundingBox(), await message.boundingBox()];
      expect([(button?.y ?? 0) + (button?.height ?? 0) <= 900, (box?.y ?? -1) >= 0]).toEqual([true, true]);
    };
    await send.waitFor();
    await inSight();
    await message.fill(`Say ${"a long line\n\n".repeat(80)}`);
    await inSight();
    await page.keyboard.press("Control+End");
    await message.press("Enter");
    await page.getByRole("button", { name: "Copy response" }).last().waitFor();
    await inSight();
  });

  test("editing a message and starting a new conversation can be undone", async () => {
    await playground.openAnew("chat&model=a-claude");
    const message = page.getByRole("textbox", { name: "Message" });
    const answer = page.getByRole("button", { name: "Copy response" });
    const restore = page.getByRole("button", { name: "Restore it" });
    await message.fill("first words");
    await message.press("Enter");
    await answer.waitFor();
    await message.fill("half a thought");
    for (const [leave, left] of [
      ["Edit message", "first words"],
      ["New conversation", "half a thought"],
    ] as const) {
      await page.getByRole("button", { name: leave }).click();
      await answer.waitFor({ state: "detached" });
      expect(await message.inputValue()).toBe(left);
      await restore.click();
      await answer.waitFor();
      expect(await message.inputValue()).toBe("half a thought");
    }
    await message.press("Enter");
    await answer.nth(1).waitFor();
    expect(await restore.count()).toBe(0);
  });

  test("a file is uploaded or chosen from the workspace and sent by its id", async () => {
    await playground.openAnew("chat&model=b-chat");
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    const attach = page.getByRole("button", { name: "Attach a file" });
    const attached = page.getByRole("list", { name: "Attached files" });
    const sent: { messages: unknown[] }[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/call/v1/chat/completions")) sent.push(request.postDataJSON());
    });
    const { simulator } = playground.opened.simulator;
    simulator.addPreset({ script: { keep_received: true }, count: 1, model: null });
    await attach.click();
    await page.getByRole("combobox", { name: "File of the workspace" }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Upload a file" }).click(),
    ]);
    await chooser.setFiles({ name: "facts.txt", mimeType: "text/plain", buffer: Buffer.from("The sea is blue.") });
    await attached.getByText("facts.txt").waitFor();
    await message.fill("What is blue?");
    await message.press("Enter");
    await page.getByRole("button", { name: "Copy response" }).waitFor();
    const [file] = (await playground.opened.ada.call("files.list", { params: { workspace: "acme" } })).data;
    expect(file).toMatchObject({ filename: "facts.txt", purpose: "user_data", key: { id: playground.key } });
    const named = [
      { type: "text", text: "What is blue?" },
      { type: "file", file: { file_id: file?.id } },
    ];
    expect(sent.at(-1)?.messages).toEqual([{ role: "user", content: named }]);
    const received = simulator.truth
      .list()
      .data.findLast((record) => record.received_body !== undefined)?.received_body;
    expect(received).toContain("The sea is blue.");

    await page.getByRole("button", { name: "Edit message" }).click();
    await page.getByRole("button", { name: "Remove facts.txt" }).click();
    expect(await attached.count()).toBe(0);
    await attach.click();
    await page.getByRole("combobox", { name: "File of the workspace" }).click();
    await page.getByRole("option", { name: "facts.txt (16 B)" }).click();
    await attached.getByText("facts.txt").waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    await attach.click();
    await page.getByRole("button", { name: "Upload a file" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 1_440, height: 900 });
    await message.press("Enter");
    await page.getByRole("button", { name: "Copy response" }).waitFor();
    expect(sent.at(-1)?.messages).toEqual([{ role: "user", content: named }]);
  });

  test("a session is shared by link without its answers, and opening it sends nothing", async () => {
    await playground.openAnew("chat");
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    await message.fill("Hello");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await message.fill("And in French?");
    await page.getByRole("button", { name: "Share" }).click();
    const dialog = page.getByRole("dialog", { name: "Share this session" });
    await dialog.getByRole("button", { name: "Create link" }).click();
    const link = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
    await dialog.getByText("a-claude").waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    const calls: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") calls.push(request.url());
    });
    await page.goto(link);
    await until(async () => (await message.inputValue()) === "Hello\n\nAnd in French?");
    expect(new URL(page.url()).searchParams.get("share")).toBeNull();
    await page.getByText("Send a message to start.").waitFor();
    expect(calls).toEqual([]);
    await page.goto(link.replace("share=", "share=share_gone"));
    await page.getByRole("alert").first().waitFor();
  });

  test("a message is sent to every compared model, and the error of one does not touch the others", async () => {
    await playground.openAnew("chat&model=a-claude");
    const sent: { model: string; messages: unknown[] }[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/call/v1/chat/completions")) sent.push(request.postDataJSON());
    });
    const takeSent = () => sent.splice(0).map(({ model, messages }) => `${model} ${messages.length}`);
    const column = (model: string) => page.getByRole("region", { name: `Messages with ${model}` });
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    await page.getByRole("combobox", { name: "Compare with" }).click();
    for (const model of ["b-chat", "c-lost"]) await page.getByRole("option", { name: model, exact: true }).click();
    await page.keyboard.press("Escape");
    await page.getByText("Sends 3 requests, one to each model.").waitFor();
    expect(new URL(page.url()).searchParams.get("models")).toBe("a-claude,b-chat,c-lost");
    await message.fill("Hello");
    expect(sent).toEqual([]);
    await message.press("Enter");
    for (const model of ["a-claude", "b-chat"]) {
      await column(model).getByRole("button", { name: "Copy response" }).waitFor();
      const facts = await factsOf(column(model));
      expect(Object.keys(facts)).toEqual(
        expect.arrayContaining(["time to first token", "total time", "input tokens", "output tokens", "cost"]),
      );
      await column(model).getByRole("link", { name: "View request" }).waitFor();
    }
    await column("c-lost").getByRole("alert").waitFor();
    expect(takeSent()).toEqual(["a-claude 1", "b-chat 1", "c-lost 1"]);
    expect(await violationsInBothThemes(page)).toEqual([]);
    // Each column continues its own conversation.
    await column("b-chat").getByRole("button", { name: "Regenerate" }).click();
    await until(() => sent.length === 1);
    await column("b-chat").getByRole("button", { name: "Copy response" }).waitFor();
    await message.fill('[[sim {"tokens":500,"event_ms":200}]] more');
    await message.press("Enter");
    for (const model of ["a-claude", "b-chat"]) await column(model).locator(".answered").nth(1).locator("p").waitFor();
    expect(takeSent()).toEqual(["b-chat 1", "a-claude 3", "b-chat 3", "c-lost 1"]);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    for (const model of ["a-claude", "b-chat"]) await column(model).getByText("You stopped this response.").waitFor();
    await column("c-lost").getByRole("alert").nth(1).waitFor();
    // "Edit message" takes it back everywhere.
    await column("a-claude").getByRole("button", { name: "Edit message" }).click();
    expect(await message.inputValue()).toContain("more");
    for (const model of ["a-claude", "b-chat", "c-lost"])
      expect(await column(model).getByRole("article").count()).toBe(1);
    await page.setViewportSize({ width: 360, height: 800 });
    const [first, second] = await Promise.all([column("a-claude").boundingBox(), column("b-chat").boundingBox()]);
    expect([first?.x, (first?.y ?? 0) < (second?.y ?? 0)]).toEqual([second?.x, true]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.setViewportSize({ width: 1_440, height: 900 });
  });

  test("compared models are in the link of a shared chat; a model that the key cannot use is named", async () => {
    await playground.openAnew("chat&models=b-chat,a-claude");
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    await message.fill("Hello both");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Create link" }).click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    await page.goto(link);
    await until(async () => (await message.inputValue()) === "Hello both");
    await until(() => new URL(page.url()).searchParams.get("models") === "b-chat,a-claude");
    await page.getByText("Sends 2 requests, one to each model.").waitFor();
    await playground.openAnew("chat&models=b-chat,gone");
    await page.getByText("This API key cannot use these models, so they are left out: gone.").waitFor();
    expect(await page.getByText(/^Sends \d requests/).count()).toBe(0);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(playground.opened.browser.faults).toEqual([]);
  });
});
