import type { Locator, Page } from "playwright-core";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";

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

export interface OpenedPlayground {
  readonly opened: OpenedConsole;
  /** The id of the key that the playground calls with. */
  readonly key: string;
  /** Shared by all tests, so that the app is loaded once. */
  readonly page: Page;
  url(type: string): string;
  open(type: string): Promise<void>;
  /** Reloads the page, so that no state of earlier tests remains. */
  openAnew(type: string): Promise<void>;
  /** Switches the model type like a user, so that the playground keeps its state. */
  choose(type: string): Promise<void>;
}

export async function openPlayground(): Promise<OpenedPlayground> {
  const opened = await openConsole({ config: configFor });
  const { key } = await opened.ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "try" } });
  const page = await opened.page({ permissions: ["microphone"] });
  const url = (type: string) => `/console/playground?workspace=acme&key=${key.id}&type=${type}`;
  const model = page.getByRole("combobox", { name: "Model" });
  return {
    ...{ opened, key: key.id, page, url },
    async open(type) {
      await navigateTo(page, url(type));
      await model.waitFor();
    },
    async openAnew(type) {
      await page.goto(url(type));
      await model.waitFor();
    },
    async choose(type) {
      await page.getByRole("combobox", { name: "Type" }).click();
      await page.getByRole("option", { name: type, exact: true }).click();
    },
  };
}

/** The facts below a response, once the cost is loaded from the ledger. */
export async function factsOf(page: Page | Locator): Promise<Record<string, string>> {
  const facts: Locator = page.locator(".call-facts");
  await facts.getByText(/^(?:about )?\$/).waitFor();
  const names = await facts.locator("dt").allInnerTexts();
  const values = await facts.locator("dd").allInnerTexts();
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""]));
}
