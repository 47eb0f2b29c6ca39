import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "./environment.ts";

const workloadOf = (variables: Readonly<Record<string, string>>) => readEnvironment(variables).workload;

test("allows nothing by default", () => {
  const workload = workloadOf({ AWS_ROLE_ARN: "arn" });
  expect([
    workload.allowsCloud("aws"),
    workload.allowsHost("api.example"),
    workload.allowsReference("env://A"),
  ]).toEqual([false, false, false]);
});

test("allows the clouds and hosts of the variables", () => {
  const workload = workloadOf({
    SLUICE_CLOUD_IDENTITY: "aws, google",
    SLUICE_CLOUD_IDENTITY_HOSTS: "*.azure-api.net,models.corp.example:8443",
  });
  expect(["aws", "azure", "google"].map((cloud) => workload.allowsCloud(cloud as "aws"))).toEqual([true, false, true]);
  const hosts = [
    "a.azure-api.net",
    "azure-api.net",
    "xazure-api.net",
    "Models.corp.example:8443",
    "models.corp.example",
  ];
  expect(hosts.map((host) => workload.allowsHost(host))).toEqual([true, false, false, true, false]);
});

test("allows references below a prefix, and none that climb out of it", () => {
  const { allowsReference } = workloadOf({
    SLUICE_SECRET_REFERENCES: "file:///run/secrets/,env://OPENAI_,vault://kv/ai,aws-sm://eu-west-1/one#key",
  });
  const allowed = [
    "file:///run/secrets/a",
    "env://OPENAI_KEY",
    "vault://kv/ai/openai#key",
    "vault://kv/ai",
    "vault://kv/ai#key",
  ];
  const refused = [
    "file:///run/secret",
    "file:///run/secrets/../../etc/passwd",
    "file:///run/secrets/%2e%2e/x",
    "env://SLUICE_MASTER_KEY",
    "vault://kv/ailing#key",
    "vault://kv/other#key",
    "aws-sm://eu-west-1/one#key2",
    "aws-sm://eu-west-1/one",
  ];
  expect(allowed.filter((one) => !allowsReference(one))).toEqual([]);
  expect(refused.filter((one) => allowsReference(one))).toEqual([]);
});

test("refuses clouds, hosts and references that it does not know", () => {
  const refused: readonly (readonly [string, string])[] = [
    ["SLUICE_CLOUD_IDENTITY", "aws,oracle"],
    ["SLUICE_CLOUD_IDENTITY_HOSTS", "https://a.example/"],
    ["SLUICE_SECRET_REFERENCES", "/run/secrets"],
    ["SLUICE_SECRET_REFERENCES", "file://run"],
  ];
  for (const [name, value] of refused) expect(() => readEnvironment({ [name]: value })).toThrow(name);
});

test("reads variables and files of the machine", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-workload-"));
  writeFileSync(join(folder, "token"), "eyJ.x");
  const { variable, readFile } = workloadOf({ AWS_REGION: " eu-west-1 ", AWS_ROLE_ARN: "" });
  expect([variable("AWS_REGION"), variable("AWS_ROLE_ARN"), variable("toString")]).toEqual(["eu-west-1", null, null]);
  expect(await readFile(join(folder, "token"))).toBe("eyJ.x");
  await expect(readFile(join(folder, "none"))).rejects.toThrow("does not exist");
  await expect(readFile(folder)).rejects.toThrow("is a directory");
  rmSync(folder, { recursive: true });
});
