import { describe, expect, test } from "bun:test";
import { createHash, createHmac, createVerify, generateKeyPairSync } from "node:crypto";
import { bounds, type Failure, type Provider, Secret } from "#core/index.ts";
import { contextOf } from "../../test/credentials/issuers.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { draftOf, kindOf, laneOf, now, options, providerOf } from "../../test/provider-fixture.ts";
import { noWorkload } from "../../test/workload-fixture.ts";

describe("AWS request signing", () => {
  const aws = {
    region: "eu-west-1",
    access_key_id: "AKIDEXAMPLE",
    secret_access_key: "wJalrXUtnFEMI",
    session_token: "tok",
  };
  const provider = providerOf("bedrock", { secret: null, settings: aws });

  test("signs a request with Signature Version 4", async () => {
    const model = "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.amazon.nova-pro-v1:0";
    const draft = draftOf(provider, laneOf("bedrock", "generate", model), model, { messages: [] });
    await kindOf("bedrock").authorize(draft, options);
    const hash = (text: string | Uint8Array): string => createHash("sha256").update(text).digest("hex");
    const digest = hash(draft.body ?? "");
    const path = `/model/${encodeURIComponent(encodeURIComponent(model))}/converse-stream`;
    const signed = "content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token";
    const canonical = [
      "POST",
      path,
      "",
      "content-type:application/json",
      "host:bedrock-runtime.eu-west-1.amazonaws.com",
      `x-amz-content-sha256:${digest}`,
      "x-amz-date:20260102T030405Z",
      "x-amz-security-token:tok",
      "",
      signed,
      digest,
    ].join("\n");
    const scope = "20260102/eu-west-1/bedrock/aws4_request";
    const mac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
    let key = mac("AWS4wJalrXUtnFEMI", "20260102");
    for (const part of ["eu-west-1", "bedrock", "aws4_request"]) key = mac(key, part);
    const signature = mac(key, ["AWS4-HMAC-SHA256", "20260102T030405Z", scope, hash(canonical)].join("\n")).toString(
      "hex",
    );
    expect(draft.headers["authorization"]).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
    );
    expect(draft.headers).toMatchObject({ "x-amz-date": "20260102T030405Z", "x-amz-security-token": "tok" });
    expect(JSON.stringify(draft.headers)).not.toContain(aws.secret_access_key);
    expect(draft.headers["host"]).toBeUndefined();
  });

  test("lets other work run while it signs a large body", async () => {
    const lane = laneOf("bedrock", "generate", "m");
    // Loads what is loaded with the first call.
    await kindOf("bedrock").authorize(draftOf(provider, lane, "m", {}), options);
    const draft = draftOf(provider, lane, "m", { text: "a".repeat(bounds.bodyTurnBytes * 2) });
    let turns = 0;
    const count = (): void => {
      turns++;
      waiting = setImmediate(count);
    };
    let waiting = setImmediate(count);
    await kindOf("bedrock").authorize(draft, options);
    clearImmediate(waiting);
    expect(turns).toBeGreaterThanOrEqual(2);
    const digest = createHash("sha256").update(draft.body ?? "");
    expect(draft.headers["x-amz-content-sha256"]).toBe(digest.digest("hex"));
  });

  test("fails without credentials, so that another deployment is tried", async () => {
    const bare = providerOf("bedrock", { secret: null });
    const draft = draftOf(bare, laneOf("bedrock", "generate", "m"), "m", {});
    const failed = Promise.resolve(kindOf("bedrock").authorize(draft, options));
    await expect(failed).rejects.toMatchObject({ code: "upstream_error", retry: "other" });
  });
});

describe("a Google service account", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = {
    type: "service_account",
    client_email: "bot@proj.iam.gserviceaccount.com",
    private_key_id: "kid-1",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    token_uri: "https://oauth2.googleapis.com/token",
  };
  const clock = new FakeClock(now);
  const withSecret = (text: string): Provider => providerOf("vertex", { secret: new Secret(text) });

  async function issued(text: string, answer: Response) {
    let form = new URLSearchParams();
    const google = async (request: Request) => {
      form = new URLSearchParams(await request.text());
      return answer;
    };
    const context = contextOf({ "oauth2.googleapis.com": google }, noWorkload, clock);
    const token = await kindOf("vertex").tokens?.(withSecret(text))?.(context);
    return { token, form, url: context.sent[0]?.url };
  }
  const good = () => Response.json({ access_token: "ya29.x", expires_in: 3599, token_type: "Bearer" });

  test("requests a token with a signed claim", async () => {
    const { token, form, url } = await issued(JSON.stringify(key), good());
    expect([token, url]).toEqual([{ credential: "ya29.x", expiresInMs: 3_599_000 }, key.token_uri]);
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [header = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(header)).toEqual({ alg: "RS256", typ: "JWT", kid: "kid-1" });
    const issuedAt = now / 1_000;
    expect(read(claims)).toEqual({
      iss: key.client_email,
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: key.token_uri,
      iat: issuedAt,
      exp: issuedAt + 3_600,
    });
    const verifier = createVerify("RSA-SHA256").update(`${header}.${claims}`);
    expect(verifier.verify(publicKey, Buffer.from(signature, "base64url"))).toBe(true);
  });

  test("sends the exchanged token, or a configured access token as it is", async () => {
    const refused = issued(JSON.stringify(key), Response.json({ error: "invalid_grant" }, { status: 400 }));
    await expect(refused).rejects.toThrow("no access token");
    const lane = laneOf("vertex", "generate", "m");
    const draft = draftOf(withSecret(JSON.stringify(key)), lane, "m");
    await kindOf("vertex").authorize(draft, { now, token: "ya29.x" });
    expect(draft.headers["authorization"]).toBe("Bearer ya29.x");
    expect(kindOf("vertex").tokens?.(withSecret("ya29.direct"))).toBeNull();
  });

  test("rejects an invalid key without quoting it", async () => {
    for (const text of [JSON.stringify({ ...key, private_key: "not-a-key" }), '{"client_email":"x"}']) {
      const failure = await issued(text, good()).then(
        () => null,
        (thrown: unknown) => thrown as Failure,
      );
      expect(failure).toMatchObject({ code: "upstream_error", retry: "other" });
      expect(failure?.message).not.toContain("not-a-key");
    }
  });
});
