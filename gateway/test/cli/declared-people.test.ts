// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
import { afterAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keySecretBytes, makeScimTokenSecret } from "#identity/index.ts";
import { until } from "../../../test/until.ts";
import { sluice } from "../command-line.ts";
import { startGateway, words } from "../processes-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-declared-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const password = "correct horse battery";
const secretOf = async (more = "") => JSON.parse((await sluice(words(`token secret --json${more}`), folder)).stdout);

const adasPlace = { workspace: "acme", role: "admin", limits: { rpm: 30 }, budget: { usd: 20, period: "month" } };

const directory = await secretOf(" --scim");
const hashed = makeScimTokenSecret(new Uint8Array(keySecretBytes).fill(7));

const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");

const whole = (secret: string, sha256: string) => ({
  providers: [{ id: "offline", kind: "demo" }],
  models: [{ name: "demo-chat", deployments: [{ provider: "offline" }] }],
  workspaces: [{ slug: "acme", limits: { rpm: 600 }, keys: [{ name: "app", secret: "${APP_KEY}" }] }],
  users: [
    { email: "Root@example.com", name: "Root", administrator: true, password: "${ROOT_PASSWORD}" },
    { email: "ada@example.com", password: "${ROOT_PASSWORD}", workspaces: [adasPlace] },
  ],
  tokens: [
    { name: "terraform", owner: "root@example.com", administrator: true, secret },
    { name: "reports", owner: "ada@example.com", workspace: "acme", role: "viewer", secret_sha256: sha256 },
    { name: "directory", owner: "root@example.com", scim: true, secret: directory.secret },
    { name: "hashed directory", owner: "root@example.com", scim: true, secret_sha256: sha256Of(hashed) },
  ],
  oidc: [
    {
      id: "corp",
      issuer: "https://sso.example.com",
      client_id: "sluice",
      client_secret: "${OIDC_SECRET}",
      allowed_domains: ["Example.com"],
    },
  ],
});
const variables = { APP_KEY: "app-key-of-at-least-24-letters", ROOT_PASSWORD: password, OIDC_SECRET: "of the issuer" };

test("one file declares a whole installation: people, tokens and single sign-on", async () => {
  const dataDir = join(folder, "whole");
  const file = join(folder, "whole.json");
  const [first, second] = [await secretOf(), await secretOf()];
  const config = whole(first.secret, second.secret_sha256);
  writeFileSync(file, JSON.stringify(config));
  await using gateway = await startGateway(dataDir, {
    ...variables,
    SLUICE_CONFIG: file,
    SLUICE_CONFIG_PRUNE: "allow",
    SLUICE_HOST: "0.0.0.0",
  });
  const [root, reports] = [gateway.api(first.secret), gateway.api(second.secret)];
  const signIn = async (email: string) =>
    (await gateway.api(null)("POST", "/api/auth/sign-in/email", { email, password })).status;

  expect(await gateway.statusOfCall(variables.APP_KEY)).toBe(200);
  expect([await signIn("root@example.com"), await signIn("ada@example.com")]).toEqual([200, 200]);
  expect((await reports("GET", "/api/workspaces/acme/keys")).status).toBe(200);
  expect((await reports("GET", "/api/workspaces/-/audit")).status).toBe(403);
  expect((await gateway.api(second.secret_sha256)("GET", "/api/workspaces")).status).toBe(401);
  expect((await gateway.api(`sha256:${second.secret_sha256}`)("GET", "/api/workspaces")).status).toBe(401);
  for (const token of [directory.secret, hashed]) {
    expect((await gateway.api(token)("GET", "/scim/v2/Users")).status).toBe(200);
    expect((await gateway.api(token)("GET", "/api/workspaces")).status).toBe(401);
  }
  expect((await gateway.api(first.secret)("GET", "/scim/v2/Users")).status).toBe(401);
  const settings = await root<{ oidc: readonly unknown[] }>("GET", "/api/settings");
  expect(settings.body.oidc).toMatchObject([
    { id: "corp", name: "corp", allowed_domains: ["example.com"], has_secret: true },
  ]);

  const members = await root<{ data: readonly object[] }>("GET", "/api/workspaces/acme/members");
  const { limits, budget } = adasPlace;
  expect(members.body.data).toMatchObject([
    { email: "ada@example.com", role: "admin", limits, budget, budget_used: 0 },
  ]);

  // Objects of the config file can only be changed there.
  type Listed = { data: readonly { id: string; email: string; name: string }[] };
  const users = (await root<Listed>("GET", "/api/users")).body.data;
  const ada = users.find(({ email }) => email === "ada@example.com")?.id;
  const token = (await root<Listed>("GET", "/api/tokens")).body.data.find(({ name }) => name === "reports")?.id;
  const refused: readonly (readonly [string, string, object?])[] = [
    ["PATCH", `/api/users/${ada}`, { disabled: true }],
    ["DELETE", `/api/users/${ada}`, {}],
    ["PATCH", `/api/workspaces/acme/members/${ada}`, { role: "owner" }],
    ["DELETE", `/api/workspaces/acme/members/${ada}`, {}],
    ["DELETE", `/api/tokens/${token}`],
    [
      "PUT",
      "/api/settings/oidc/corp",
      { name: "x", issuer: "https://evil.example", client_id: "x", allowed_domains: [] },
    ],
    ["DELETE", "/api/settings/oidc/corp"],
  ];
  for (const [method, path, body] of refused) {
    const answer = await root<{ error: { code: string } }>(method, path, body);
    expect([method, path, answer.status, answer.body.error.code]).toEqual([method, path, 409, "managed_by_file"]);
  }
  expect((await sluice(words("token revoke reports"), dataDir)).stderr).toContain("comes from the config file");

  // Removed entries are suspended: the user is disabled and unmanaged, the token is invalid, and the issuer signs no
  // one in.
  const [firstUser] = config.users;
  const [terraform] = config.tokens;
  writeFileSync(file, JSON.stringify({ ...config, users: [firstUser], tokens: [terraform], oidc: [] }));
  await until(async () => (await reports("GET", "/api/workspaces/acme/keys")).status === 401);
  const after = await root<{ data: readonly object[] }>("GET", "/api/users?search=ada");
  expect(after.body.data).toMatchObject([{ email: "ada@example.com", disabled: true, suspended: true }]);
  expect((await root("PATCH", `/api/users/${ada}`, { disabled: false })).status).toBe(200);
  expect((await root<{ oidc: readonly unknown[] }>("GET", "/api/settings")).body.oidc).toMatchObject([
    { id: "corp", suspended: true },
  ]);
});

test("reports all contradictions of a file at once; a conflict with the database changes nothing", async () => {
  const dataDir = join(folder, "wrong");
  const file = join(folder, "wrong.yaml");
  const { secret } = await secretOf();
  const check = async (text: string) => {
    writeFileSync(file, text);
    const { stdout, stderr } = await sluice(["check", file], dataDir, variables);
    return stdout + stderr;
  };
  const report = await check(
    [
      "users:",
      "  - { email: nobody, administrator: true }",
      "  - { email: a@example.com, workspaces: [{ workspace: x, role: boss }] }",
      "  - { email: A@example.com, password: short }",
      "tokens:",
      "  - { name: t, owner: a@example.com }",
      `  - { name: t, owner: a@example.com, administrator: true, role: owner, secret: "${secret}", secret_sha256: abc }`,
      `  - { name: u, owner: a@example.com, administrator: true, scim: true, secret: "${secret}" }`,
      "oidc: [{ id: corp, issuer: nowhere, client_id: x }]",
    ].join("\n"),
  );
  for (const place of [
    "users[0].email",
    "users[1].workspaces[0].role",
    "users[2].email",
    "users[2].password",
    "tokens[0]: set `administrator`",
    "tokens[1].name",
    "tokens[1].secret_sha256",
    "tokens[2]: set `scim` or `administrator`",
    "oidc[0].issuer",
    "oidc[0].client_secret",
  ]) {
    expect(report).toContain(place);
  }
  const apply = async (config: object) => {
    writeFileSync(file, JSON.stringify(config));
    return await sluice(["apply", file], dataDir, variables);
  };
  const root = { email: "root@example.com", administrator: true };
  const lone = { name: "t", owner: "ghost@example.com", administrator: true, secret };
  expect((await apply({ users: [root], tokens: [lone] })).stderr).toContain(
    'tokens[0].owner: there is no user "ghost@example.com"',
  );
  const strange = { ...root, workspaces: [{ workspace: "none", role: "owner" }] };
  expect((await apply({ users: [strange] })).stderr).toContain(
    'users[0].workspaces[0].workspace: there is no workspace "none"',
  );
  expect((await sluice(["user", "list"], dataDir)).stdout).toBe("no users yet\n");
  expect((await apply({ users: [root] })).status).toBe(0);
  expect((await apply({ users: [root] })).stdout).toContain("nothing");
  expect((await apply({ users: [] })).stderr).toContain("root@example.com is the last administrator");
  // Another administrator in the same file replaces them.
  expect((await apply({ users: [{ email: "eve@example.com", administrator: true }] })).status).toBe(0);
});
