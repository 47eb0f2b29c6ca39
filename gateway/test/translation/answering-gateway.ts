import type { KeyConfig, ProviderConfig } from "@sluice/contract";
import { type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";

/** A gateway with a model behind each dialect of upstreams; what they answer is written by the test. */
export interface AnsweringGateway extends StartedGateway {
  /** A call whose upstream answers with this: a JSON body, events, or whatever a Response holds. */
  call(path: string, body: object, answer: object | readonly object[]): Promise<Response>;
  /** What the upstream answers to the next calls, in order, whoever makes them; the last answer is given again and again. */
  answers(...said: readonly (object | readonly object[])[]): void;
  /** The body that reached the upstream last. */
  sent(): Readonly<Record<string, unknown>>;
}

export const paths = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
} as const;

export async function startAnsweringGateway(
  more: Omit<Overrides, "keys"> & { readonly keys?: KeyConfig[] } = {},
): Promise<AnsweringGateway> {
  let answers: (() => Response)[] = [() => new Response(null, { status: 500 })];
  let sent = "{}";
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      sent = await request.text();
      const [next = () => new Response(null, { status: 500 })] = answers.length > 1 ? answers.splice(0, 1) : answers;
      return next();
    },
  });
  const at = (id: string, kind: string, path: string, settings: ProviderConfig["settings"] = {}): ProviderConfig => ({
    id,
    kind,
    base_url: `http://127.0.0.1:${server.port}${path}`,
    api_key: `sk-upstream-of-${id}`,
    allow_private_network: true,
    settings,
  });
  const price = { input: 1, output: 10, web_search: 10 };
  const gateway = await startGateway({
    providers: () => [
      at("chat", "openai-compatible", "/v1"),
      at("openai", "openai", "/v1", { endpoints: ["responses"] }),
      at("claude", "anthropic", ""),
      at("google", "gemini", "/v1beta", { endpoints: ["generate"] }),
    ],
    models: [
      { name: "of-chat", deployments: [{ provider: "chat", upstream_model: "up" }], price },
      { name: "of-chat-search", deployments: [{ provider: "chat", upstream_model: "gpt-5-search-api" }], price },
      { name: "of-responses", deployments: [{ provider: "openai", upstream_model: "gpt-5" }], price },
      { name: "of-messages", deployments: [{ provider: "claude", upstream_model: "claude-opus-5" }], price },
      { name: "of-gemini", deployments: [{ provider: "google", upstream_model: "gemini-3-pro" }], price },
    ],
    ...more,
  });
  return {
    ...gateway,
    call(path, body, said) {
      answers = [asResponse(said)];
      return gateway.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
    },
    answers(...said) {
      answers = said.map(asResponse);
    },
    sent: () => JSON.parse(sent),
    async stop() {
      await gateway.stop();
      await server.stop(true);
    },
  };
}

function asResponse(said: object | readonly object[]): () => Response {
  if (said instanceof Response) return () => said;
  return () => (Array.isArray(said) ? events(said) : Response.json(said));
}

function events(all: readonly (object & { readonly type?: string })[]): Response {
  const text = all.map((event) => {
    const named = event.type === undefined ? "" : `event: ${event.type}\n`;
    return `${named}data: ${JSON.stringify(event)}\n\n`;
  });
  return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
}
