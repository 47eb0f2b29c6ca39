import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { webhookSecretOf } from "#main.ts";
import { type ConsoleFixture, openConsoleFixture, type Who } from "../console-fixture.ts";

const openFixture = () =>
  openConsoleFixture(({ vault }) => ({
    webhookSecret: (id: string | null) => webhookSecretOf(vault, id ?? "installation"),
  }));
const show = (fixture: ConsoleFixture, who: Who, workspace = "acme") =>
  fixture.call(who, "workspaces.webhookSecret", { params: { workspace } });

test("a workspace's admins see its webhook secret, which is stable and differs between workspaces", async () => {
  await using fixture = await openFixture();
  const first = await show(fixture, "admin");
  expect(first.status).toBe(200);
  const { secret } = first.body;
  for (const who of ["owner", "administrator"] as const) expect((await show(fixture, who)).body).toEqual({ secret });
  expect((await show(fixture, "stranger", "other")).body.secret).not.toBe(secret);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  expect([secret.startsWith("whsec_"), key.length]).toEqual([true, 32]);
  // Derived as the senders of notices and task messages do.
  const sign = (text: string) =>
    createHmac("sha256", Buffer.from(text.slice(6), "base64"))
      .update("x")
      .digest("hex");
  expect(sign(secret)).toBe(sign(webhookSecretOf(fixture.vault, fixture.acme.id)));
});

test("the secret is refused to lower roles and old sign-ins, is not cached, and the installation has another one for administrators", async () => {
  await using fixture = await openFixture();
  for (const [who, status] of [
    ["nobody", 401],
    ["newcomer", 404],
    ["stranger", 404],
    ["viewer", 403],
    ["member", 403],
  ] as const) {
    expect([who, (await show(fixture, who)).status]).toEqual([who, status]);
  }
  expect((await show(fixture, { stale: "owner" })).code).toBe("confirm_sign_in");
  expect((await show(fixture, "owner", "-")).status).toBe(403);
  const { secret } = (await show(fixture, "administrator", "-")).body;
  expect(secret).not.toBe((await show(fixture, "owner")).body.secret);
  expect((await show(fixture, "owner")).headers.get("cache-control")).toBe("no-store");
});

test("each view of the secret is in the workspace's audit log, without the secret", async () => {
  await using fixture = await openFixture();
  const last = (await fixture.audit()).at(-1)?.seq ?? 0;
  await show(fixture, "viewer");
  const { secret } = (await show(fixture, "admin")).body;
  const rows = await fixture.audit(last);
  expect(rows).toMatchObject([
    {
      actor: "admin@example.com",
      ip: "192.0.2.1",
      action: "view",
      object: "webhook secret acme",
      workspace_id: fixture.acme.id,
    },
  ]);
  expect(JSON.stringify(rows)).not.toContain(secret);
});
