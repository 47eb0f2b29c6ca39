import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Alert, AlertDelivery, GatewayProcess } from "@sluice/contract";
import { bounds, parseExemptions, Secret } from "#core/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import { openPostgresFixture, type PostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, hello, type StartedGateway, startGateway } from "../started-gateway.ts";

const password = "correct horse battery staple";
const [ada, bob] = ["ada@example.com", "bob@example.com"];

interface Received {
  readonly id: string | null;
  readonly type: string;
  readonly alert: string;
}

await onPostgres("alerts of two gateways", () => {
  let fixture: PostgresFixture;
  let redis: RedisServer;
  let gateways: readonly StartedGateway[] = [];
  const clocks = [new MovedClock(), new MovedClock()];
  const received: Received[] = [];
  /** Null: the receiver does not answer. */
  let status: number | null = 204;
  const receiver = Bun.serve({
    idleTimeout: 0,
    port: 0,
    async fetch(request) {
      const { type, data } = (await request.json()) as { type: string; data: { alert: string } };
      received.push({ id: request.headers.get("webhook-id"), type, alert: data.alert });
      return status === null ? await new Promise<Response>(() => {}) : new Response(null, { status });
    },
  });

  beforeAll(async () => {
    if (noRedis !== null) return;
    [fixture, redis] = await Promise.all([openPostgresFixture(), RedisServer.start()]);
    const environment = {
      databaseUrl: new Secret(fixture.url),
      redisUrl: new Secret(redis.url),
      masterKey: new Secret("a-master-key-of-the-installation-0123456789"),
      administrator: { email: ada, password: new Secret(password) },
      webhookExemptions: parseExemptions("127.0.0.1").rules,
    };
    const keys = [{ name: "alice", secret: aliceKey, budget: { usd: 0.001, period: "total" as const } }];
    for (const clock of clocks) gateways = [...gateways, await startGateway({ environment, clock, keys })];
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await receiver.stop(true);
    await redis?.stop();
    await fixture?.[Symbol.asyncDispose]();
  });

  const origin = ({ gateway }: StartedGateway) => `http://localhost:${gateway.consolePort}`;
  const cookies = new Map<string, string>();
  const signIn = async (gateway: StartedGateway, email: string) => {
    const answer = await fetch(`${origin(gateway)}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: origin(gateway) },
      body: JSON.stringify({ email, password }),
    });
    expect(answer.status).toBe(200);
    const lines = answer.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
    cookies.set(`${origin(gateway)} ${email}`, lines.join("; "));
  };
  const call = async <Body>(gateway: StartedGateway, who: string, method: string, path: string, body?: object) => {
    const cookie = cookies.get(`${origin(gateway)} ${who}`) ?? "";
    const answer = await fetch(origin(gateway) + path, {
      method,
      headers: { cookie, origin: origin(gateway), "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect([path, answer.status < 300]).toEqual([path, true]);
    return (await answer.json()) as Body;
  };
  /** Advances both clocks until the condition holds. */
  const passing = (isSo: () => boolean) =>
    until(() => {
      for (const clock of clocks) clock.move(1_000);
      return isSo();
    });
  const alertsAt = async (gateway: StartedGateway) =>
    (await call<{ data: readonly Alert[] }>(gateway, ada, "GET", "/api/alerts?workspace=acme")).data;
  const deliveriesAt = async (gateway: StartedGateway, id: string) =>
    (await call<{ deliveries: readonly AlertDelivery[] }>(gateway, ada, "GET", `/api/alerts/${id}`)).deliveries;
  const unreadAt = async (gateway: StartedGateway, who: string) =>
    (await call<{ unread: number }>(gateway, who, "GET", "/api/inbox")).unread;

  test.skipIf(noRedis !== null)(
    "send each message once, also after the end of the process that sent it, and show one history",
    async () => {
      const [one, two] = gateways as [StartedGateway, StartedGateway];
      for (const gateway of gateways) await signIn(gateway, ada);
      const invited = { email: bob, role: "admin" };
      const { link } = await call<{ link: string }>(one, ada, "POST", "/api/workspaces/acme/invitations", invited);
      const account = { token: link.slice(link.indexOf("=") + 1), name: "Bob", password };
      await call(two, "nobody", "POST", "/api/invitation/accept", account);
      for (const gateway of gateways) await signIn(gateway, bob);
      const target = { kind: "webhook", url: `http://127.0.0.1:${receiver.port}/alerts` };
      const fields = { name: "team", language: "en", enabled: true, target };
      const { id } = await call<{ id: string }>(one, ada, "POST", "/api/workspaces/acme/alert-channels", fields);
      const rule = {
        ...{ name: "Budgets", channels: [id], quiet_hours: null, repeat_hours: null, send_resolved: true },
        ...{ enabled: true, muted_until: null },
        condition: { kind: "budget", percent: [10], scope: "key", scope_id: null },
      };
      const made = await call<{ id: string }>(two, ada, "POST", "/api/workspaces/acme/alert-rules", rule);

      for (let calls = 0; calls < 5; calls++) {
        expect((await one.chat({ ...hello, max_tokens: 8 }, { script: { tokens: 8 } })).status).toBe(200);
      }
      await passing(() => received.length > 0);
      // Both evaluate several times.
      for (const clock of clocks) clock.move(5 * bounds.alertCheckMs);
      const isOurs = ({ rule: { name } }: Alert) => name === "Budgets";
      const [alert, ...others] = (await alertsAt(one)).filter(isOurs);
      expect(others).toEqual([]);
      expect((await alertsAt(two)).filter(isOurs)).toEqual([alert as Alert]);
      const alertId = alert?.id ?? "";
      for (const gateway of gateways) {
        await until(async () => (await deliveriesAt(gateway, alertId))[0]?.sent_at != null);
        expect(await deliveriesAt(gateway, alertId)).toMatchObject([{ event: "opened", tries: 1, next_at: null }]);
      }

      const before = await unreadAt(two, bob);
      await call(one, ada, "POST", "/api/inbox/read", { alerts: null });
      expect([await unreadAt(one, ada), await unreadAt(two, ada)]).toEqual([0, 0]);
      expect([before > 0, await unreadAt(one, bob), await unreadAt(two, bob)]).toEqual([true, before, before]);

      // The process that sends the end gets no answer and stops before it stored a result.
      status = null;
      await call(one, ada, "PATCH", `/api/workspaces/acme/alert-rules/${made.id}`, { enabled: false });
      await passing(() => received.length > 1);
      const processes = await call<{ data: readonly GatewayProcess[] }>(one, ada, "GET", "/api/system/processes");
      const leads = processes.data.find(({ leads }) => leads.includes("alerts"))?.id;
      const [sender, other] = leads === one.control.instanceId ? [one, two] : [two, one];
      await sender.gateway.close();
      status = 204;
      await passing(() => received.length > 2);
      await until(async () => (await deliveriesAt(other, alertId))[0]?.sent_at != null);
      const [opened, ended, again] = received;
      expect(received.map(({ type }) => type)).toEqual(["alert.opened", "alert.resolved", "alert.resolved"]);
      expect(again).toEqual(ended as Received);
      expect([opened?.alert, ended?.alert]).toEqual([alertId, alertId]);
      expect(await deliveriesAt(other, alertId)).toMatchObject([
        { event: "resolved", next_at: null, problem: null },
        { event: "opened", tries: 1 },
      ]);
    },
  );
});
