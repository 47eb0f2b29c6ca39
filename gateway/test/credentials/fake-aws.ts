import { createHash, verify, X509Certificate } from "node:crypto";
import { checkSignature } from "@sluice/simulator";
import type { Clock } from "#ports/index.ts";
import type { Issuer } from "./issuers.ts";

interface FakeKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/**
 * STS, the instance metadata service, the container agent and IAM Roles Anywhere as AWS documents them. Signatures are
 * verified against the keys that they issued.
 */
export class FakeAws {
  readonly #clock: Clock;
  /** Keys by access key id. */
  readonly #keys = new Map<string, FakeKeys>();
  #count = 0;
  webToken = "eyJ.web.token";
  agentToken = "agent-token";
  externalId: string | null = null;
  /** The certificate that Roles Anywhere trusts (PEM). */
  trusted: string | null = null;
  /** Error codes by the action or service that refuses. */
  refuses: Readonly<Record<string, string>> = {};
  readonly roles: string[] = [];
  lifeMs = 3_600_000;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(): FakeKeys {
    const number = ++this.#count;
    const keys = {
      accessKeyId: `ASIA${String(number).padStart(16, "0")}`,
      secretAccessKey: `secret+/${number}`,
      sessionToken: `session+/token${number}==`,
    };
    this.#keys.set(keys.accessKeyId, keys);
    return keys;
  }

  addUser(keys: FakeKeys): void {
    this.#keys.set(keys.accessKeyId, keys);
  }

  secretOf(accessKeyId: string): string | null {
    return this.#keys.get(accessKeyId)?.secretAccessKey ?? null;
  }

  get #expiration(): string {
    return new Date(this.#clock.now() + this.lifeMs).toISOString().replace(/\.\d+/, "");
  }

  readonly sts: Issuer = async (request) => {
    const text = await request.text();
    const form = new URLSearchParams(text);
    const action = form.get("Action") ?? "";
    const refusal = this.refuses[action];
    if (refusal !== undefined) return stsError(403, refusal);
    if (request.method !== "POST" || form.get("Version") !== "2011-06-15" || form.get("RoleSessionName") === null) {
      return stsError(400, "ValidationError");
    }
    if (action === "AssumeRoleWithWebIdentity") {
      if (request.headers.has("authorization")) return stsError(400, "ValidationError");
      if (form.get("WebIdentityToken") !== this.webToken) return stsError(400, "InvalidIdentityToken");
    } else if (action === "AssumeRole") {
      if (!(await this.#isSigned(request, text))) return stsError(403, "SignatureDoesNotMatch");
      if (form.get("ExternalId") !== this.externalId) return stsError(403, "AccessDenied");
    } else return stsError(400, "InvalidAction");
    this.roles.push(form.get("RoleArn") ?? "");
    const { accessKeyId, secretAccessKey, sessionToken } = this.issue();
    return new Response(
      `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <${action}Result>
    <AssumedRoleUser><AssumedRoleId>AROA:sluice</AssumedRoleId><Arn>${form.get("RoleArn")}</Arn></AssumedRoleUser>
    <Credentials>
      <AccessKeyId>${accessKeyId}</AccessKeyId>
      <SecretAccessKey>${secretAccessKey}</SecretAccessKey>
      <SessionToken>${sessionToken}</SessionToken>
      <Expiration>${this.#expiration}</Expiration>
    </Credentials>
  </${action}Result>
  <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
</${action}Response>`,
      { headers: { "content-type": "text/xml" } },
    );
  };

  readonly metadata: Issuer = (request) => {
    const { pathname } = new URL(request.url);
    if (this.refuses["imds"] !== undefined) return new Response("", { status: 403 });
    if (pathname === "/latest/api/token") {
      const seconds = Number(request.headers.get("x-aws-ec2-metadata-token-ttl-seconds"));
      const isValid = request.method === "PUT" && seconds >= 1 && seconds <= 21_600;
      return new Response(isValid ? "imds-session" : "", { status: isValid ? 200 : 400 });
    }
    if (request.headers.get("x-aws-ec2-metadata-token") !== "imds-session") return new Response("", { status: 401 });
    if (pathname === "/latest/meta-data/iam/security-credentials/") return new Response("node-role");
    if (pathname !== "/latest/meta-data/iam/security-credentials/node-role") return new Response("", { status: 404 });
    return Response.json({
      Code: "Success",
      LastUpdated: new Date(this.#clock.now()).toISOString(),
      Type: "AWS-HMAC",
      ...this.#document(),
    });
  };

  readonly agent: Issuer = (request) => {
    if (request.headers.get("authorization") !== this.agentToken) {
      return Response.json({ code: "InvalidToken", message: "no" }, { status: 401 });
    }
    return Response.json({ RoleArn: "arn:aws:iam::123456789012:role/task", ...this.#document() });
  };

  /** https://docs.aws.amazon.com/rolesanywhere/latest/userguide/authentication-sign-process.html */
  readonly rolesAnywhere: Issuer = async (request) => {
    const body = await request.text();
    const { roleArn, profileArn, trustAnchorArn, durationSeconds } = JSON.parse(body) as Record<string, unknown>;
    const isWhole = [roleArn, profileArn, trustAnchorArn].every((arn) => String(arn).startsWith("arn:aws:"));
    if (!isWhole || Number(durationSeconds) < 900) return anywhereError(400, "ValidationException");
    if (!this.#isSignedByCertificate(request, body)) return anywhereError(403, "AccessDeniedException");
    this.roles.push(String(roleArn));
    const { accessKeyId, secretAccessKey, sessionToken } = this.issue();
    const credentials = { accessKeyId, secretAccessKey, sessionToken, expiration: this.#expiration };
    return Response.json({ credentialSet: [{ credentials, roleArn }], subjectArn: "arn:aws:x" }, { status: 201 });
  };

  #document() {
    const { accessKeyId, secretAccessKey, sessionToken } = this.issue();
    return {
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: sessionToken,
      Expiration: this.#expiration,
    };
  }

  async #isSigned(request: Request, text: string): Promise<boolean> {
    const headers = Object.fromEntries(request.headers);
    const id = /Credential=([^/]+)\//.exec(headers["authorization"] ?? "")?.[1] ?? "";
    const keys = this.#keys.get(id);
    if (keys === undefined || (headers["x-amz-security-token"] ?? null) !== keys.sessionToken) return false;
    const url = new URL(request.url);
    const signed = {
      method: request.method,
      path: url.pathname,
      query: url.search.slice(1),
      headers: { host: url.host, ...headers },
      body: new TextEncoder().encode(text),
    };
    return checkSignature(signed, keys.secretAccessKey, this.#clock.now(), "sts") === null;
  }

  #isSignedByCertificate(request: Request, body: string): boolean {
    const url = new URL(request.url);
    const headers: Record<string, string> = { host: url.host, ...Object.fromEntries(request.headers) };
    const found =
      /^AWS4-X509-(RSA|ECDSA)-SHA256 Credential=(\d+)\/(\d{8}\/[\w-]+\/rolesanywhere\/aws4_request), SignedHeaders=([\w;-]+), Signature=([0-9a-f]+)$/.exec(
        headers["authorization"] ?? "",
      );
    if (found === null || this.trusted === null) return false;
    const [, algorithm, serial, scope, signedHeaders = "", signature = ""] = found;
    const certificate = new X509Certificate(Buffer.from(headers["x-amz-x509"] ?? "", "base64"));
    const trusted = new X509Certificate(this.trusted);
    if (certificate.fingerprint256 !== trusted.fingerprint256) return false;
    if (BigInt(`0x${certificate.serialNumber}`).toString() !== serial) return false;
    const names = signedHeaders.split(";");
    if (!["content-type", "host", "x-amz-date", "x-amz-x509"].every((name) => names.includes(name))) return false;
    const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
    const canonical = ["POST", url.pathname, "", lines, signedHeaders, sha256(body)].join("\n");
    const toSign = [`AWS4-X509-${algorithm}-SHA256`, headers["x-amz-date"], scope, sha256(canonical)].join("\n");
    return verify("sha256", Buffer.from(toSign), certificate.publicKey, Buffer.from(signature, "hex"));
  }
}

function stsError(status: number, code: string): Response {
  return new Response(
    `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>User arn:aws:iam::123456789012:user/canary is not allowed</Message></Error></ErrorResponse>`,
    { status, headers: { "content-type": "text/xml" } },
  );
}

function anywhereError(status: number, code: string): Response {
  return Response.json({ message: "canary" }, { status, headers: { "x-amzn-errortype": `${code}:http://internal` } });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
