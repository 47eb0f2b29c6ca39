import { expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { type Overrides, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

await onPostgres("two gateways and a vendor's bill", () => {
  test("reads the bill of a day in one of two processes that find it due at the same time", async () => {
    let readings = 0;
    const vendor = Bun.serve({
      idleTimeout: 0,
      port: 0,
      fetch(request) {
        if (new URL(request.url).pathname.endsWith("/analytics/cost")) readings++;
        return Response.json({ data: [], has_more: false, next_page: null });
      },
    });
    await using fixture = await openPostgresFixture();
    const clock = new MovedClock();
    const billing = { kind: "anthropic" as const, admin_key: "sk-ant-admin", base_url: vendor.url.origin };
    const providers: Overrides["providers"] = (simulator) => [upstream("main", simulator, { billing })];
    const environment = {
      databaseUrl: new Secret(fixture.url),
      masterKey: new Secret("a-master-key-of-the-installation-0123456789"),
    };
    const gateways: StartedGateway[] = [];
    for (let n = 0; n < 2; n++) gateways.push(await startGateway({ clock, environment, providers }));
    // Both check for due bills a minute after their start.
    clock.move(61_000);
    const rows = () => gateways[0]?.control.database.kysely.selectFrom("bill_readings").selectAll().execute();
    await until(async () => (await rows())?.length === 1);
    expect(await rows()).toMatchObject([{ provider: "main", problem: null }]);
    // A stop waits for a reading that is under way.
    for (const gateway of gateways) await gateway.stop();
    await vendor.stop(true);
    expect(readings).toBe(1);
  });
});
