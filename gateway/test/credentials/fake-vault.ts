import type { Clock } from "#ports/index.ts";
import type { Issuer } from "./issuers.ts";

/**
 * HashiCorp Vault's key-value engine (version 2) with its logins.
 * https://developer.hashicorp.com/vault/api-docs
 */
export class FakeVault {
  readonly #clock: Clock;
  /** Secrets by `mount/path`. */
  readonly secrets = new Map<string, Readonly<Record<string, string>>>();
  /** When each token expires, Unix milliseconds. */
  readonly #tokens = new Map<string, number>();
  leaseSeconds = 3_600;
  isSealed = false;
  namespace: string | null = null;
  #count = 0;
  readonly logins: string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  addToken(token: string): void {
    this.#tokens.set(token, this.#clock.now() + this.leaseSeconds * 1_000);
  }

  revokeAll(): void {
    this.#tokens.clear();
  }

  readonly serve: Issuer = async (request) => {
    const path = decodeURIComponent(new URL(request.url).pathname);
    if (this.isSealed) return errors(503, "Vault is sealed");
    if (request.headers.get("x-vault-namespace") !== this.namespace) return errors(404);
    if (path === "/v1/auth/approle/login") return await this.#login(request, { role_id: "role", secret_id: "secret" });
    if (path === "/v1/auth/kubernetes/login") return await this.#login(request, { role: "sluice", jwt: "eyJ.pod" });
    const token = request.headers.get("x-vault-token") ?? "";
    if ((this.#tokens.get(token) ?? 0) <= this.#clock.now()) return errors(403, "permission denied");
    if (path === "/v1/auth/token/renew-self" && request.method === "POST") {
      this.addToken(token);
      return this.#auth(token, "renew-self");
    }
    const [, mount = "", name = ""] = /^\/v1\/([^/]+)\/data\/(.+)$/.exec(path) ?? [];
    const secret = this.secrets.get(`${mount}/${name}`);
    if (secret === undefined) return errors(404);
    const metadata = { created_time: "2026-01-01T00:00:00Z", deletion_time: "", destroyed: false, version: 1 };
    return Response.json({ request_id: "1", lease_duration: 0, data: { data: secret, metadata } });
  };

  async #login(request: Request, expected: Readonly<Record<string, string>>): Promise<Response> {
    const body = (await request.json()) as Readonly<Record<string, string>>;
    const isRight = Object.entries(expected).every(([name, value]) => body[name] === value);
    if (request.method !== "POST" || !isRight) return errors(400, "invalid role or secret ID");
    const token = `hvs.${++this.#count}`;
    this.addToken(token);
    return this.#auth(token, new URL(request.url).pathname);
  }

  #auth(token: string, login: string): Response {
    this.logins.push(login);
    const auth = { client_token: token, lease_duration: this.leaseSeconds, renewable: true, policies: ["default"] };
    return Response.json({ request_id: "1", auth });
  }
}

function errors(status: number, ...texts: readonly string[]): Response {
  return Response.json({ errors: texts }, { status });
}
