import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { NoticeSender } from "#admin/index.ts";
import { systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { noticeFixture } from "./notice-fixture.ts";

let fixture: Awaited<ReturnType<typeof noticeFixture>>;
beforeEach(async () => {
  fixture = await noticeFixture();
});
afterEach(() => fixture.close());

const percents = () => fixture.bodies().map((body) => body.data.percent);

test("notifies once per threshold of a budget, and again in the next period", async () => {
  await fixture.notice();
  await fixture.spend(4);
  await fixture.watch.check();
  expect(percents()).toEqual([]);
  await fixture.spend(1);
  await fixture.watch.check();
  await fixture.watch.check();
  expect(percents()).toEqual([50]);
  await fixture.spend(4);
  await fixture.watch.check();
  expect(percents()).toEqual([50, 80]);
  fixture.clock.advance(86_400_000);
  await fixture.spend(6);
  await fixture.watch.check();
  expect(percents()).toEqual([50, 80, 50]);
});

test("keeps sent notices for some months, and finds the latest one", async () => {
  const { id } = await fixture.notice();
  const stepMs = 10 * 86_400_000;
  for (let turn = 0; turn < 12; turn++) {
    await fixture.spend(6);
    await fixture.watch.check();
    fixture.clock.advance(stepMs);
  }
  expect(fixture.sent.length).toBe(12);
  const { length } = await fixture.database.kysely.selectFrom("notice_sends").selectAll().execute();
  expect(length).toBe(10);
  const last = (await fixture.store.find(id))?.last;
  expect(last).toMatchObject({ ok: true, percent: 50, at: fixture.clock.now() - stepMs });
});

test("does not store a crossing again on later checks", async () => {
  await fixture.notice();
  const { recordCrossings: cross } = fixture.store;
  let written = 0;
  fixture.store.recordCrossings = async (crossings, now) => {
    written += crossings.length;
    await cross(crossings, now);
  };
  await fixture.spend(9);
  for (let check = 0; check < 5; check++) await fixture.watch.check();
  expect(written).toBe(2);
  expect(percents()).toEqual([80]);
});

test("sends only the highest of several thresholds crossed between two checks", async () => {
  await fixture.notice();
  await fixture.spend(10);
  await fixture.watch.check();
  await fixture.watch.check();
  expect(percents()).toEqual([100]);
  expect(fixture.bodies()[0].data).toMatchObject({ used_usd: 10, limit_usd: 10, workspace: "acme" });
});

test("signs a message as a Standard Webhook and never sends it into the private network", async () => {
  await fixture.notice();
  await fixture.spend(5);
  await fixture.watch.check();
  const [request] = fixture.sent;
  expect(request?.allowPrivateNetwork).toBe(false);
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request?.headers ?? {};
  const body = new TextDecoder().decode(request?.body as Uint8Array);
  const expected = createHmac("sha256", "secret of the workspace").update(`${id}.${at}.${body}`).digest("base64");
  expect(signature).toBe(`v1,${expected}`);
});

test("retries a rejected message with growing delays, then gives up, and the list shows why", async () => {
  const { id } = await fixture.notice({ percent: [50] });
  fixture.answer(500);
  await fixture.spend(5);
  for (let hour = 0; hour < 48; hour++) {
    await fixture.watch.check();
    fixture.clock.advance(600_000);
  }
  expect(fixture.sent.length).toBe(6);
  expect((await fixture.store.find(id))?.last).toMatchObject({
    ok: false,
    problem: "The address returned 500.",
    fault: { code: "answered", params: { status: 500 } },
    percent: 50,
  });
  fixture.answer(200);
  await fixture.watch.check();
  expect(fixture.sent.length).toBe(6);
});

test("a disabled notice sends nothing, also about earlier crossings", async () => {
  const { id } = await fixture.notice();
  fixture.answer(503);
  await fixture.spend(5);
  await fixture.watch.check();
  await fixture.store.update(id, { enabled: false }, { actor: "ada@example.com", ip: null });
  fixture.answer(200);
  fixture.clock.advance(3_600_000);
  await fixture.watch.check();
  expect(fixture.sent.length).toBe(1);
});

test("a notice can watch a single key", async () => {
  const rows = await fixture.database.kysely.selectFrom("api_keys").select("id").execute();
  await fixture.notice({ scope: "key", scope_id: rows[0]?.id ?? "" });
  await fixture.spend(10);
  await fixture.watch.check();
  expect(percents()).toEqual([]);
});

test("encrypts the address of a notice, and the audit log shows only its type", async () => {
  const { id } = await fixture.notice();
  await fixture.store.update(id, { name: "renamed" }, { actor: "ada@example.com", ip: null });
  await fixture.store.remove(id, { actor: "ada@example.com", ip: null });
  const audit = await fixture.database.kysely.selectFrom("audit_log").selectAll().execute();
  const rows = audit.filter((row) => row.object.startsWith("notice"));
  expect(rows.map((row) => row.action)).toEqual(["create", "update", "remove"]);
  expect(rows.every((row) => row.workspace_id === fixture.workspace.id)).toBe(true);
  expect(JSON.stringify(rows)).not.toContain("secret-path");
  const { channel } = await fixture.notice();
  expect(channel).toEqual({ kind: "webhook", url: "https://chat.example.com/hook/secret-path" });
  const stored = await fixture.database.kysely.selectFrom("notices").selectAll().execute();
  expect(JSON.stringify(stored)).not.toContain("secret-path");
});

test("one workspace's spending does not trigger another's notices", async () => {
  await fixture.store.create(
    "ws_other",
    { name: "x", percent: [1], scope: null, scope_id: null, channel: { kind: "email", to: ["a@b.co"] }, enabled: true },
    { actor: "ada@example.com", ip: null },
  );
  await fixture.spend(10);
  await fixture.watch.check();
  expect(fixture.sent).toEqual([]);
});

test("the error does not distinguish a private address from a missing or rejecting host", async () => {
  const transport = createTransport({
    clock: systemClock,
    resolve: async (name) => {
      if (name === "nowhere.example") throw new Error("ENOTFOUND");
      return [name === "inside.example" ? "10.11.12.13" : "169.254.169.254"];
    },
  });
  const sender = new NoticeSender({
    transport,
    mailer: null,
    clock: systemClock,
    webhookSecrets: () => ["whsec_eA=="],
  });
  const errors = new Set<string | null>();
  for (const host of ["inside.example", "cloud.example", "nowhere.example", "127.0.0.1:1", "[::1]:1"]) {
    const notice = { ...message, noticeId: host };
    errors.add(
      await sender.send({ kind: "webhook", url: `https://${host}/hook` }, notice, new AbortController().signal),
    );
  }
  expect([...errors]).toEqual(["The address could not be reached, or is not public."]);
});

const message = {
  noticeId: "n",
  budget: "test",
  periodStart: 0,
  percent: 50,
  label: "workspace acme",
  usedUsd: 1,
  limitUsd: 2,
  workspaceId: "ws",
  workspaceSlug: "acme",
  noticeName: "n",
  test: true,
};

test("a process that was paused while sending does not report a message that was sent as failed", async () => {
  const { id } = await fixture.notice({ percent: [50] });
  const crossing = { noticeId: id, budget: "b", periodStart: 0, percent: 50, label: "b", usedUsd: 5, limitUsd: 10 };
  await fixture.store.recordCrossings([{ ...crossing, silent: false }], 1);
  const [slow] = await fixture.store.leaseDue(1, 100, 9);
  expect(await fixture.store.leaseDue(1, 100, 9)).toEqual([]);
  const [quick] = await fixture.store.leaseDue(101, 100, 9);
  if (slow === undefined || quick === undefined) throw new Error("nothing was due");
  const failed = { tries: 1, dueAt: 150, sentAt: null, problem: "The address returned 500." };
  await fixture.store.recordSend(slow, failed);
  expect(await fixture.store.leaseDue(150, 100, 9)).toEqual([]);
  await fixture.store.recordSend(quick, { tries: 1, dueAt: null, sentAt: 120, problem: null });
  await fixture.store.recordSend(slow, failed);
  expect((await fixture.store.find(id))?.last).toMatchObject({ ok: true, problem: null });
});
