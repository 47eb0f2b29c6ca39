import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../command-line.ts";
import { startGateway, words } from "../processes-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-setup-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const password = "correct horse battery";

test("creates a user and a token before the first start, and the gateway uses them", async () => {
  const dataDir = join(folder, "first");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, `${password}\n`);
  const eve = "user create Eve@Example.com --administrator --name Eve --json --password-file";
  const made = await sluice([...words(eve), passwordFile], dataDir);
  expect([made.status, made.stderr]).toEqual([0, ""]);
  expect(JSON.parse(made.stdout)).toMatchObject({ email: "eve@example.com", name: "Eve", administrator: true });
  expect(made.stdout).not.toContain(password);
  const token = JSON.parse(
    (await sluice(words("token create --name terraform --administrator --json"), dataDir)).stdout,
  );

  await using gateway = await startGateway(dataDir);
  const api = gateway.api(token.secret);
  expect((await api("POST", "/api/workspaces", { slug: "acme" })).status).toBe(201);
  expect(await signIn(gateway, "eve@example.com", password)).toBe(200);
  // The environment creates the first administrator only if there is none.
  expect((await sluice(["user", "list"], dataDir)).stdout).not.toContain("anna@example.com");

  // The same while the gateway runs: a link with which Bob sets a password once.
  const bob = "user create bob@example.com --workspace acme --role member --json";
  const { link, id } = JSON.parse(
    (await sluice(words(bob), dataDir, { SLUICE_PUBLIC_URL: "https://ai.example" })).stdout,
  );
  expect(link).toStartWith("https://ai.example/console/#reset=");
  const completion = { token: link.split("#reset=")[1], password: "another horse battery" };
  const complete = () => gateway.api(null)("POST", "/api/reset", completion);
  expect([(await complete()).status, (await complete()).status]).toEqual([200, 404]);
  expect(await signIn(gateway, "bob@example.com", completion.password)).toBe(200);
  const members = await api<{ data: readonly unknown[] }>("GET", "/api/workspaces/acme/members");
  expect(members.body.data).toMatchObject([{ id, role: "member" }]);

  // A reset from standard input invalidates the old password and its sessions.
  const reset = await sluice(
    words("user reset bob@example.com --password-stdin"),
    dataDir,
    {},
    "a third horse battery",
  );
  expect([reset.status, reset.stdout]).toEqual([0, "bob@example.com has a new password; their sessions were ended\n"]);
  expect(await signIn(gateway, "bob@example.com", "a third horse battery")).toBe(200);
  expect(await signIn(gateway, "bob@example.com", completion.password)).toBe(401);

  const listed = await sluice(["token", "list"], dataDir);
  expect(listed.stdout).toContain("terraform");
  expect(listed.stdout).not.toContain(token.secret);
  expect((await sluice(words("token revoke terraform"), dataDir)).status).toBe(0);
  expect((await api("GET", "/api/workspaces")).status).toBe(401);
  expect((await sluice(words("token list"), dataDir)).stdout).toBe("no admin tokens\n");
});

test("refuses invalid users and tokens in one line, and creates nothing", async () => {
  const dataDir = join(folder, "refused");
  await sluice(words("user create eve@example.com --administrator"), dataDir);
  const cases: readonly [string, string, number, string][] = [
    ["user create x@example.com", "", 2, "set either --administrator, or --workspace and --role"],
    ["user create x@example.com --workspace none --role owner", "", 1, 'there is no workspace "none"'],
    ["user create x@example.com --workspace default --role boss", "", 2, "--role must be one of"],
    ["user create nobody --administrator", "", 1, "Not an email address."],
    ["user create EVE@example.com --administrator", "", 1, "There is already a user eve@example.com."],
    [
      "user create x@example.com --administrator --password-stdin",
      "short",
      1,
      "A password must have 12 to 256 characters.",
    ],
    ["user create x@example.com --administrator --password-file /nowhere", "", 1, "/nowhere cannot be read (ENOENT)"],
    ["user create x@example.com --administrator --password-stdin --password-file y", "", 2, "cannot be combined"],
    ["user create x@example.com --administrator --password secret", "", 2, "unknown option '--password'"],
    ["user reset x@example.com", "", 1, 'there is no user "x@example.com"'],
    ["token revoke terraform", "", 1, 'there is no admin token "terraform"; see `sluice token list`'],
  ];
  for (const [line, stdin, status, message] of cases) {
    const answer = await sluice(words(line), dataDir, {}, stdin);
    expect([line, answer.status, answer.stdout]).toEqual([line, status, ""]);
    expect(answer.stderr).toContain(message);
  }
  const { users } = JSON.parse((await sluice(words("user list --json"), dataDir)).stdout);
  expect(users).toHaveLength(1);
});

async function signIn(gateway: Awaited<ReturnType<typeof startGateway>>, email: string, secret: string) {
  return (await gateway.api(null)("POST", "/api/auth/sign-in/email", { email, password: secret })).status;
}
