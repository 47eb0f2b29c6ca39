import type { KeyConfig, ProviderConfig } from "@sluice/contract";
import { type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";

/** A gateway with one model per upstream dialect. The test sets the upstreams' answers. */
export interface AnsweringGateway extends StartedGateway {
  /** Sends a call whose upstream returns this answer: a JSON body, events or a Response. */
  call(path: string, body: object, answer: object | readonly object[]): Promise<Response>;
  /** Sets the answers to the next upstream requests, in order. The last one is repeated. */
  respondWith(...responses: readonly (object | readonly object[])[]): void;
  /** The last body that reached an upstream. */
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
  let nextAnswers: (() => Response)[] = [() => new Response(null, { status: 500 })];
  let sent = "{}";
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      sent = await request.text();
      const [next = () => new Response(null, { status: 500 })] =
        nextAnswers.length > 1 ? nextAnswers.splice(0, 1) : nextAnswers;
      return next();
    },
  });
  const account = (
    id: string,
    kind: string,
    path: string,
    settings: ProviderConfig["settings"] = {},
  ): ProviderConfig => ({
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
      account("chat", "openai-compatible", "/v1"),
      account("openai", "openai", "/v1", { endpoints: ["responses"] }),
      account("claude", "anthropic", ""),
      account("google", "gemini", "/v1beta", { endpoints: ["generate"] }),
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
    call(path, body, answer) {
      nextAnswers = [asResponse(answer)];
      return gateway.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
    },
    respondWith(...responses) {
      nextAnswers = responses.map(asResponse);
    },
    sent: () => JSON.parse(sent),
    async stop() {
      await gateway.stop();
      await server.stop(true);
    },
  };
}

function asResponse(answer: object | readonly object[]): () => Response {
  if (answer instanceof Response) return () => answer;
  return () => (Array.isArray(answer) ? events(answer) : Response.json(answer));
}

function events(all: readonly (object & { readonly type?: string })[]): Response {
  const text = all.map((event) => {
    const named = event.type === undefined ? "" : `event: ${event.type}\n`;
    return `${named}data: ${JSON.stringify(event)}\n\n`;
  });
  return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
}
