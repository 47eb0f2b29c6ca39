import { Failure } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import type { IssuerKey, IssuerMetadata } from "./schemas.ts";

/** Timeout of a request, lifetime of documents, and minimum time between two fetches of keys. */
const issuerMs = 10_000;
const issuerAnswerBytesMax = 256 * 1024;
const issuerDocumentMs = 3_600_000;
const issuerKeysRetryMs = 30_000;

export interface IssuerRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly form?: URLSearchParams;
}

/**
 * Discovery document (OpenID Connect Discovery 1.0) and keys of an issuer, fetched without redirects when needed and cached. An issuer
 * that is down only affects its own users.
 */
export class IssuerDocuments {
  readonly #issuer: string;
  readonly #transport: Transport;
  readonly #metadata: Cached<IssuerMetadata>;
  readonly #keys: Cached<readonly IssuerKey[]>;

  constructor(issuer: string, transport: Transport, clock: Clock) {
    this.#issuer = issuer;
    this.#transport = transport;
    this.#metadata = new Cached(() => this.#readMetadata(), clock);
    this.#keys = new Cached(() => this.#readKeys(), clock);
  }

  metadata(): Promise<IssuerMetadata> {
    return this.#metadata.get(issuerDocumentMs);
  }

  /** The key that a token names. Unknown keys are fetched again, at a limited rate. */
  async key(header: { readonly kid?: string | undefined; readonly alg?: string | undefined }): Promise<IssuerKey> {
    const known = matching(await this.#keys.get(issuerDocumentMs), header);
    const key = known ?? matching(await this.#keys.get(issuerKeysRetryMs), header);
    if (key === undefined) throw invalidAnswer("signed with a key that the issuer does not publish");
    return key;
  }

  /** Sends a request and returns the JSON answer with any status. Throws Failure without one. */
  async ask(request: IssuerRequest): Promise<{ readonly status: number; readonly json: unknown }> {
    const answer = await this.#transport.send(
      {
        method: request.method,
        url: request.url,
        headers: {
          accept: "application/json",
          ...(request.form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }),
          ...request.headers,
        },
        body: request.form === undefined ? null : new TextEncoder().encode(request.form.toString()),
        connectMs: issuerMs,
        headersMs: issuerMs,
        totalMs: issuerMs,
        // Administrators choose issuers, which may be inside their own network. Other addresses come from the document and may not.
        allowPrivateNetwork: URL.parse(request.url)?.origin === new URL(this.#issuer).origin,
      },
      AbortSignal.timeout(issuerMs),
    );
    const bytes = await answer.body.readAll(issuerAnswerBytesMax, "total", issuerMs);
    try {
      return { status: answer.status, json: JSON.parse(new TextDecoder().decode(bytes)) };
    } catch {
      throw invalidAnswer(`status ${answer.status}, not JSON`);
    }
  }

  async #readMetadata(): Promise<IssuerMetadata> {
    const base = this.#issuer.replace(/\/$/, "");
    const { status, json } = await this.ask({ method: "GET", url: `${base}/.well-known/openid-configuration` });
    const { metadataSchema } = await import("./schemas.ts");
    const read = metadataSchema.safeParse(json);
    if (status !== 200 || !read.success) throw invalidAnswer(`no discovery document (status ${status})`);
    // A document of another issuer could send users and their codes anywhere (Discovery 1.0 §4.3).
    if (read.data.issuer.replace(/\/$/, "") !== base)
      throw invalidAnswer("the discovery document names another issuer");
    const secure = base.startsWith("https:");
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = read.data;
    const open = [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint ?? jwks_uri].some(
      (url) => secure && !url.startsWith("https:"),
    );
    if (open) throw invalidAnswer("the discovery document names an address without TLS");
    return Object.freeze(read.data);
  }

  async #readKeys(): Promise<readonly IssuerKey[]> {
    const { jwks_uri } = await this.metadata();
    const { status, json } = await this.ask({ method: "GET", url: jwks_uri });
    const { keysSchema } = await import("./schemas.ts");
    const read = keysSchema.safeParse(json);
    if (status !== 200 || !read.success) throw invalidAnswer(`no keys (status ${status})`);
    return read.data.keys;
  }
}

/** The cached value while it is fresh; failures are not cached. */
class Cached<Value> {
  readonly #read: () => Promise<Value>;
  readonly #clock: Clock;
  #held: { readonly value: Promise<Value>; readonly readMs: number } | null = null;

  constructor(read: () => Promise<Value>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  get(maxAgeMs: number): Promise<Value> {
    const nowMs = this.#clock.monotonic();
    if (this.#held !== null && nowMs < this.#held.readMs + maxAgeMs) return this.#held.value;
    const held = { value: this.#read(), readMs: nowMs };
    this.#held = held;
    held.value.catch(() => {
      if (this.#held === held) this.#held = null;
    });
    return held.value;
  }
}

/** Public keys only, never a shared secret. */
function matching(
  keys: readonly IssuerKey[],
  header: { readonly kid?: string | undefined; readonly alg?: string | undefined },
): IssuerKey | undefined {
  const kind = header.alg?.startsWith("ES") ? "EC" : header.alg === "EdDSA" ? "OKP" : "RSA";
  const usable = keys.filter((key) => key.kty === kind && (key.use ?? "sig") === "sig");
  if (header.kid !== undefined) return usable.find((key) => key.kid === header.kid);
  return usable.length === 1 ? usable[0] : undefined;
}

function invalidAnswer(what: string): Failure {
  return new Failure("upstream_error", `The issuer of single sign-on does not answer as it should: ${what}.`);
}
