import { beforeEach, describe, expect, test } from "bun:test";
import { checkSignature } from "@sluice/simulator";
import { parseReference, readReference, VaultSession } from "#credentials/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { workloadOf } from "../workload-fixture.ts";
import { FakeAws } from "./fake-aws.ts";
import { FakeAzure } from "./fake-azure.ts";
import { FakeGoogle } from "./fake-google.ts";
import { FakeVault } from "./fake-vault.ts";
import { contextOf, type Issuer } from "./issuers.ts";

let clock = new FakeClock();
let vault = new FakeVault(clock);
let session = new VaultSession();
let aws = new FakeAws(clock);
let azure = new FakeAzure(clock);
let google = new FakeGoogle(clock);
beforeEach(() => {
  clock = new FakeClock();
  vault = new FakeVault(clock);
  vault.secrets.set("kv/ai/openai", { key: "sk-1" });
  session = new VaultSession();
  aws = new FakeAws(clock);
  azure = new FakeAzure(clock);
  google = new FakeGoogle(clock);
});

const everything = "vault://kv/,aws-sm://eu-west-1/,gcp-sm://projects/,azure-kv://team/,file:///run/secrets/,env://AI_";
const approle = {
  VAULT_ADDR: "https://vault.internal:8200",
  SLUICE_VAULT_ROLE_ID: "role",
  SLUICE_VAULT_SECRET_ID: "secret",
};

/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */
const awsSecrets: Issuer = async (request) => {
  const body = await request.text();
  const headers = { host: new URL(request.url).host, ...Object.fromEntries(request.headers) } as Record<string, string>;
  const id = /Credential=([^/]+)\//.exec(headers["authorization"] ?? "")?.[1] ?? "";
  const signed = { method: "POST", path: "/", query: "", headers, body: new TextEncoder().encode(body) };
  const fault = checkSignature(signed, aws.secretOf(id) ?? "", clock.now(), "secretsmanager");
  const { SecretId, VersionStage } = JSON.parse(body) as Record<string, string>;
  const isRight = headers["x-amz-target"] === "secretsmanager.GetSecretValue" && VersionStage === "AWSCURRENT";
  if (fault !== null || !isRight) return Response.json({ __type: "InvalidSignatureException" }, { status: 403 });
  if (SecretId !== "prod/openai") {
    return Response.json({ __type: "ResourceNotFoundException", Message: "canary" }, { status: 400 });
  }
  return Response.json({ ARN: "arn:aws:x", Name: SecretId, VersionId: "1", SecretString: '{"key":"sk-aws"}' });
};
const googleSecrets: Issuer = (request) => {
  const path = new URL(request.url).pathname;
  const isAllowed = request.headers.get("authorization")?.startsWith("Bearer machine-") === true;
  if (!isAllowed || path !== "/v1/projects/acme/secrets/openai/versions/latest:access") {
    return Response.json({ error: { code: 404, message: "canary", status: "NOT_FOUND" } }, { status: 404 });
  }
  return Response.json({ name: "projects/1/secrets/openai/versions/3", payload: { data: btoa("sk-gcp\n") } });
};
const azureSecrets: Issuer = (request) => {
  const { pathname, searchParams } = new URL(request.url);
  const isAllowed = request.headers.get("authorization")?.startsWith("Bearer managed-") === true;
  if (!isAllowed || pathname !== "/secrets/openai" || searchParams.get("api-version") !== "7.4") {
    return Response.json({ error: { code: "SecretNotFound", message: "canary" } }, { status: 404 });
  }
  return Response.json({ value: "sk-azure", id: "https://team.vault.azure.net/secrets/openai/1", attributes: {} });
};

function read(reference: string, variables: Readonly<Record<string, string>> = approle, files = {}) {
  const hosts: Readonly<Record<string, Issuer>> = {
    "vault.internal:8200": vault.serve,
    "secretsmanager.eu-west-1.amazonaws.com": awsSecrets,
    "secretmanager.googleapis.com": googleSecrets,
    "team.vault.azure.net": azureSecrets,
    "169.254.169.254": (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/metadata/")) return azure.metadata(request);
      return pathname.startsWith("/latest/") ? aws.metadata(request) : google.metadata(request);
    },
  };
  const workload = workloadOf({ SLUICE_SECRET_REFERENCES: everything, ...variables }, files);
  return readReference(contextOf(hosts, workload, clock), reference, session);
}

describe("a reference", () => {
  test("leads to a field of a secret in Vault, by an AppRole that logs in again", async () => {
    expect(await read("vault://kv/ai/openai#key")).toBe("sk-1");
    vault.secrets.set("kv/ai/openai", { key: "sk-2" });
    expect([await read("vault://kv/ai/openai#key"), vault.logins.length]).toEqual(["sk-2", 1]);
    clock.advance(1_900_000);
    expect([await read("vault://kv/ai/openai#key"), vault.logins.length]).toEqual(["sk-2", 2]);
    vault.revokeAll();
    expect([await read("vault://kv/ai/openai#key"), vault.logins.length]).toEqual(["sk-2", 3]);
  });

  test("is read with a Kubernetes login, in a namespace", async () => {
    vault.namespace = "team";
    const variables = {
      VAULT_ADDR: approle.VAULT_ADDR,
      VAULT_NAMESPACE: "team",
      SLUICE_VAULT_KUBERNETES_ROLE: "sluice",
    };
    const files = { "/var/run/secrets/kubernetes.io/serviceaccount/token": "eyJ.pod\n" };
    expect(await read("vault://kv/ai/openai#key", variables, files)).toBe("sk-1");
    expect(vault.logins).toEqual(["/v1/auth/kubernetes/login"]);
  });

  test("is read with a token, which is renewed", async () => {
    vault.addToken("hvs.static");
    const variables = { VAULT_ADDR: approle.VAULT_ADDR, VAULT_TOKEN: "hvs.static" };
    for (let hour = 0; hour < 3; hour++) {
      expect(await read("vault://kv/ai/openai#key", variables)).toBe("sk-1");
      clock.advance(3_000_000);
    }
    expect(vault.logins).toEqual(["renew-self", "renew-self", "renew-self"]);
  });

  test("leads to the secret managers of the clouds, with the machine's identity", async () => {
    expect(await read("aws-sm://eu-west-1/prod/openai#key", {})).toBe("sk-aws");
    expect(await read("gcp-sm://projects/acme/secrets/openai", {})).toBe("sk-gcp");
    expect(await read("azure-kv://team/openai", {})).toBe("sk-azure");
    expect(azure.scopes).toEqual(["https://vault.azure.net"]);
  });

  test("leads to a file or a variable", async () => {
    expect(await read("file:///run/secrets/openai", {}, { "/run/secrets/openai": "sk-file\n" })).toBe("sk-file");
    expect(await read("env://AI_KEY", { AI_KEY: "sk-env" })).toBe("sk-env");
  });

  test.each([
    ["env://SLUICE_MASTER_KEY", {}, /SLUICE_SECRET_REFERENCES/],
    ["file:///etc/passwd", {}, /SLUICE_SECRET_REFERENCES/],
    ["file:///run/secrets/../../etc/passwd", {}, /cannot be read/],
    ["vault://other/openai#key", approle, /SLUICE_SECRET_REFERENCES/],
    ["vault://kv/ai/openai", approle, /cannot be read/],
    ["vault://kv/ai/none#key", approle, /no secret at/],
    ["vault://kv/ai/openai#other", approle, /does not have the field/],
    ["vault://kv/ai/openai#key", { ...approle, SLUICE_VAULT_SECRET_ID: "wrong" }, /refused the login \(400\)/],
    ["vault://kv/ai/openai#key", { VAULT_TOKEN: "hvs.x" }, /VAULT_ADDR/],
    ["vault://kv/ai/openai#key", { VAULT_ADDR: approle.VAULT_ADDR }, /VAULT_TOKEN/],
    ["aws-sm://eu-west-1/prod/none", {}, /400: ResourceNotFoundException\.$/],
    ["aws-sm://eu-west-1/prod/openai#other", {}, /does not have the field/],
    ["gcp-sm://projects/acme/secrets/none", {}, /404: NOT_FOUND\.$/],
    ["azure-kv://team/none", {}, /404: SecretNotFound\.$/],
    ["env://AI_NONE", {}, /empty secret/],
    ["file:///run/secrets/none", {}, /does not exist/],
  ] as const)("%s fails with the reason, without the secret's place", async (reference, variables, message) => {
    const failed = read(reference, variables);
    await expect(failed).rejects.toMatchObject({ accountFault: "identity", message: expect.stringMatching(message) });
    await expect(failed).rejects.not.toThrow(/canary|passwd|ai\/openai/);
  });

  test("fails while Vault is sealed", async () => {
    vault.isSealed = true;
    await expect(read("vault://kv/ai/openai#key")).rejects.toThrow(/Vault/);
  });
});

test("parses the form of each store, and no other", () => {
  const right = [
    "vault://kv/a/b#c",
    "aws-sm://us-gov-west-1/arn:aws:secretsmanager:us-gov-west-1:1:secret:x-AbCdEf",
    "gcp-sm://projects/p/secrets/s/versions/4#key",
    "azure-kv://my-vault/my-secret/0123456789abcdef0123456789abcdef",
    "file:///run/secrets/x",
    "env://NAME",
  ];
  expect(right.filter((text) => parseReference(text) === null)).toEqual([]);
  const wrong = [
    "vault://kv#c",
    "vault://kv/../sys#c",
    "aws-sm://evil.example/x",
    "aws-sm://eu-west-1.evil.example/x",
    "gcp-sm://projects/p/secrets/s/../x",
    "azure-kv://evil.example/x",
    "azure-kv://v/x?y",
    "file://host/x",
    "file:///a//b",
    "env://A B",
    "env://A#b",
    "https://x",
  ];
  expect(wrong.filter((text) => parseReference(text) !== null)).toEqual([]);
});
