import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { webhookSecretOf } from "#main.ts";
import { type ConsoleGround, openConsoleGround, type Who } from "../console-ground.ts";

const openGround = () =>
  openConsoleGround(({ vault }) => ({ webhookSecret: (id: string) => webhookSecretOf(vault, id) }));
const look = (ground: ConsoleGround, who: Who, workspace = "acme") =>
  ground.call(who, "workspaces.webhookSecret", { params: { workspace } });

test("a workspace's admins see what its webhooks are signed with: always the same, and another for each workspace", async () => {
  await using ground = await openGround();
  const first = await look(ground, "admin");
  expect(first.status).toBe(200);
  const { secret } = first.body;
  for (const who of ["owner", "administrator"] as const) expect((await look(ground, who)).body).toEqual({ secret });
  expect((await look(ground, "stranger", "other")).body.secret).not.toBe(secret);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  expect([secret.startsWith("whsec_"), key.length]).toEqual([true, 32]);
  // As the senders of notices and of task messages take it.
  const sign = (text: string) =>
    createHmac("sha256", Buffer.from(text.slice(6), "base64"))
      .update("x")
      .digest("hex");
  expect(sign(secret)).toBe(sign(webhookSecretOf(ground.vault, ground.acme.id)));
});

test("it is kept from everybody below, from an old sign-in, from caches, and is not asked of all workspaces at once", async () => {
  await using ground = await openGround();
  for (const [who, status] of [
    ["nobody", 401],
    ["newcomer", 404],
    ["stranger", 404],
    ["viewer", 403],
    ["member", 403],
  ] as const) {
    expect([who, (await look(ground, who)).status]).toEqual([who, status]);
  }
  expect((await look(ground, { stale: "owner" })).code).toBe("confirm_sign_in");
  expect((await look(ground, "administrator", "-")).param).toBe("workspace");
  expect((await look(ground, "owner")).headers.get("cache-control")).toBe("no-store");
});

test("who looked at it is in the audit log of the workspace, without the secret", async () => {
  await using ground = await openGround();
  const last = (await ground.audit()).at(-1)?.seq ?? 0;
  await look(ground, "viewer");
  const { secret } = (await look(ground, "admin")).body;
  const rows = await ground.audit(last);
  expect(rows).toMatchObject([
    {
      actor: "admin@example.com",
      ip: "192.0.2.1",
      action: "view",
      object: "webhook secret acme",
      workspace_id: ground.acme.id,
    },
  ]);
  expect(JSON.stringify(rows)).not.toContain(secret);
});
