/** The administrator that the first start creates when `administratorEnvironment` is in its environment. */
const administrator = { email: "ada@example.com", password: "correct horse battery" };

export const administratorEnvironment = {
  SLUICE_ADMIN_EMAIL: administrator.email,
  SLUICE_ADMIN_PASSWORD: administrator.password,
} as const;

/** Calls the admin API, like the console (signed in) or like a script (with an admin token). */
export class AdminClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  static async signIn(url: string): Promise<AdminClient> {
    const page = { origin: url, "sec-fetch-site": "same-origin", "content-type": "application/json" };
    const answer = await fetch(`${url}/api/auth/sign-in/email`, {
      method: "POST",
      headers: page,
      body: JSON.stringify(administrator),
    });
    if (answer.status !== 200) throw new Error(`sign-in: ${answer.status} ${await answer.text()}`);
    const cookie = answer.headers
      .getSetCookie()
      .map((each) => each.split(";")[0] ?? "")
      .join("; ");
    return new AdminClient(url, { ...page, cookie });
  }

  static withToken(url: string, token: string): AdminClient {
    return new AdminClient(url, { authorization: `Bearer ${token}`, "content-type": "application/json" });
  }

  async call(method: string, path: string, body?: unknown): Promise<Response> {
    return await fetch(`${this.#url}${path}`, {
      method,
      headers: this.#headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** Returns the JSON of a successful answer; throws otherwise. */
  async json(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.call(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }
}
