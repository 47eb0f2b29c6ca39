import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

const config = `
workspaces:
  - { slug: acme, name: Acme, groups: [{ name: default }], keys: [{ name: ci }] }
`;

describe.skipIf(noBrowser !== null)("assets in the console", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let page: Page;
  /** A 400 by 300 image. */
  let picture: Buffer;

  beforeAll(async () => {
    opened = await openConsole({ config });
    ({ ada } = opened);
    const { key } = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "try" } });
    const made = await ada.send(`/api/workspaces/acme/keys/${key.id}/call/v1/asset-groups`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ platform: "local", name: "heroes" }),
    });
    expect(made.status).toBe(200);
    page = await opened.page({});
    await page.goto("/console/assets?workspace=acme");
    picture = await page.screenshot({ clip: { x: 0, y: 0, width: 400, height: 300 } });
  });

  afterAll(() => opened?.stop());

  beforeEach(async () => {
    await navigateTo(page, "/console/assets?workspace=acme&create=asset");
    await page.getByRole("dialog").getByText("Drop a file here").waitFor();
  });

  const assets = async () => (await ada.call("assets.list", { params: { workspace: "acme" } })).data;
  const file = (name: string, buffer: Buffer) => ({ name, mimeType: "image/png", buffer });

  test("uploads a chosen file and shows it in the gallery", async () => {
    await page.getByLabel("Choose a file to upload").setInputFiles(file("hero.png", picture));
    await page.getByRole("dialog").getByText("hero.png").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Add asset" }).click();
    await closeNotice(page, "Asset uploaded.");
    await page.getByRole("button", { name: "hero", exact: true }).waitFor();
    await until(() => page.evaluate<boolean>("document.querySelector('.asset-frame img')?.naturalWidth === 400"));
    expect(await assets()).toMatchObject([{ name: "hero", asset_type: "Image", status: "Active" }]);
  });

  test("keeps a file that is chosen before the groups are loaded, and uploads it to the first group", async () => {
    const held = Promise.withResolvers<void>();
    await page.route("**/asset-groups*", async (route) => {
      await held.promise;
      await route.fallback();
    });
    await page.goto("/console/assets?workspace=acme&create=asset");
    const dialog = page.getByRole("dialog");
    await page.getByLabel("Choose a file to upload").setInputFiles(file("early.png", picture));
    await dialog.getByText("early.png", { exact: true }).waitFor();
    expect(await dialog.getByRole("button", { name: "Add asset" }).isDisabled()).toBe(true);
    held.resolve();
    await dialog.getByRole("button", { name: "Add asset", disabled: false }).waitFor();
    expect(await dialog.getByText("early.png", { exact: true }).count()).toBe(1);
    await page.unroute("**/asset-groups*");
  });

  test("accepts a dropped file, but not two at once or unsupported types", async () => {
    const drop = (names: readonly string[]) =>
      page.evaluate(
        `(() => {
          const data = new DataTransfer();
          for (const name of ${JSON.stringify(names)}) data.items.add(new File(["x"], name, { type: name.endsWith(".txt") ? "text/plain" : "image/png" }));
          document.querySelector(".drop-area").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        })()`,
      );
    const dialog = page.getByRole("dialog");
    await drop(["a.png", "b.png"]);
    await dialog.getByText("Drop one file at a time.").waitFor();
    await drop(["a.txt"]);
    await dialog.getByText("a.txt is not an image, video or audio file.").waitFor();
    expect(await dialog.getByRole("button", { name: "Add asset" }).isDisabled()).toBe(true);
    await drop(["a.png"]);
    await dialog.getByText("a.png", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Add asset", disabled: false }).waitFor();
  });

  test("shows a refusal of the gateway once next to the file, and another file can be chosen", async () => {
    const before = await assets();
    const dialog = page.getByRole("dialog");
    await page.getByLabel("Choose a file to upload").setInputFiles(file("fake.png", Buffer.from("x".repeat(500))));
    await dialog.getByRole("button", { name: "Add asset" }).click();
    await dialog.getByText("This file format is not supported.").waitFor();
    expect(await dialog.getByText("This file format is not supported.").count()).toBe(1);
    await dialog.getByRole("button", { name: "Remove fake.png" }).click();
    await page.getByLabel("Choose a file to upload").setInputFiles(file("second.png", picture));
    await dialog.getByRole("button", { name: "Add asset" }).click();
    await closeNotice(page, "Asset uploaded.");
    expect((await assets()).length).toBe(before.length + 1);
  });

  test("shows upload progress; a canceled upload adds nothing", async () => {
    const before = await assets();
    // The request arrives, but its response is held.
    await page.route("**/v1/assets", () => {});
    const dialog = page.getByRole("dialog");
    await page.getByLabel("Choose a file to upload").setInputFiles(file("late.png", picture));
    await dialog.getByRole("button", { name: "Add asset" }).click();
    await dialog.getByRole("progressbar", { name: "Upload progress" }).waitFor({ state: "attached" });
    await dialog.getByRole("status").waitFor();
    await dialog.getByRole("button", { name: "Cancel upload" }).click();
    await dialog.getByRole("button", { name: "Remove late.png" }).waitFor();
    await dialog.getByRole("button", { name: "Add asset", disabled: false }).waitFor();
    await page.unroute("**/v1/assets");
    expect((await assets()).length).toBe(before.length);
  });

  test("sends the same API values when the console is in Chinese", async () => {
    const chinese = await ada.page(opened.browser, { locale: "zh-CN" });
    await chinese.addInitScript('localStorage.setItem("sluice.language", "zh-CN")');
    await chinese.goto("/console/assets?workspace=acme&create=asset");
    const dialog = chinese.getByRole("dialog");
    await dialog.getByText("URL", { exact: true }).click();
    await dialog.getByPlaceholder("https://example.com/hero.png").fill("https://example.com/a.mp4");
    const sent = chinese.waitForRequest("**/v1/assets");
    await dialog.getByRole("button", { name: "添加素材" }).click();
    expect((await sent).postDataJSON()).toMatchObject({ asset_type: "Video", url: "https://example.com/a.mp4" });
    await opened.browser.leave(chinese);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(opened.browser.faults).toEqual([]);
  });
});
