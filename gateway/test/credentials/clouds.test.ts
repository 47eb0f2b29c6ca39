import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Provider, Secret } from "#core/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { draftOf, kindOf, laneOf, now, providerOf } from "../provider-fixture.ts";
import { workloadOf } from "../workload-fixture.ts";
import { FakeAws } from "./fake-aws.ts";
import { FakeAzure } from "./fake-azure.ts";
import { FakeGoogle } from "./fake-google.ts";
import { contextOf, type Issuer } from "./issuers.ts";

const pem = (name: string) => readFileSync(join(import.meta.dir, "../fixtures/roles-anywhere", name), "utf8");
let clock = new FakeClock(now);
let azure = new FakeAzure(clock);
let google = new FakeGoogle(clock);
let aws = new FakeAws(clock);
let sent: ReturnType<typeof contextOf>["sent"] = [];
beforeEach(() => {
  clock = new FakeClock(now);
  azure = new FakeAzure(clock);
  google = new FakeGoogle(clock);
  aws = new FakeAws(clock);
});

interface Machine {
  readonly variables?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

async function tokenOf(provider: Provider, { variables = {}, files = {} }: Machine = {}) {
  const hosts: Readonly<Record<string, Issuer>> = {
    "login.microsoftonline.com": azure.entra,
    "login.microsoftonline.us": azure.entra,
    "169.254.169.254": (request) =>
      new URL(request.url).pathname.startsWith("/metadata/") ? azure.metadata(request) : google.metadata(request),
    "169.254.255.2:8081": azure.hosted,
    "sts.googleapis.com": google.sts,
    "iamcredentials.googleapis.com": google.iamCredentials,
  };
  const context = contextOf(
    hosts,
    workloadOf({ SLUICE_CLOUD_IDENTITY: "aws,azure,google", ...variables }, files),
    clock,
    provider,
  );
  sent = context.sent;
  const issue = kindOf(provider.kind).tokens?.(provider);
  if (issue == null) throw new Error("the account needs no token");
  return await issue(context);
}

const refused = (message: RegExp) => ({
  code: "upstream_error",
  retry: "other",
  accountFault: "identity",
  message: expect.stringMatching(message),
});

describe("a token of Entra ID", () => {
  const account = (settings: object, more: Partial<Provider> = {}) =>
    providerOf("azure-openai", { secret: null, settings: { resource: "res", ...settings }, ...more });
  const app = () => ({ tenant_id: azure.tenant, client_id: azure.client });
  const workload: Machine = {
    variables: { AZURE_FEDERATED_TOKEN_FILE: "/var/run/secrets/azure/tokens/azure-identity-token" },
    files: { "/var/run/secrets/azure/tokens/azure-identity-token": "eyJ.federated\n" },
  };

  test("comes from the managed identity of a virtual machine, and is a bearer token", async () => {
    const provider = account({ auth: "managed_identity", client_id: "user-assigned" });
    const token = await tokenOf(provider);
    expect(token).toEqual({ credential: "managed-1", expiresInMs: 86_399_000 });
    expect([azure.scopes, azure.clients]).toEqual([["https://cognitiveservices.azure.com"], ["user-assigned"]]);
    expect(sent.map(({ machine }) => machine)).toEqual([true]);
    const draft = draftOf(provider, laneOf("azure-openai", "chat"), "gpt");
    await kindOf("azure-openai").authorize(draft, { now, token: token.credential });
    expect([draft.headers["authorization"], draft.headers["api-key"]]).toEqual(["Bearer managed-1", undefined]);
  });

  test("comes from the endpoint of App Service and Container Apps", async () => {
    const variables = {
      IDENTITY_ENDPOINT: "http://169.254.255.2:8081/msi/token",
      IDENTITY_HEADER: azure.identityHeader,
    };
    const token = await tokenOf(account({ auth: "managed_identity" }), { variables });
    expect(token).toEqual({ credential: "managed-1", expiresInMs: 86_399_000 });
    const wrong = tokenOf(account({ auth: "managed_identity" }), { variables: { ...variables, IDENTITY_HEADER: "x" } });
    await expect(wrong).rejects.toMatchObject(refused(/managed identity endpoint answered 403/));
  });

  test("comes from a workload identity, with the tenant and client of the environment or the settings", async () => {
    const variables = { AZURE_TENANT_ID: azure.tenant, AZURE_CLIENT_ID: azure.client, ...workload.variables };
    const machine = { ...workload, variables };
    expect((await tokenOf(account({ auth: "workload_identity" }), machine)).credential).toBe("entra-1");
    expect((await tokenOf(account({ auth: "workload_identity", ...app() }), workload)).credential).toBe("entra-2");
    expect(azure.scopes[0]).toBe("https://cognitiveservices.azure.com/.default");
  });

  test("comes from a client secret or a certificate, without any identity of the machine", async () => {
    const none = { variables: { SLUICE_CLOUD_IDENTITY: "" } };
    const stored = account({ auth: "client_secret", ...app(), client_secret: azure.secret });
    expect(await tokenOf(stored, none)).toEqual({ credential: "entra-1", expiresInMs: 3_599_000 });
    azure.certificate = pem("rsa.crt");
    const certificate = { identity_certificate: pem("rsa.crt"), identity_key: pem("rsa.key") };
    const signed = account({ auth: "client_certificate", ...app(), ...certificate });
    expect((await tokenOf(signed, none)).credential).toBe("entra-2");
    azure.certificate = pem("ec.crt");
    await expect(tokenOf(signed, none)).rejects.toMatchObject(refused(/401: invalid_client, AADSTS7000215\.$/));
    const elliptic = account({ auth: "client_certificate", ...app(), ...certificate, identity_key: pem("ec.key") });
    await expect(tokenOf(elliptic, none)).rejects.toThrow("needs RSA");
  });

  test("uses the authority and the resource of another cloud", async () => {
    const variables = { AZURE_AUTHORITY_HOST: "https://login.microsoftonline.us/" };
    await tokenOf(account({ auth: "client_secret", ...app(), client_secret: azure.secret }), { variables });
    expect([azure.scopes, new URL(sent[0]?.url ?? "").host]).toEqual([
      ["https://cognitiveservices.azure.us/.default"],
      "login.microsoftonline.us",
    ]);
  });

  test.each([
    ["another host", { baseUrl: "https://evil.example/openai" }, {}, /only to the vendor/],
    [
      "a host that ends like Azure's",
      { baseUrl: "https://res.openai.azure.com.evil.example" },
      {},
      /only to the vendor/,
    ],
    ["Azure's host without https", { baseUrl: "http://res.openai.azure.com" }, {}, /only to the vendor/],
    [
      "an account with its own ca",
      { settings: { resource: "res", auth: "managed_identity", ca: pem("rsa.crt") } },
      {},
      /own ca/,
    ],
    ["a cloud that is not allowed", {}, { SLUICE_CLOUD_IDENTITY: "aws" }, /SLUICE_CLOUD_IDENTITY does not allow/],
  ] as const)("of the machine is not issued for %s", async (_name, changes, variables, message) => {
    const provider = account({ auth: "managed_identity" }, changes);
    await expect(tokenOf(provider, { variables })).rejects.toMatchObject(refused(message));
    expect([azure.scopes, sent]).toEqual([[], []]);
  });

  test("of the machine is sent to a host that the operator allows", async () => {
    const provider = account({ auth: "managed_identity" }, { baseUrl: "https://apim.azure-api.net/openai" });
    const variables = { SLUICE_CLOUD_IDENTITY_HOSTS: "*.azure-api.net" };
    expect((await tokenOf(provider, { variables })).credential).toBe("managed-1");
  });
});

describe("a token of Google Cloud", () => {
  const account = (document: object | null, settings: object = {}, more: Partial<Provider> = {}) => {
    const secret = document === null ? null : new Secret(JSON.stringify(document));
    return providerOf("vertex", {
      secret,
      settings: { project: "proj", location: "us-central1", ...settings },
      ...more,
    });
  };
  const external = (source: object, more: object = {}) => ({
    type: "external_account",
    audience: google.audience,
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: "https://sts.googleapis.com/v1/token",
    credential_source: source,
    ...more,
  });
  const impersonation = {
    service_account_impersonation_url:
      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/bot@proj.iam.gserviceaccount.com:generateAccessToken",
  };
  const pod: Machine = {
    variables: { SLUICE_SECRET_REFERENCES: "file:///var/run/service-account/" },
    files: { "/var/run/service-account/token": "eyJ.kubernetes\n" },
  };
  const file = { file: "/var/run/service-account/token" };

  test("comes from the metadata server", async () => {
    expect(await tokenOf(account(null, { auth: "metadata" }))).toEqual({
      credential: "machine-1",
      expiresInMs: 3_599_000,
    });
    expect(sent.map(({ machine }) => machine)).toEqual([true]);
  });

  test("comes from a token file of another issuer", async () => {
    const token = await tokenOf(account(external(file)), pod);
    expect(token).toEqual({ credential: "federated-1", expiresInMs: 3_600_000 });
  });

  test("of a service account follows, for as long as the document asks", async () => {
    const lifetime = { service_account_impersonation: { token_lifetime_seconds: 1_800 } };
    const token = await tokenOf(account(external(file, { ...impersonation, ...lifetime })), pod);
    expect(token).toEqual({ credential: "impersonated-2", expiresInMs: 1_800_000 });
  });

  test("comes from a file or an address with JSON", async () => {
    const format = { type: "json", subject_token_field_name: "access_token" };
    azure.client = "x";
    google.subjectToken = "managed-1";
    const url = "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=app";
    const source = { url, headers: { Metadata: "True".toLowerCase() }, format };
    const variables = { SLUICE_SECRET_REFERENCES: "http://169.254.169.254/metadata/identity/" };
    expect((await tokenOf(account(external(source)), { variables })).credential).toBe("federated-1");
    await expect(tokenOf(account(external(source)))).rejects.toMatchObject(refused(/SLUICE_SECRET_REFERENCES/));
  });

  test("comes from a signed question about the machine's AWS role", async () => {
    const keys = aws.issue();
    google.awsSecret = keys.secretAccessKey;
    const document = external(
      {
        environment_id: "aws1",
        regional_cred_verification_url: "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity",
      },
      { subject_token_type: "urn:ietf:params:aws:token-type:aws4_request" },
    );
    const variables = {
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_SESSION_TOKEN: keys.sessionToken ?? "",
    };
    expect((await tokenOf(account(document), { variables })).credential).toBe("federated-1");
    await expect(
      tokenOf(account(document), { variables: { ...variables, SLUICE_CLOUD_IDENTITY: "google" } }),
    ).rejects.toThrow("SLUICE_CLOUD_IDENTITY");
  });

  test.each([
    [
      "a token address of anyone's",
      external(file, { token_url: "https://sts.evil.example/v1/token" }),
      {},
      /only to the vendor/,
    ],
    ["a file outside the prefixes", external({ file: "/etc/passwd" }), {}, /SLUICE_SECRET_REFERENCES/],
    ["another upstream", external(file), { baseUrl: "https://evil.example" }, /only to the vendor/],
    ["an account with its own ca", external(file), { settings: { project: "p", ca: pem("rsa.crt") } }, /own ca/],
  ] as const)("is not issued for %s", async (_name, document, changes, message) => {
    const provider = account(document, {}, changes);
    await expect(tokenOf(provider, pod)).rejects.toMatchObject(refused(message));
    expect(sent).toEqual([]);
  });

  test("that is refused fails with the step and the code only", async () => {
    google.refuses = true;
    const failed = tokenOf(account(external(file)), pod);
    await expect(failed).rejects.toThrow("Google's Security Token Service answered 400: invalid_grant.");
    google.refuses = false;
    google.serviceAccount = "another";
    await expect(tokenOf(account(external(file, impersonation)), pod)).rejects.toThrow(
      "answered 403: PERMISSION_DENIED.",
    );
  });
});
