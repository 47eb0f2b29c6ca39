import type { ModelConfig, ProviderConfig } from "@sluice/contract";
import { type Overrides, type StartedGateway, startGateway } from "../started-gateway.ts";

/** How an account answers a call. `call` is the number of earlier calls. */
export type Behavior = (request: Request, call: number) => Response | Promise<Response>;

interface Account {
  readonly url: string;
  /** Bodies of the calls so far. */
  readonly bodies: readonly string[];
  behavior: Behavior;
  stop(): void;
}

/** An upstream account on a free loopback port. */
function startAccount(behavior: Behavior): Account {
  const bodies: string[] = [];
  const account = { behavior };
  const server = Bun.serve({
    idleTimeout: 0,
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      bodies.push(await request.clone().text());
      return await account.behavior(request, bodies.length - 1);
    },
  });
  return Object.assign(account, { url: `http://127.0.0.1:${server.port}`, bodies, stop: () => void server.stop(true) });
}

export interface AccountsGateway extends AsyncDisposable {
  readonly gateway: StartedGateway;
  readonly accounts: readonly Account[];
}

export interface AccountsOptions extends Overrides {
  readonly behaviors: readonly Behavior[];
  readonly kind?: string;
  /** The path after the address of an account. Default: /v1. */
  readonly root?: string;
  /** Default: one model `m` with all accounts in order. */
  readonly modelsOf?: (providers: readonly string[]) => ModelConfig[];
}

const price = { input: 1, output: 10 };

/** A gateway with the accounts `a0`, `a1` …, which behave according to `behaviors`. */
export async function startAccounts(options: AccountsOptions): Promise<AccountsGateway> {
  const { behaviors, kind = "openai-compatible", root = "/v1", modelsOf = inOrder, ...overrides } = options;
  const accounts = behaviors.map(startAccount);
  const ids = accounts.map((_, index) => `a${index}`);
  const gateway = await startGateway({
    ...overrides,
    providers: () =>
      accounts.map(
        ({ url }, index): ProviderConfig => ({
          ...{ id: `a${index}`, kind, base_url: `${url}${root}` },
          ...{ api_key: "sk-upstream-0123456789", allow_private_network: true },
        }),
      ),
    models: modelsOf(ids),
  });
  return {
    gateway,
    accounts,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      for (const account of accounts) account.stop();
    },
  };
}

function inOrder(providers: readonly string[]): ModelConfig[] {
  return [{ name: "m", price, deployments: providers.map((provider, index) => ({ provider, priority: index + 1 })) }];
}

/** All accounts with equal priority. */
export function asEquals(providers: readonly string[]): ModelConfig[] {
  return [{ name: "m", price, deployments: providers.map((provider) => ({ provider })) }];
}

const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };

/** Answers chat calls, including streams. */
export const answers: Behavior = async (request) => {
  const { stream } = (await request.json()) as { readonly stream?: boolean };
  const choice = { index: 0, finish_reason: "stop" };
  const base = { id: "c", created: 1, model: "m" };
  if (stream !== true) {
    const message = { role: "assistant", content: "ok" };
    return Response.json({ ...base, object: "chat.completion", choices: [{ ...choice, message }], usage });
  }
  const chunk = { ...base, object: "chat.completion.chunk", choices: [{ ...choice, delta: { content: "ok" } }], usage };
  return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
};

/** Refuses every call with an OpenAI error. */
export function refuses(status: number, code: string | null = null, headers: Record<string, string> = {}): Behavior {
  const body = { error: { message: "No.", type: "invalid_request_error", param: null, code } };
  return () => Response.json(body, { status, headers });
}

export function chatOf(model = "m", more: object = {}): object {
  return { model, messages: [{ role: "user", content: "hello" }], ...more };
}

/** Makes `count` calls at the same time, reads their bodies and returns the statuses. */
export async function callAtOnce(gateway: StartedGateway, count: number, body: object): Promise<readonly number[]> {
  return await Promise.all(Array.from({ length: count }, () => callOnce(gateway, body)));
}

export async function callOnce(gateway: StartedGateway, body: object): Promise<number> {
  const answer = await gateway.chat(body);
  await answer.text();
  return answer.status;
}

/** The number of answers with each status. */
export function countsOf(statuses: readonly number[]): Readonly<Record<number, number>> {
  return Object.fromEntries(
    [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [status, all.length]),
  );
}
