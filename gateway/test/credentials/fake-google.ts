import { checkSignature } from "@sluice/simulator";
import type { Clock } from "#ports/index.ts";
import type { Issuer } from "./issuers.ts";

const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";

/** The metadata server, the Security Token Service and the service account credentials API. */
export class FakeGoogle {
  readonly #clock: Clock;
  audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/k8s";
  subjectToken = "eyJ.kubernetes";
  /** For subject tokens of AWS: the secret of the keys that signed. */
  awsSecret: string | null = null;
  serviceAccount = "bot@proj.iam.gserviceaccount.com";
  refuses = false;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly metadata: Issuer = (request) => {
    const { pathname } = new URL(request.url);
    if (request.headers.get("metadata-flavor") !== "Google") return new Response("canary", { status: 403 });
    if (pathname !== "/computeMetadata/v1/instance/service-accounts/default/token")
      return new Response("", { status: 404 });
    const body = { access_token: `machine-${++this.#count}`, expires_in: 3599, token_type: "Bearer" };
    return Response.json(body, { headers: { "metadata-flavor": "Google" } });
  };

  readonly sts: Issuer = async (request) => {
    const { pathname } = new URL(request.url);
    const form = new URLSearchParams(await request.text());
    const isRight =
      pathname === "/v1/token" &&
      form.get("grant_type") === exchangeGrant &&
      form.get("requested_token_type") === "urn:ietf:params:oauth:token-type:access_token" &&
      form.get("audience") === this.audience &&
      form.get("scope") === "https://www.googleapis.com/auth/cloud-platform";
    if (!isRight || this.refuses || !this.#isSubject(form)) {
      return Response.json({ error: "invalid_grant", error_description: "canary" }, { status: 400 });
    }
    return Response.json({
      access_token: `federated-${++this.#count}`,
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      token_type: "Bearer",
      expires_in: 3600,
    });
  };

  readonly iamCredentials: Issuer = async (request) => {
    const { pathname } = new URL(request.url);
    const body = (await request.json()) as { scope?: unknown; lifetime?: string };
    const isRight = pathname === `/v1/projects/-/serviceAccounts/${this.serviceAccount}:generateAccessToken`;
    const isFederated = request.headers.get("authorization")?.startsWith("Bearer federated-") === true;
    if (!isRight || !isFederated || !Array.isArray(body.scope)) {
      const error = { code: 403, message: "canary", status: "PERMISSION_DENIED" };
      return Response.json({ error }, { status: 403 });
    }
    const seconds = Number(/^(\d+)s$/.exec(body.lifetime ?? "")?.[1] ?? Number.NaN);
    const expireTime = new Date(this.#clock.now() + seconds * 1_000).toISOString();
    return Response.json({ accessToken: `impersonated-${++this.#count}`, expireTime });
  };

  #isSubject(form: URLSearchParams): boolean {
    const token = form.get("subject_token") ?? "";
    if (form.get("subject_token_type") !== "urn:ietf:params:aws:token-type:aws4_request")
      return token === this.subjectToken;
    return this.awsSecret !== null && this.#isAws(token, this.awsSecret);
  }

  /** https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token */
  #isAws(token: string, secret: string): boolean {
    const { url, method, headers } = JSON.parse(decodeURIComponent(token)) as {
      readonly url: string;
      readonly method: string;
      readonly headers: readonly { readonly key: string; readonly value: string }[];
    };
    const { host, pathname, search } = new URL(url);
    const byName = Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), value]));
    const isRight = /^sts\.[a-z0-9-]+\.amazonaws\.com$/.test(host) && search.includes("Action=GetCallerIdentity");
    const isForUs = byName["x-goog-cloud-target-resource"] === this.audience && byName["host"] === host;
    // Google's libraries sign the header in some languages only.
    if (!isRight || !isForUs || method !== "POST") return false;
    const request = { method, path: pathname, query: search.slice(1), headers: byName, body: new Uint8Array(0) };
    return checkSignature(request, secret, this.#clock.now(), "sts") === null;
  }
}
