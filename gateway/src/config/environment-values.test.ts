import { expect, test } from "bun:test";
import { inspect } from "node:util";
import { egressProxyFor } from "#core/index.ts";
import { EnvironmentInvalid } from "./config-invalid.ts";
import { readEnvironment } from "./environment.ts";
import { withFiles } from "./variable-files.ts";

const fixtures = new URL("../../test/fixtures/tls/", import.meta.url).pathname;
const certificate = await Bun.file(`${fixtures}upstream.example.cert.pem`).text();

const problemsOf = (variables: Record<string, string>): readonly string[] => {
  try {
    readEnvironment(variables);
    return [];
  } catch (thrown) {
    if (thrown instanceof EnvironmentInvalid) return thrown.problems;
    throw thrown;
  }
};

test("reads proxies like curl and Go: lower case first, ALL_PROXY as default, credentials hidden", () => {
  const { egress } = readEnvironment({
    HTTPS_PROXY: "http://upper.example:1",
    https_proxy: "http://me:hunter2hunter2@lower.example:3128",
    ALL_PROXY: "all.example",
    no_proxy: "internal.example,10.0.0.0/8",
    NO_PROXY: "*",
  });
  expect(egress?.https).toMatchObject({ hostname: "lower.example", port: 3128 });
  expect(egress?.http).toMatchObject({ hostname: "all.example", port: 80 });
  const proxyOf = (hostname: string) => egress && egressProxyFor(egress, { scheme: "https", hostname, port: 443 });
  expect([proxyOf("a.internal.example"), proxyOf("10.9.9.9")]).toEqual([null, null]);
  expect(proxyOf("api.example")?.hostname).toBe("lower.example");
  expect(inspect(egress, { depth: 9 })).not.toContain("hunter2");
  expect(readEnvironment({ NO_PROXY: "x" }).egress).toBeNull();
});

test("refuses an invalid proxy or exemption, naming the variable without its value", () => {
  expect(
    problemsOf({ https_proxy: "socks5://me:hunter2hunter2@p.example", HTTP_PROXY: "http://a b", NO_PROXY: "http://x" }),
  ).toEqual([
    "https_proxy must begin with http://: the proxy is spoken to in plain HTTP, and calls to https:// are encrypted through it",
    "HTTP_PROXY must be the address of a proxy, such as http://proxy.example:3128",
  ]);
  expect(problemsOf({ HTTPS_PROXY: "http://p", NO_PROXY: "ok.example, 10.0.0.0/99" })).toEqual([
    'NO_PROXY must be a comma-separated list of host names, .suffixes, IP addresses, ranges or *, each with an optional :port; invalid: "10.0.0.0/99"',
  ]);
});

test("reads several certificate authorities from a file, and refuses an invalid one", async () => {
  const file = `${fixtures}upstream.example.cert.pem`;
  const variables = await withFiles({ SLUICE_CA_FILE: file }, ["SLUICE_CA"]);
  expect(readEnvironment(variables).authorities).toEqual([certificate.trim()]);
  expect(readEnvironment({ SLUICE_CA: `# ours\n${certificate}\n${certificate}` }).authorities).toHaveLength(2);
  expect(problemsOf({ SLUICE_CA: "hello" })).toEqual([
    "SLUICE_CA has no certificate; it must be PEM with lines -----BEGIN CERTIFICATE-----",
  ]);
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  expect(problemsOf({ SLUICE_CA: `${certificate}\n${broken}` })).toEqual([
    "SLUICE_CA has an invalid certificate: number 2 of 2",
  ]);
  expect(withFiles({ SLUICE_CA_FILE: "/nowhere" }, ["SLUICE_CA"])).rejects.toThrow(
    "SLUICE_CA_FILE: /nowhere does not exist",
  );
});

test("accepts named private destinations for webhooks, but not `*`", () => {
  expect(
    readEnvironment({ SLUICE_WEBHOOK_ALLOW: "hooks.corp.example,10.1.0.0/16,10.2.0.3:8443" }).webhookExemptions,
  ).toHaveLength(3);
  const problem =
    "SLUICE_WEBHOOK_ALLOW must be a comma-separated list of host names, .suffixes, IP addresses or ranges, each with an optional :port; invalid:";
  expect(problemsOf({ SLUICE_WEBHOOK_ALLOW: "*" })).toEqual([`${problem} "*"`]);
  expect(problemsOf({ SLUICE_WEBHOOK_ALLOW: "https://hooks.example/x" })).toEqual([
    `${problem} "https://hooks.example/x"`,
  ]);
});
