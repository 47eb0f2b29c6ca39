import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Secret } from "#core/index.ts";
import type { ShortLived } from "#credentials/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { kindOf, providerOf } from "../provider-fixture.ts";
import { workloadOf } from "../workload-fixture.ts";
import { FakeAws } from "./fake-aws.ts";
import { contextOf, type Issuer } from "./issuers.ts";

const region = "eu-west-1";
const role = "arn:aws:iam::123456789012:role/sluice";
const nodeRole = "arn:aws:iam::123456789012:role/pod";
const user = { accessKeyId: "AKIAUSER", secretAccessKey: "user-secret", sessionToken: null };
const pem = (name: string) => readFileSync(join(import.meta.dir, "../fixtures/roles-anywhere", name), "utf8");

const clock = new FakeClock();
let aws = new FakeAws(clock);
let sentTo: readonly { readonly url: string; readonly machine: boolean }[] = [];
beforeEach(() => {
  aws = new FakeAws(clock);
  aws.addUser(user);
});

interface Machine {
  readonly variables?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

async function keysOf(settings: Readonly<Record<string, unknown>>, { variables = {}, files = {} }: Machine = {}) {
  const hosts: Readonly<Record<string, Issuer>> = {
    "sts.eu-west-1.amazonaws.com": aws.sts,
    "169.254.169.254": aws.metadata,
    "169.254.170.2": aws.agent,
    "169.254.170.23": aws.agent,
    "rolesanywhere.eu-west-1.amazonaws.com": aws.rolesAnywhere,
  };
  const context = contextOf(hosts, workloadOf({ SLUICE_CLOUD_IDENTITY: "aws", ...variables }, files), clock);
  const issue = kindOf("bedrock").tokens?.(providerOf("bedrock", { secret: null, settings: { region, ...settings } }));
  if (issue == null) throw new Error("the account needs no token");
  try {
    return await issue(context);
  } finally {
    sentTo = context.sent.map(({ url, machine = false }) => ({ url, machine }));
  }
}

const secretOf = (credential: ShortLived) => (typeof credential === "string" ? null : credential.secretAccessKey);
const irsa: Machine = {
  variables: { AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/secrets/eks/token", AWS_ROLE_ARN: nodeRole },
  files: { "/var/run/secrets/eks/token": "eyJ.web.token\n" },
};
const pod: Machine = {
  variables: {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://169.254.170.23/v1/credentials",
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: "/var/run/secrets/pods/token",
  },
  files: { "/var/run/secrets/pods/token": "agent-token" },
};
const anywhere = (kind: string) => ({
  auth: "roles_anywhere",
  role_arn: role,
  profile_arn: "arn:aws:rolesanywhere:eu-west-1:123456789012:profile/1",
  trust_anchor_arn: "arn:aws:rolesanywhere:eu-west-1:123456789012:trust-anchor/1",
  identity_certificate: pem(`${kind}.crt`),
  identity_key: pem(`${kind}.key`),
});

describe("keys for AWS", () => {
  test("come from a web identity token and the role of the environment", async () => {
    const { credential, expiresInMs } = await keysOf({ auth: "web_identity" }, irsa);
    expect([aws.roles, expiresInMs]).toEqual([[nodeRole], 3_600_000]);
    expect(secretOf(credential)).toBe("secret+/1");
  });

  test("of a web identity assume the account's role on top, with its external ID", async () => {
    aws.externalId = "tenant-7";
    const { credential } = await keysOf({ auth: "web_identity", role_arn: role, external_id: "tenant-7" }, irsa);
    expect([aws.roles, secretOf(credential)]).toEqual([[nodeRole, role], "secret+/2"]);
  });

  test("take the account's role with the web identity if the environment has none", async () => {
    const { AWS_ROLE_ARN: _role, ...variables } = irsa.variables ?? {};
    await keysOf({ auth: "web_identity", role_arn: role }, { ...irsa, variables });
    expect(aws.roles).toEqual([role]);
  });

  test("come from the container agent, for a token that is read again each time", async () => {
    const { credential } = await keysOf({ auth: "container" }, pod);
    expect(secretOf(credential)).toBe("secret+/1");
    expect(sentTo).toEqual([{ url: "http://169.254.170.23/v1/credentials", machine: true }]);
    const ecs = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/v2/x", AWS_CONTAINER_AUTHORIZATION_TOKEN: "agent-token" };
    await keysOf({ auth: "container" }, { variables: ecs });
    expect(sentTo).toEqual([{ url: "http://169.254.170.2/v2/x", machine: true }]);
  });

  test("come from the instance's role by version 2 of the metadata service", async () => {
    const { credential, expiresInMs } = await keysOf({ auth: "instance_role" });
    expect([secretOf(credential), expiresInMs]).toEqual(["secret+/1", 3_600_000]);
    expect(sentTo.every(({ machine }) => machine)).toBe(true);
  });

  test("come from the first source of the default chain", async () => {
    const chain = { auth: "default" };
    const inEnvironment = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "from-environment" };
    const first = await keysOf(chain, { ...irsa, variables: { ...irsa.variables, ...inEnvironment } });
    expect([secretOf(first.credential), first.expiresInMs, sentTo]).toEqual([
      "from-environment",
      Number.POSITIVE_INFINITY,
      [],
    ]);
    await keysOf(chain, { variables: { ...pod.variables, ...irsa.variables }, files: { ...pod.files, ...irsa.files } });
    expect(new URL(sentTo[0]?.url ?? "").host).toBe("sts.eu-west-1.amazonaws.com");
    await keysOf(chain, pod);
    expect(new URL(sentTo[0]?.url ?? "").host).toBe("169.254.170.23");
    await keysOf(chain);
    expect(new URL(sentTo[0]?.url ?? "").host).toBe("169.254.169.254");
  });

  test("of a stored user assume a role, without any identity of the machine", async () => {
    const stored = { access_key_id: user.accessKeyId, secret_access_key: user.secretAccessKey, role_arn: role };
    const { credential } = await keysOf(stored, { variables: { SLUICE_CLOUD_IDENTITY: "" } });
    expect([aws.roles, secretOf(credential)]).toEqual([[role], "secret+/1"]);
  });

  test.each(["rsa", "ec"])("come from a certificate with a key of type %s", async (kind) => {
    aws.trusted = pem(`${kind}.crt`);
    const { credential, expiresInMs } = await keysOf(anywhere(kind), { variables: { SLUICE_CLOUD_IDENTITY: "" } });
    expect([aws.roles, secretOf(credential), expiresInMs]).toEqual([[role], "secret+/1", 3_600_000]);
  });
});

describe("without keys for AWS the call fails with the step that failed", () => {
  const cases: readonly [string, Readonly<Record<string, unknown>>, Machine, RegExp][] = [
    [
      "not allowed",
      { auth: "instance_role" },
      { variables: { SLUICE_CLOUD_IDENTITY: "google" } },
      /SLUICE_CLOUD_IDENTITY/,
    ],
    ["no token file", { auth: "web_identity" }, { variables: irsa.variables ?? {} }, /token does not exist/],
    ["no role", { auth: "web_identity" }, {}, /role_arn/],
    [
      "a file that is not allowed",
      { auth: "web_identity", role_arn: role, identity_file: "/etc/shadow" },
      { files: { "/etc/shadow": "root" } },
      /SLUICE_SECRET_REFERENCES/,
    ],
    ["no container agent", { auth: "container" }, {}, /AWS_CONTAINER_CREDENTIALS/],
    [
      "an agent at another machine",
      { auth: "container" },
      { variables: { AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://10.0.0.1/x" } },
      /must be an https URL/,
    ],
    [
      "a refused agent token",
      { auth: "container" },
      { ...pod, files: { "/var/run/secrets/pods/token": "old" } },
      /401: InvalidToken/,
    ],
    [
      "metadata disabled",
      { auth: "default" },
      { variables: { AWS_EC2_METADATA_DISABLED: "true" } },
      /METADATA_DISABLED/,
    ],
  ];

  test.each(cases)("%s", async (_name, settings, machine, message) => {
    await expect(keysOf(settings, machine)).rejects.toMatchObject({
      code: "upstream_error",
      retry: "other",
      unhealthy: true,
      accountFault: "identity",
      message: expect.stringMatching(message),
    });
  });

  test("a refused role, without the text of AWS, which names the account", async () => {
    aws.refuses = { AssumeRoleWithWebIdentity: "AccessDenied" };
    const refused = keysOf({ auth: "web_identity" }, irsa);
    await expect(refused).rejects.toThrow("The gateway got no credential: AWS STS answered 403: AccessDenied.");
    aws.refuses = { imds: "x" };
    await expect(keysOf({ auth: "instance_role" })).rejects.toThrow("instance metadata service answered 403");
  });

  test("a certificate that the trust anchor does not know, or a key of another certificate", async () => {
    aws.trusted = pem("ec.crt");
    await expect(keysOf(anywhere("rsa"))).rejects.toThrow("IAM Roles Anywhere answered 403: AccessDeniedException");
    const mixed = { ...anywhere("ec"), identity_key: pem("rsa.key") };
    await expect(keysOf(mixed)).rejects.toThrow("IAM Roles Anywhere answered 403");
    await expect(keysOf({ ...anywhere("ec"), identity_key: "no key" })).rejects.toThrow("private key");
  });
});

test("a Bedrock API key is sent as it is", () => {
  const provider = providerOf("bedrock", { secret: new Secret("key"), settings: { region, role_arn: role } });
  expect(kindOf("bedrock").tokens?.(provider)).toBeNull();
});
