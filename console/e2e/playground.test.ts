import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { until } from "../../test/until.ts";
import { violationsInBothThemes } from "./accessibility.ts";
import { closeNotice } from "./notices.ts";
import { noBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import type { SignedInUser } from "./signed-in-user.ts";

/** Every type of model with a price, including Claude behind another protocol, and video. */
const configFor = (upstream: string) => `
providers:
  - { id: sounds, kind: openai-compatible, base_url: "${upstream}", allow_private_network: true }
  - { id: claude, kind: anthropic, base_url: "${new URL(upstream).origin}", api_key: sk-ant-0123456789, allow_private_network: true }
  - { id: films, kind: ark, base_url: "${new URL(upstream).origin}/api/v3", api_key: sk-ark-0123456789, allow_private_network: true }
  - { id: lost, kind: openai-compatible, base_url: "http://127.0.0.1:1", allow_private_network: true }
models:
  - { name: a-claude, deployments: [{ provider: claude, upstream_model: claude-sonnet-4-6 }], price: { input: 3, output: 15 } }
  - { name: b-chat, deployments: [{ provider: sounds }], price: { input: 1, output: 2 } }
  - { name: c-lost, deployments: [{ provider: lost }] }
  - { name: a-film, type: video, deployments: [{ provider: films, upstream_model: doubao-seedance-2-0-260128 }] }
  - { name: a-completion, type: completion, deployments: [{ provider: sounds }], price: { input: 1, output: 2 } }
  - { name: a-rerank, type: rerank, deployments: [{ provider: sounds }], price: { input: 1 } }
  - { name: a-moderation, type: moderation, deployments: [{ provider: sounds }], price: { request: 1 } }
  - { name: a-decision, type: decision, deployments: [{ provider: sounds }], price: { input: 1 } }
  - { name: a-transcription, type: transcription, deployments: [{ provider: sounds }], price: { audio_input: 3, output: 5 } }
  - { name: a-speech, type: speech, deployments: [{ provider: sounds }], price: { character: 15 } }
workspaces:
  - { slug: acme, name: Acme, models: ["*"], groups: [{ name: default }], keys: [{ name: ci }] }
`;

describe.skipIf(noBrowser !== null)("the playground for every type of model", () => {
  let opened: OpenedConsole;
  let ada: SignedInUser;
  let key = "";
  /** Shared by all tests, so that the app is loaded once. */
  let page: Page;

  beforeAll(async () => {
    opened = await openConsole({ config: configFor });
    ({ ada } = opened);
    key = (await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "try" } })).key.id;
    page = await opened.page({ permissions: ["microphone"] });
  });

  afterAll(() => opened?.stop());

  const playground = (type: string) => `/console/playground?workspace=acme&key=${key}&type=${type}`;

  async function open(type: string): Promise<void> {
    await navigateTo(page, playground(type));
    await page.getByRole("combobox", { name: "Model" }).waitFor();
  }

  /** Reloads the page, so that no state of earlier tests remains. */
  async function openAnew(type: string): Promise<void> {
    await page.goto(playground(type));
    await page.getByRole("combobox", { name: "Model" }).waitFor();
  }

  /** Switches the model type like a user, so that the playground keeps its state. */
  async function choose(type: string): Promise<void> {
    await page.getByRole("combobox", { name: "Type" }).click();
    await page.getByRole("option", { name: type, exact: true }).click();
  }

  const filesInBoxes = () =>
    page.evaluate<number>(
      "[...document.querySelectorAll('input[type=file]')].reduce((sum, { files }) => sum + files.length, 0)",
    );

  test("rerank shows the documents by score, with usage and cost", async () => {
    await open("rerank");
    await page.getByLabel("Query").fill("where do ships go");
    await page.getByRole("textbox", { name: "Documents" }).fill("an invoice for paper\nships go to the harbour");
    await page.getByRole("button", { name: "Rerank", exact: true }).click();
    const rows = page.getByRole("list", { name: "Ranking" }).getByRole("listitem");
    expect(await rows.first().innerText()).toContain("ships go to the harbour");
    expect(await rows.last().innerText()).toContain("document 1");
    expect(await factsOf(page)).toMatchObject({ provider: "sounds", "input tokens": "17", cost: "$0.000017" });
  });

  test("moderation shows flagged categories first, and refuses a file that is no image", async () => {
    await open("moderation");
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
    await open("decision");
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
    await open("completion");
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
    await choose("Chat");
    await choose("Completion");
    await page.getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Complete", exact: true }).waitFor();
  });

  test("speech can be played and downloaded; a provider error is shown with its message", async () => {
    await open("speech");
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
    await open("transcription");
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
    await openAnew("transcription");
    await page.getByRole("button", { name: "Record" }).click();
    await page.getByRole("button", { name: /Stop recording/ }).click();
    await page.getByText(/^recording\.\w+, /).waitFor();
    await page.getByRole("button", { name: "Transcribe", exact: true }).click();
    await page.getByRole("link", { name: "View request" }).waitFor();
  });

  test("leaving during the microphone prompt does not start a recording", async () => {
    await open("transcription");
    await page.evaluate(`{
      const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      navigator.mediaDevices.getUserMedia = async (wanted) => {
        await new Promise((allow) => Object.assign(window, { allow }));
        return (window.given = await ask(wanted));
      };
    }`);
    await page.getByRole("button", { name: "Record" }).click();
    await until(() => page.evaluate<boolean>("window.allow !== undefined"));
    await choose("Speech");
    await page.getByRole("button", { name: "Generate" }).waitFor();
    await page.evaluate("window.allow()");
    await until(() =>
      page.evaluate<boolean>("window.given?.getTracks().every(({ readyState }) => readyState === 'ended') === true"),
    );
  });

  test("shows a request as code for each model type", async () => {
    await open("speech");
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

  test("a response is rendered as Markdown without creating HTML elements from it", async () => {
    await navigateTo(page, playground("chat&model=a-claude"));
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
    await navigateTo(page, playground("chat&model=a-claude"));
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
    await openAnew("chat&model=a-claude");
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

  test("a session is shared by link without its answers, and opening it sends nothing", async () => {
    await openAnew("chat");
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
    await openAnew("chat&model=a-claude");
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
    await openAnew("chat&models=b-chat,a-claude");
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    await message.fill("Hello both");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByRole("button", { name: "Create link" }).click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    await page.goto(link);
    await until(async () => (await message.inputValue()) === "Hello both");
    await until(() => new URL(page.url()).searchParams.get("models") === "b-chat,a-claude");
    await page.getByText("Sends 2 requests, one to each model.").waitFor();
    await openAnew("chat&models=b-chat,gone");
    await page.getByText("This API key cannot use these models, so they are left out: gone.").waitFor();
    expect(await page.getByText(/^Sends \d requests/).count()).toBe(0);
  });

  test("a started video is listed, even if the user left the page meanwhile", async () => {
    await openAnew("video");
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
    await choose("Chat");
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    held.resolve();
    await choose("Video");
    await page.getByRole("link", { name: "a boat at night" }).waitFor();
    await page.unroute(tasks);
  });

  test("an invalid field is marked, and its error is shown once", async () => {
    await open("video");
    await page.getByRole("textbox", { name: "Prompt" }).fill("a boat");
    await page.getByRole("combobox", { name: "Aspect ratio" }).fill("wide");
    await page.getByRole("button", { name: "Generate", exact: true }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    expect(await page.getByRole("combobox", { name: "Aspect ratio" }).getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("alert").count()).toBe(1);
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(opened.browser.faults).toEqual([]);
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

/** The facts below a response, once the cost is loaded from the ledger. */
async function factsOf(page: Page | Locator): Promise<Record<string, string>> {
  const facts: Locator = page.locator(".call-facts");
  await facts.getByText(/^(?:about )?\$/).waitFor();
  const names = await facts.locator("dt").allInnerTexts();
  const values = await facts.locator("dd").allInnerTexts();
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""]));
}
