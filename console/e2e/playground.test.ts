import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { factsOf, type OpenedPlayground, openPlayground } from "./opened-playground.ts";
import { navigateTo } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

describe.skipIf(noBrowser !== null)("the playground for every type of model", () => {
  let playground: OpenedPlayground;
  let ada: SignedInUser;
  let key: string;
  let page: Page;

  beforeAll(async () => {
    playground = await openPlayground();
    ({ key, page } = playground);
    ({ ada } = playground.opened);
  });

  afterAll(() => playground?.opened.stop());

  const filesInBoxes = () =>
    page.evaluate<number>(
      "[...document.querySelectorAll('input[type=file]')].reduce((sum, { files }) => sum + files.length, 0)",
    );

  test("rerank shows the documents by score, with usage and cost", async () => {
    await playground.open("rerank");
    await page.getByLabel("Query").fill("where do ships go");
    await page.getByRole("textbox", { name: "Documents" }).fill("an invoice for paper\nships go to the harbour");
    await page.getByRole("button", { name: "Rerank", exact: true }).click();
    const rows = page.getByRole("list", { name: "Ranking" }).getByRole("listitem");
    expect(await rows.first().innerText()).toContain("ships go to the harbour");
    expect(await rows.last().innerText()).toContain("document 1");
    expect(await factsOf(page)).toMatchObject({ provider: "sounds", "input tokens": "17", cost: "$0.000017" });
  });

  test("moderation shows flagged categories first, and refuses a file that is no image", async () => {
    await playground.open("moderation");
    await page.getByRole("textbox", { name: "Text" }).fill("some violence");
    await page.getByRole("button", { name: "Moderate" }).click();
    await page.getByText("Flagged", { exact: true }).waitFor();
    const rows = page.getByRole("list", { name: "Categories" }).getByRole("listitem");
    expect(await rows.first().innerText()).toContain("Violence");
    expect(await factsOf(page)).toMatchObject({ requests: "1", cost: "about $0.001" });
    await give(page, "Add image", { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
    await page.getByText("note.txt is not a PNG, JPEG, WebP or GIF image.").waitFor();
    // Browsers do not report the same file again unless the input was reset.
    expect(await filesInBoxes()).toBe(0);
  });

  test("a decision shows how probable each statement is", async () => {
    await playground.open("decision");
    await page.getByRole("textbox", { name: "Text" }).fill("the parcel arrived");
    await page.getByRole("textbox", { name: "Statements" }).fill("the parcel arrived\nrefuse this");
    await page.getByRole("button", { name: "Decide" }).click();
    const rows = page.getByRole("list", { name: "Probabilities" }).getByRole("listitem");
    await rows.last().waitFor();
    expect(await rows.first().innerText()).toContain("0.99");
    expect(await rows.last().innerText()).toContain("The model refused to answer");
    expect(await factsOf(page)).toMatchObject({ "input tokens": "8", cost: "$0.000008" });
  });

  test("a completion streams between prompt and suffix, and can be stopped", async () => {
    await playground.open("completion");
    await page.getByRole("textbox", { name: "Prompt" }).fill("def fib(n):");
    await page.getByLabel("Suffix").fill("print(fib(8))");
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    await page.getByRole("button", { name: "Copy completion" }).waitFor();
    expect(await factsOf(page)).toMatchObject({
      "time to first token": expect.stringContaining("ms"),
      "input tokens": "3",
    });
    const text = await page.locator(".completed").innerText();
    expect([text.startsWith("def fib(n):"), text.endsWith("print(fib(8))")]).toEqual([true, true]);
    await page.getByRole("textbox", { name: "Prompt" }).fill('[[sim {"tokens":500,"event_ms":200}]] go on');
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    await page.locator(".completed mark").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Complete", exact: true }).click();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await page.locator(".completed mark").waitFor();
    // Leaving the page stops it. The partial result is shown as stopped.
    await playground.choose("Chat");
    await playground.choose("Completion");
    await page.getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Complete", exact: true }).waitFor();
  });

  test("speech can be played and downloaded; a provider error is shown with its message", async () => {
    await playground.open("speech");
    await page.getByRole("textbox", { name: "Text" }).fill("A lighthouse at dawn");
    await page.getByRole("combobox", { name: "Format" }).click();
    await page.getByRole("option", { name: "wav" }).click();
    await page.getByRole("button", { name: "Generate" }).click();
    const player = page.locator("audio");
    await player.waitFor();
    expect(await page.getByRole("link", { name: "Download" }).getAttribute("download")).toBe("speech.wav");
    expect(await factsOf(page)).toMatchObject({ characters: "20", cost: "about $0.0003" });
    expect(await page.evaluate("document.querySelector('audio').error")).toBeNull();
    await page
      .getByRole("textbox", { name: "Text" })
      .fill('[[sim {"status":400,"error_message":"No such voice"}]] hello');
    await page.getByRole("button", { name: "Generate" }).click();
    await page.getByRole("alert").getByText("No such voice").waitFor();
  });

  test("a file is transcribed with streaming, translated without, and an invalid file is refused", async () => {
    await playground.open("transcription");
    await give(page, "Choose file", { name: "empty.wav", mimeType: "audio/wav", buffer: Buffer.alloc(0) });
    await page.getByRole("alert").getByText("empty.wav is empty.").waitFor();
    const sound = { name: "note.wav", mimeType: "audio/wav", buffer: Buffer.alloc(32_000, 1) };
    await give(page, "Choose file", sound);
    await page.getByRole("button", { name: "Transcribe", exact: true }).click();
    expect(await factsOf(page)).toMatchObject({
      "time to first token": expect.stringContaining("ms"),
      "audio input tokens": "20",
    });
    const transcript = page.getByRole("region", { name: "transcript" });
    expect((await transcript.innerText()).trim()).not.toBe("");
    await page.getByText("English", { exact: true }).click();
    await page.getByRole("combobox", { name: "Format" }).click();
    await page.getByRole("option", { name: "Subtitles (WebVTT)" }).click();
    await page.getByRole("button", { name: "Translate", exact: true }).click();
    await transcript.getByText("WEBVTT").waitFor();
  });

  test("a recording from the microphone can be transcribed", async () => {
    await playground.openAnew("transcription");
    await page.getByRole("button", { name: "Record" }).click();
    await page.getByRole("button", { name: /Stop recording/ }).click();
    await page.getByText(/^recording\.\w+, /).waitFor();
    await page.getByRole("button", { name: "Transcribe", exact: true }).click();
    await page.getByRole("link", { name: "View request" }).waitFor();
  });

  test("leaving during the microphone prompt does not start a recording", async () => {
    await playground.open("transcription");
    await page.evaluate(`{
      const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wanted) => {
        await new Promise((allow) => Object.assign(window, { allow }));
        return (window.given = await ask(wanted));
      };
    }`);
    await page.getByRole("button", { name: "Record" }).click();
    await until(() => page.evaluate<boolean>("window.allow !== undefined"));
    await playground.choose("Speech");
    await page.getByRole("button", { name: "Generate" }).waitFor();
    await page.evaluate("window.allow()");
    await until(() =>
      page.evaluate<boolean>("window.given?.getTracks().every(({ readyState }) => readyState === 'ended') === true"),
    );
  });

  test("shows a request as code for each model type", async () => {
    await playground.open("speech");
    await page.getByRole("button", { name: "View code" }).click();
    await page.getByRole("dialog").getByText("/v1/audio/speech").waitFor();
  });

  /** Sends a call with the key. Resolves to the id of the request or of the created object. */
  async function called(path: string, body: object): Promise<{ request: string; id: string }> {
    const answer = await ada.send(`/api/workspaces/acme/keys/${key}/call${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    expect([path, answer.status, text.slice(0, 200)]).toEqual([path, 200, expect.anything()]);
    return { request: answer.headers.get("x-request-id") ?? "", id: (JSON.parse(text) as { id: string }).id };
  }

  test("the request page lists fields that could not be translated to another protocol", async () => {
    const messages = [{ role: "user", content: "hello" }];
    const { request } = await called("/v1/chat/completions", {
      model: "a-claude",
      messages,
      logit_bias: { "50256": -100 },
    });
    await until(async () => {
      await navigateTo(page, `/console/requests/${request}?workspace=acme`);
      return (await page.getByText("Not forwarded", { exact: true }).count()) > 0;
    });
    await page.getByText("logit_bias").first().waitFor();
  });

  test.each([
    ["speech", "Characters", "character", 15],
    ["rerank", "Search units", "search_unit", 2],
    ["transcription", "Audio seconds", "audio_second", 0.0001],
    ["moderation", "Requests", "request", 1],
  ] as const)("a model for %s is priced by %s", async (type, label, member, usd) => {
    const name = `priced-${type}`;
    await ada.call("models.create", { body: { name, type, deployments: [{ provider: "sounds" }] } });
    await navigateTo(page, `/console/models/${name}?tab=price`);
    await page.getByLabel(label).fill(String(usd));
    await page.getByRole("button", { name: "Save price" }).click();
    await closeNotice(page, "Price saved.");
    // The notice may still be from the previous case.
    const price = await until(async () => {
      const { data } = await ada.call("models.list", { query: { search: name } });
      return data[0]?.price ?? null;
    });
    expect(price).toEqual({ [member]: usd });
  });

  test("a task with images that are not stored cannot be sent again, and explains that", async () => {
    const image = `data:image/png;base64,${"A".repeat(400_000)}`;
    const { id } = await called("/v1/video/tasks", { model: "a-film", prompt: "a boat", image });
    await navigateTo(page, `/console/tasks/${id}?workspace=acme`);
    const again = page.getByRole("button", { name: "Send again" });
    await again.waitFor();
    expect([await again.isDisabled(), await again.getAttribute("title")]).toEqual([
      true,
      "The images in the request body are not kept. Edit the request and add them again.",
    ]);
  });

  test("a demo video plays in the browser", async () => {
    const { id } = await called("/v1/video/tasks", { model: "a-film", prompt: "a boat", duration: 5 });
    await until(async () => {
      const { status } = await ada.call("tasks.show", { params: { workspace: "acme", task: id } });
      return status === "succeeded";
    });
    await navigateTo(page, `/console/tasks/${id}?workspace=acme`);
    await page.locator("video").waitFor();
    const film = "document.querySelector('video')";
    await until(() => page.evaluate<boolean>(`${film}.error !== null || ${film}.readyState >= 2`));
    expect(await page.evaluate(`${film}.error === null && ${film}.videoWidth > 1 && ${film}.duration === 5`)).toBe(
      true,
    );
  });

  test("the palette finds a model by name, also while typing fast", async () => {
    for (const name of ["azure-zz-9", "b-zz-9-mini", "zz-9", "zz-9-pro"]) {
      await ada.call("models.create", { body: { name, deployments: [{ provider: "sounds" }] } });
    }
    await navigateTo(page, "/console/requests?workspace=acme");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("zz-9");
    await page.getByRole("option", { name: /zz-9-pro/ }).waitFor();
    const options = await page.getByRole("option").allInnerTexts();
    expect(options[0]).toStartWith("zz-9\n");
    expect(await page.getByRole("combobox", { name: /^Search for actions/ }).inputValue()).toBe("zz-9");
    await page.getByRole("combobox", { name: /^Search for actions/ }).fill("backup");
    await page.getByRole("option", { name: "Settings: Backup" }).waitFor();
  });

  test("a started video is listed, even if the user left the page meanwhile", async () => {
    await playground.openAnew("video");
    const requests = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const tasks = /\/call\/v1\/video\/tasks$/;
    await page.route(tasks, async (route) => {
      requests.resolve();
      await held.promise;
      await route.continue();
    });
    await page.getByRole("textbox", { name: "Prompt" }).fill("a boat at night");
    await page.getByRole("button", { name: "Generate", exact: true }).click();
    await requests.promise;
    await playground.choose("Chat");
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    held.resolve();
    await playground.choose("Video");
    await page.getByRole("link", { name: "a boat at night" }).waitFor();
    await page.unroute(tasks);
  });

  test("an invalid field is marked, and its error is shown once", async () => {
    await playground.open("video");
    await page.getByRole("textbox", { name: "Prompt" }).fill("a boat");
    await page.getByRole("combobox", { name: "Aspect ratio" }).fill("wide");
    await page.getByRole("button", { name: "Generate", exact: true }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    expect(await page.getByRole("combobox", { name: "Aspect ratio" }).getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("alert").count()).toBe(1);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(playground.opened.browser.faults).toEqual([]);
  });
});

async function give(
  page: Page,
  button: string,
  file: { name: string; mimeType: string; buffer: Buffer },
): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: button }).click();
  await (await chooser).setFiles(file);
}
