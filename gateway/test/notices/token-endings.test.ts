import { afterEach, beforeEach, expect, test } from "bun:test";
import { noticeFixture } from "./notice-fixture.ts";

const day = 86_400_000;
let fixture: Awaited<ReturnType<typeof noticeFixture>>;
beforeEach(async () => {
  fixture = await noticeFixture();
});
afterEach(() => fixture.close());

const sentNotices = () => fixture.bodies().map(({ type, data }) => [type, data.token, data.days]);

/** Turns the workspace's key into a service token that expires in `days` days. */
async function token(days: number, more: { readonly enabled?: number; readonly revoked_at?: number } = {}) {
  const row = { service: 1, expires_at: fixture.clock.now() + days * day, ...more };
  await fixture.database.kysely.updateTable("api_keys").set(row).execute();
  return row.expires_at;
}

test("notifies seven days and one day before a service token expires, once each, and again for a new expiry", async () => {
  const { id } = await fixture.notice();
  const expiresAt = await token(8);
  await fixture.watch.check();
  expect(sentNotices()).toEqual([]);
  fixture.clock.advance(day);
  await fixture.watch.check();
  await fixture.watch.check();
  expect(sentNotices()).toEqual([["service_token.expires", "ci", 7]]);
  expect(fixture.bodies()[0]).toMatchObject({
    text: expect.stringContaining("The service token ci of acme expires at "),
    data: { workspace: "acme", notice: "to the team", expires_at: expiresAt, key_id: expect.any(String) },
  });
  expect((await fixture.store.find(id))?.last).toMatchObject({ about: "service_token", budget: "ci", percent: 7 });
  fixture.clock.advance(6 * day);
  await fixture.watch.check();
  fixture.clock.advance(day);
  await fixture.watch.check();
  expect(sentNotices().map(([, , days]) => days)).toEqual([7, 1]);
  await token(2);
  await fixture.watch.check();
  expect(sentNotices().map(([, , days]) => days)).toEqual([7, 1, 7]);
});

test("sends only the last day's notice for a token found shortly before its expiry", async () => {
  await fixture.notice();
  await token(0.5);
  await fixture.watch.check();
  await fixture.watch.check();
  expect(sentNotices().map(([, , days]) => days)).toEqual([1]);
});

test("a notice for group budgets gets no token notices, and a disabled token triggers none", async () => {
  await fixture.notice({ scope: "group", scope_id: null });
  await token(1);
  await fixture.watch.check();
  expect(sentNotices()).toEqual([]);
  await fixture.notice({ scope: "key", scope_id: null });
  await token(1, { enabled: 0 });
  await fixture.watch.check();
  await token(1, { enabled: 1, revoked_at: 1 });
  await fixture.watch.check();
  expect(sentNotices()).toEqual([]);
});
