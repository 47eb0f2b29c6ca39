import { afterEach, beforeEach, expect, test } from "bun:test";
import { noticeGround } from "./notice-ground.ts";

const day = 86_400_000;
let ground: Awaited<ReturnType<typeof noticeGround>>;
beforeEach(async () => {
  ground = await noticeGround();
});
afterEach(() => ground.close());

const sentNotices = () => ground.bodies().map(({ type, data }) => [type, data.token, data.days]);

/** Turns the workspace's key into a service token that expires in `days` days. */
async function token(days: number, more: { readonly enabled?: number; readonly revoked_at?: number } = {}) {
  const row = { service: 1, expires_at: ground.clock.now() + days * day, ...more };
  await ground.database.kysely.updateTable("api_keys").set(row).execute();
  return row.expires_at;
}

test("notifies seven days and one day before a service token expires, once each, and again for a new expiry", async () => {
  const { id } = await ground.notice();
  const expiresAt = await token(8);
  await ground.watch.check();
  expect(sentNotices()).toEqual([]);
  ground.clock.advance(day);
  await ground.watch.check();
  await ground.watch.check();
  expect(sentNotices()).toEqual([["service_token.expires", "ci", 7]]);
  expect(ground.bodies()[0]).toMatchObject({
    text: expect.stringContaining("The service token ci of acme expires at "),
    data: { workspace: "acme", notice: "to the team", expires_at: expiresAt, key_id: expect.any(String) },
  });
  expect((await ground.store.find(id))?.last).toMatchObject({ about: "service_token", budget: "ci", percent: 7 });
  ground.clock.advance(6 * day);
  await ground.watch.check();
  ground.clock.advance(day);
  await ground.watch.check();
  expect(sentNotices().map(([, , days]) => days)).toEqual([7, 1]);
  await token(2);
  await ground.watch.check();
  expect(sentNotices().map(([, , days]) => days)).toEqual([7, 1, 7]);
});

test("sends only the last day's notice for a token found shortly before its expiry", async () => {
  await ground.notice();
  await token(0.5);
  await ground.watch.check();
  await ground.watch.check();
  expect(sentNotices().map(([, , days]) => days)).toEqual([1]);
});

test("a notice for group budgets gets no token notices, and a disabled token triggers none", async () => {
  await ground.notice({ scope: "group", scope_id: null });
  await token(1);
  await ground.watch.check();
  expect(sentNotices()).toEqual([]);
  await ground.notice({ scope: "key", scope_id: null });
  await token(1, { enabled: 0 });
  await ground.watch.check();
  await token(1, { enabled: 1, revoked_at: 1 });
  await ground.watch.check();
  expect(sentNotices()).toEqual([]);
});
