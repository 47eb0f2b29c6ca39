import { beforeEach, describe, expect, test } from "bun:test";
import type { Provider } from "#core/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { draftOf, kindOf, laneOf, now, providerOf } from "../provider-fixture.ts";
import { workloadOf } from "../workload-fixture.ts";
import { contextOf, type Issuer } from "./issuers.ts";

const file = "/var/run/secrets/tokens/sluice";
const machine = { SLUICE_SECRET_REFERENCES: "file:///var/run/secrets/tokens/" };
let subject = "eyJ.projected";
let sent: ReturnType<typeof contextOf>["sent"] = [];
beforeEach(() => {
  subject = "eyJ.projected";
});

/** OpenAI's token service, by the SDK's `WorkloadIdentityAuth`. */
const openai: Issuer = async (request) => {
  const body = (await request.json()) as Record<string, unknown>;
  const isRight =
    new URL(request.url).pathname === "/oauth/token" &&
    request.headers.get("content-type") === "application/json" &&
    body["grant_type"] === "urn:ietf:params:oauth:grant-type:token-exchange" &&
    body["subject_token_type"] === "urn:ietf:params:oauth:token-type:jwt" &&
    body["identity_provider_id"] === "idp_1" &&
    body["service_account_id"] === "sa_1";
  if (!isRight) return Response.json({ error: "invalid_request", error_description: "canary" }, { status: 400 });
  if (body["subject_token"] !== "eyJ.projected") {
    return Response.json({ error: "invalid_grant", error_description: "canary" }, { status: 401 });
  }
  return Response.json({ access_token: "openai-token", expires_in: 3_600, token_type: "Bearer" });
};

/** Anthropic's token endpoint, by the SDK's `oidcFederationProvider`. */
const anthropic: Issuer = async (request) => {
  const body = (await request.json()) as Record<string, unknown>;
  const isRight =
    new URL(request.url).pathname === "/v1/oauth/token" &&
    request.headers.get("anthropic-beta") === "oauth-2025-04-20,oidc-federation-2026-04-01" &&
    body["grant_type"] === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
    body["federation_rule_id"] === "fdrl_1" &&
    body["organization_id"] === "org-1";
  if (!isRight || body["assertion"] !== "eyJ.projected") {
    return Response.json({ error: "invalid_grant", error_description: "canary" }, { status: 401 });
  }
  const scope = String(body["workspace_id"] ?? "none");
  return Response.json({ access_token: `anthropic-${scope}`, expires_in: 600, token_type: "bearer" });
};

const openaiAccount = (changes: Partial<Provider> = {}) =>
  providerOf("openai", {
    secret: null,
    settings: {
      auth: "workload_identity",
      identity_file: file,
      identity_provider_id: "idp_1",
      service_account_id: "sa_1",
    },
    ...changes,
  });
const anthropicAccount = (settings: object = {}, changes: Partial<Provider> = {}) =>
  providerOf("anthropic", {
    secret: null,
    settings: {
      auth: "workload_identity",
      identity_file: file,
      federation_rule_id: "fdrl_1",
      organization_id: "org-1",
      ...settings,
    },
    ...changes,
  });

async function tokenOf(provider: Provider, variables: Readonly<Record<string, string>> = machine) {
  const context = contextOf(
    { "auth.openai.com": openai, "api.anthropic.com": anthropic },
    workloadOf(variables, { [file]: subject }),
    new FakeClock(now),
    provider,
  );
  sent = context.sent;
  const issue = kindOf(provider.kind).tokens?.(provider);
  if (issue == null) throw new Error("the account needs no token");
  return await issue(context);
}

describe("workload identity", () => {
  test("of OpenAI exchanges the token of a file", async () => {
    const provider = openaiAccount();
    const token = await tokenOf(provider);
    expect(token).toEqual({ credential: "openai-token", expiresInMs: 3_600_000 });
    const draft = draftOf(provider, laneOf("openai", "chat"), "gpt");
    await kindOf("openai").authorize(draft, { now, token: token.credential });
    expect(draft.headers["authorization"]).toBe("Bearer openai-token");
  });

  test("of Anthropic exchanges the token of a file, and calls need a beta", async () => {
    const provider = anthropicAccount({ workspace_id: "wrkspc_1" });
    const token = await tokenOf(provider);
    expect(token).toEqual({ credential: "anthropic-wrkspc_1", expiresInMs: 600_000 });
    const draft = draftOf(provider, laneOf("anthropic", "messages"), "claude");
    draft.headers["anthropic-beta"] = "context-1m-2025-08-07";
    await kindOf("anthropic").authorize(draft, { now, token: token.credential });
    expect(draft.headers).toMatchObject({
      authorization: "Bearer anthropic-wrkspc_1",
      "anthropic-beta": "context-1m-2025-08-07,oauth-2025-04-20",
    });
    expect(draft.headers["x-api-key"]).toBeUndefined();
  });

  test("of Anthropic uses the file of the SDK's variable", async () => {
    const token = await tokenOf(anthropicAccount({ identity_file: "" }), { ANTHROPIC_IDENTITY_TOKEN_FILE: file });
    expect(token.credential).toBe("anthropic-none");
  });

  test("reads the file again for each exchange", async () => {
    subject = "eyJ.old";
    await expect(tokenOf(openaiAccount())).rejects.toThrow("OpenAI's token service answered 401: invalid_grant.");
    subject = "eyJ.projected";
    expect((await tokenOf(openaiAccount())).credential).toBe("openai-token");
  });

  test.each([
    [
      "OpenAI, another host",
      openaiAccount({ baseUrl: "https://api.openai.com.evil.example/v1" }),
      machine,
      /only to the vendor/,
    ],
    [
      "Anthropic, another host",
      anthropicAccount({}, { baseUrl: "https://evil.example/v1" }),
      machine,
      /only to the vendor/,
    ],
    ["a file that is not allowed", openaiAccount(), {}, /SLUICE_SECRET_REFERENCES/],
    ["an empty identity token", anthropicAccount({ identity_file: `${file}-none` }), machine, /does not exist/],
  ] as const)("sends nothing to %s", async (_name, provider, variables, message) => {
    await expect(tokenOf(provider, variables)).rejects.toMatchObject({
      code: "upstream_error",
      accountFault: "identity",
      message: expect.stringMatching(message),
    });
    expect(sent).toEqual([]);
  });
});
