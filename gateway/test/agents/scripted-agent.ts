import { expect } from "bun:test";

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer as freely as a caller would.
  readonly body: any;
  readonly headers: Headers;
}

interface Metadata {
  readonly device_authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
}

/** A login as the recorded program stores it. */
export interface Login {
  accessToken: string;
  refreshToken: string;
}

/**
 * A coding agent that sends the requests, forms and headers of a recorded one (docs/agent-sign-in.md), in the same order. It
 * starts with the base URL only and reads the other URLs from the metadata.
 */
export class ScriptedAgent {
  readonly #base: string;
  #metadata: Metadata | null = null;

  constructor(base: string) {
    this.#base = base;
  }

  async metadata(): Promise<Metadata> {
    const answer = await this.#ask("/.well-known/oauth-authorization-server");
    expect(answer.status).toBe(200);
    this.#metadata = answer.body as Metadata;
    return this.#metadata;
  }

  /** Sends only `surface=claude_code`. */
  async device(body = "surface=claude_code"): Promise<Answer> {
    const { device_authorization_endpoint } = this.#metadata ?? (await this.metadata());
    return await this.#form(device_authorization_endpoint, body);
  }

  poll(deviceCode: string): Promise<Answer> {
    const grant = encodeURIComponent("urn:ietf:params:oauth:grant-type:device_code");
    return this.token(`grant_type=${grant}&device_code=${encodeURIComponent(deviceCode)}`);
  }

  refresh(refreshToken: string): Promise<Answer> {
    return this.token(`grant_type=refresh_token&refresh_token=${encodeURIComponent(refreshToken)}`);
  }

  async token(body: string, type?: string): Promise<Answer> {
    const { token_endpoint } = this.#metadata ?? (await this.metadata());
    return await this.#form(token_endpoint, body, type);
  }

  /** As /logout does: revokes the access token, then the refresh token with its hint. */
  async logout({ accessToken, refreshToken }: Login): Promise<readonly Answer[]> {
    const { revocation_endpoint } = this.#metadata ?? (await this.metadata());
    return [
      await this.#form(revocation_endpoint, `token=${encodeURIComponent(accessToken)}`),
      await this.#form(revocation_endpoint, `token=${encodeURIComponent(refreshToken)}&token_type_hint=refresh_token`),
    ];
  }

  bearer(path: string, accessToken: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#ask(path, {
      headers: { authorization: `Bearer ${accessToken}`, "user-agent": "claude-code/2.1.330", ...headers },
    });
  }

  /** Sends a prompt with the headers of a `-p` run. */
  message(accessToken: string, model: string, more: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.#model("/v1/messages?beta=true", accessToken, {
      model,
      max_tokens: 64,
      messages: userMessage("hi"),
      ...more,
    });
  }

  /** Counts the tokens of a prompt. */
  count(accessToken: string, model: string, text = "hi"): Promise<Answer> {
    return this.#model("/v1/messages/count_tokens?beta=true", accessToken, { model, messages: userMessage(text) });
  }

  #model(path: string, accessToken: string, body: object): Promise<Answer> {
    return this.#ask(path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${accessToken}`,
        "content-type": "application/json",
        "user-agent": "claude-cli/2.1.330 (external, sdk-cli)",
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "interleaved-thinking-2025-05-14,context-management-2025-06-27,made-up-2026-01-01",
        "anthropic-dangerous-direct-browser-access": "true",
        "x-app": "cli",
        "X-Claude-Code-Session-Id": "0b6c6f1e-6f0f-4a8c-9d0a-3c1c5ac0a001",
        "X-Stainless-Lang": "js",
        "X-Stainless-Retry-Count": "0",
      },
      body: JSON.stringify(body),
    });
  }

  #form(url: string, body: string, type = "application/x-www-form-urlencoded"): Promise<Answer> {
    return this.#ask(url, {
      method: "POST",
      headers: { "content-type": type, "user-agent": "claude-code/2.1.330" },
      body,
    });
  }

  async #ask(url: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(url.startsWith("/") ? this.#base + url : url, { redirect: "manual", ...init });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
  }
}

const userMessage = (content: string) => [{ role: "user", content }];
