import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../../../test/bare-environment.ts";
import { until } from "../../../test/until.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-people-"));
const cli = join(import.meta.dir, "cli.ts");
const administrator = { SLUICE_ADMIN_EMAIL: "anna@example.com", SLUICE_ADMIN_PASSWORD: "correct horse battery" };
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("an installation is governed without a browser: a token, a key, and the end of whoever made it", async () => {
  const dataDir = join(folder, "data");
  expect((await sluice(["token", "create", "--name", "ci", "--administrator"], dataDir)).stderr).toContain(
    "there is no administrator yet",
  );
  await using gateway = await startGateway(dataDir);
  const made = JSON.parse((await sluice(words("token create --name ci --administrator --json"), dataDir)).stdout);
  expect(made).toMatchObject({ administrator: true, owner: { email: "anna@example.com" }, expires_at: null });
  const api = gateway.api(made.secret);
  expect((await api("POST", "/api/workspaces", { slug: "acme" })).status).toBe(201);
  const bob = { email: "bob@example.com", role: "member" };
  const { link } = (await api("POST", "/api/workspaces/acme/invitations", bob)).body;
  const account = { token: link.split("#invite=")[1], name: "Bob", password: "another horse battery" };
  expect((await gateway.api(null)("POST", "/api/invitation/accept", account)).status).toBe(201);

  const owned = `token create --name bobs --user bob@example.com --workspace acme --role member --json`;
  const token = JSON.parse((await sluice(words(owned), dataDir)).stdout);
  expect(token).toMatchObject({ role: "member", workspace: { slug: "acme" }, owner: { email: "bob@example.com" } });
  const { secret, key } = (await gateway.api(token.secret)("POST", "/api/workspaces/acme/keys", { name: "batch" }))
    .body;
  expect(await gateway.knock(secret)).toBe(200);

  const asked = await sluice(words("user disable bob@example.com"), dataDir);
  expect(asked).toMatchObject({ status: 1, stdout: "" });
  expect(asked.stderr).toBe(
    "sluice: bob@example.com made an API key that is not revoked: acme/batch. " +
      "Say what becomes of them: --keys revoke, disable or hand-over:<e-mail>\n",
  );
  expect((await sluice(words("user disable bob@example.com --keys disable"), dataDir)).status).toBe(0);
  // Another process wrote it; this one hears of it by itself.
  await gateway.until(secret, 401);
  expect((await gateway.api(token.secret)("GET", "/api/workspaces/acme/keys")).status).toBe(401);
  expect((await sluice(words("user enable bob@example.com"), dataDir)).stdout).toBe("bob@example.com may sign in\n");
  expect(await gateway.knock(secret)).toBe(401);
  expect((await api("PATCH", `/api/workspaces/acme/keys/${key.id}`, { enabled: true })).status).toBe(200);
  expect(await gateway.knock(secret)).toBe(200);

  const handed = "user remove bob@example.com --workspace acme --keys hand-over:anna@example.com";
  expect((await sluice(words(handed), dataDir)).stdout).toBe("bob@example.com is no longer a member of acme\n");
  expect(await gateway.knock(secret)).toBe(200);
  expect((await sluice(words("user remove bob@example.com"), dataDir)).status).toBe(0);
  const listed = await sluice(["user", "list"], dataDir);
  expect(listed.stdout).toContain("anna@example.com");
  expect(listed.stdout).not.toContain("bob@example.com");
  const rows = (await api("GET", "/api/workspaces/-/audit")).body.data as { action: string; object: string }[];
  expect(rows.map(({ action, object }) => `${action} ${object}`)).toContain("remove user bob@example.com");
});

test("wrong words are told with what to say instead", async () => {
  const dataDir = join(folder, "wrong");
  const cases: readonly [string, number, string][] = [
    ["token create --name x", 2, "say what it is for: --administrator, or --workspace and --role"],
    ["token create --name x --administrator --role owner", 2, "--administrator goes without --workspace and --role"],
    ["token create --name x --workspace acme --role boss", 2, "--role is one of viewer, member, admin, owner"],
    ["user disable nobody@example.com", 1, 'there is no user "nobody@example.com"; see `sluice user list`'],
  ];
  for (const [line, status, message] of cases) {
    const answer = await sluice(words(line), dataDir);
    expect([line, answer.status, answer.stdout]).toEqual([line, status, ""]);
    expect(answer.stderr).toContain(message);
  }
});

function words(line: string): readonly string[] {
  return line.split(" ");
}

async function sluice(args: readonly string[], dataDir: string) {
  const child = Bun.spawn([process.execPath, "--no-env-file", cli, ...args], {
    env: { ...bareEnvironment(), SLUICE_DATA_DIR: dataDir },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, stderr };
}

async function startGateway(dataDir: string) {
  const child = Bun.spawn([process.execPath, "--no-env-file", cli, "serve"], {
    env: { ...bareEnvironment(), SLUICE_DATA_DIR: dataDir, SLUICE_PORT: "0", ...administrator },
    stdout: "pipe",
    stderr: "ignore",
  });
  const url = await addressIn(child.stdout);
  const knock = async (secret: string): Promise<number> => {
    const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  return {
    knock,
    /** Until the key is answered so. */
    until: (secret: string, status: number) => until(async () => (await knock(secret)) === status),
    api: (token: string | null) => async (method: string, path: string, body?: object) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url + path, {
        method,
        headers: token === null ? headers : { ...headers, authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer as freely as a caller would.
      return { status: answer.status, body: (await answer.json()) as any };
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** Where the gateway says that it listens. */
async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of output) {
    text += decoder.decode(piece, { stream: true });
    const found = /http:\/\/localhost:(\d+)/.exec(text);
    if (found !== null) return `http://127.0.0.1:${found[1]}`;
  }
  throw new Error(`the gateway ended: ${text}`);
}
