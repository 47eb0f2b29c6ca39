import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import type { BrowserContextOptions, Page } from "playwright-core";
import { type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

/** The first administrator. */
export const email = "ada@example.com";

const desktop = { viewport: { width: 1_440, height: 900 } };

export interface OpenedConsole {
  readonly simulator: RunningSimulator;
  readonly gateway: StartedGateway;
  readonly ada: SignedInUser;
  readonly browser: OpenedBrowser;
  /** Opens a page where ada is signed in, 1,440 by 900 pixels by default. */
  page(options?: BrowserContextOptions): Promise<Page>;
  chat(secret: string, request?: Chat): Promise<ChatAnswer>;
  stop(): Promise<void>;
}

interface Chat {
  /** Added to the body; the default is a short chat with the model `fast`. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

interface ChatAnswer {
  readonly status: number;
  readonly requestId: string;
  readonly text: string;
}

export interface ConsoleOptions {
  /** Text of the config file, or a function of the simulator's address. */
  readonly config?: string | ((upstream: string) => string);
  /** The models that the simulator lists. */
  readonly models?: readonly string[];
}

/** Starts a gateway with a simulated provider and a first administrator, and a browser. */
export async function openConsole({ config, models }: ConsoleOptions = {}): Promise<OpenedConsole> {
  const simulator = serveSimulator(models === undefined ? {} : { models });
  const text = typeof config === "function" ? config(simulator.url) : config;
  const gateway = await startGateway({
    administrator: { email, password },
    ...(text === undefined ? {} : { config: text }),
  });
  const [ada, browser] = await Promise.all([signInAs(gateway.url, email), openBrowser(gateway.url)]);
  return {
    ...{ simulator, gateway, ada, browser },
    page: (options = desktop) => ada.page(browser, options),
    chat: async (secret, { body, headers } = {}) => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${secret}`, ...headers },
        body: JSON.stringify({
          model: "fast",
          messages: [{ role: "user", content: "Hello" }],
          max_tokens: 50,
          ...body,
        }),
      });
      const { status } = answer;
      return { status, requestId: answer.headers.get("x-request-id") ?? "", text: await answer.text() };
    },
    stop: async () => {
      await browser.close();
      await gateway.stop();
      simulator.stop();
    },
  };
}

/** A config file with models at the simulator, by name with their price, and the workspace acme, which may call them. `more`: other parts. */
export function simulatedModels(prices: Readonly<Record<string, object>>, more: object = {}) {
  return (upstream: string): string =>
    JSON.stringify({
      providers: [{ id: "lab", kind: "openai-compatible", base_url: upstream, allow_private_network: true }],
      models: Object.entries(prices).map(([name, price]) => ({ name, deployments: [{ provider: "lab" }], price })),
      workspaces: [{ slug: "acme", name: "acme", models: ["*"], groups: [{ name: "default" }] }],
      ...more,
    });
}
