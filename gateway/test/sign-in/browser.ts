import type { SignIn } from "#ports/index.ts";

export interface BrowserResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer.
  readonly json: any;
  readonly headers: Headers;
  readonly cookies: readonly string[];
}

/** A browser with its own cookies that calls the console's sign-in from one IP address. */
export class Browser {
  readonly #signIn: SignIn;
  readonly origin: string;
  readonly #jar = new Map<string, string>();
  ip = "192.0.2.1";

  constructor(signIn: SignIn, origin = "http://localhost:8811") {
    this.#signIn = signIn;
    this.origin = origin;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<BrowserResponse> {
    return this.send(new Request(`${this.origin}${path}`, { headers: this.headers(headers) }));
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<BrowserResponse> {
    return this.send(
      new Request(`${this.origin}${path}`, {
        method: "POST",
        headers: this.headers({
          origin: this.origin,
          "sec-fetch-site": "same-origin",
          "content-type": "application/json",
          ...headers,
        }),
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
  }

  async send(request: Request): Promise<BrowserResponse> {
    const answer = await this.#signIn.handle(request, { ip: this.ip });
    const cookies = answer.headers.getSetCookie();
    for (const cookie of cookies) this.#keep(cookie);
    const text = await answer.text();
    const json = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text;
    return { status: answer.status, json, headers: answer.headers, cookies };
  }

  /** The user of this browser's session. */
  session() {
    return this.#signIn.session(new Request(`${this.origin}/api/session`, { headers: this.headers() }));
  }

  signInWith(email: string, password: string): Promise<BrowserResponse> {
    return this.post("/api/auth/sign-in/email", { email, password });
  }

  headers(more: Record<string, string> = {}): Record<string, string> {
    const cookie = [...this.#jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const host = new URL(this.origin).host;
    return { host, "user-agent": "test browser", ...(cookie === "" ? {} : { cookie }), ...more };
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#jar;
  }

  /** Adds a stolen or foreign cookie. */
  put(name: string, value: string): void {
    this.#jar.set(name, value);
  }

  forget(): void {
    this.#jar.clear();
  }

  #keep(cookie: string): void {
    const [pair = "", ...attributes] = cookie.split(/;\s*/);
    const name = pair.slice(0, pair.indexOf("="));
    const ended = attributes.some((attribute) => /^max-age=0$/i.test(attribute));
    if (ended) this.#jar.delete(name);
    else this.#jar.set(name, pair.slice(pair.indexOf("=") + 1));
  }
}
