import { Failure } from "#core/index.ts";
import type { Clock, Transport } from "#ports/index.ts";
import type { IssuerKey, IssuerMetadata } from "./schemas.ts";

/** One request to an issuer and its answer, how long its documents are used, and the wait before its keys are fetched again. */
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
 * What an issuer says about itself (OpenID Connect Discovery 1.0) and the keys it signs with, read through the one door
 * out, never with a redirect, and kept for a while. Read when needed: an issuer that is down concerns only its own users.
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

  /** The key a token says it was signed with. One that is not known is looked for again, but not at every guess. */
  async key(header: { readonly kid?: string | undefined; readonly alg?: string | undefined }): Promise<IssuerKey> {
    const known = matching(await this.#keys.get(issuerDocumentMs), header);
    const key = known ?? matching(await this.#keys.get(issuerKeysRetryMs), header);
    if (key === undefined) throw invalidAnswer("signed with a key that the issuer does not publish");
    return key;
  }

  /** One request to the issuer, its answer as JSON whatever the status. Throws Failure when there is none. */
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
        // Administrators name issuers, and many a company's is inside its own network. Other addresses are the document's word.
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
    // A document of another issuer could send our users, and their codes, anywhere (Discovery 1.0 §4.3).
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

/** What was read last, as long as it is young enough; a reading that failed is forgotten. */
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

/** Only keys with a public half: a shared secret must never stand in for one. */
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
