import { afterEach, expect, spyOn, test } from "bun:test";
import { assetTickMs } from "#assets/assets.ts";
import { systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { until } from "../../../test/until.ts";
import { assetCall, openFixture, thrownBy } from "./fixture.ts";

/** URLs that are refused before anything is fetched. */
const unspeakable = [
  "ftp://a.example/x",
  "file:///etc/passwd",
  "gopher://127.0.0.1:6379/_FLUSHALL",
  "data:text/plain,x",
  "demo://simulator/v1/models",
  "https://user:secret@a.example/x",
  "http://a.example:22/",
  "http://a.example:6379/",
  "http://127.0.0.1:8787/healthz",
  "http://a.example/x\r\nx-injected: 1",
  "http://a.example\\@127.0.0.1/",
  "//127.0.0.1/x",
];

/** Addresses on the web that must never be connected to. */
const inside = [
  "http://127.0.0.1/",
  "http://127.1/",
  "http://0x7f.1/",
  "http://2130706433/",
  "http://0177.0.0.1/",
  "http://①②⑦.0.0.1/",
  "http://127.0.0.1./",
  "http://localhost/",
  "http://a.localhost/",
  "http://0.0.0.0/",
  "http://10.1.2.3/",
  "http://100.64.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://172.16.0.1/",
  "http://192.0.0.1/",
  "http://192.168.1.1/",
  "http://198.18.0.1/",
  "http://224.0.0.1/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://[::]/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[fc00::1]/",
  "http://[fe80::1]/",
  "http://[2002:7f00:1::]/",
  "http://[2001:0:7f00:1::]/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://metadata/",
  // Names that look public but are not.
  "https://inside.example/",
  "https://mixed.example/",
];

const addresses: Readonly<Record<string, readonly string[]>> = {
  "inside.example": ["10.0.0.1"],
  "mixed.example": ["8.8.8.8", "127.0.0.1"],
};

const spies: { mockRestore(): void }[] = [];
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const spy of spies.splice(0)) spy.mockRestore();
  for (const stop of stops.splice(0)) await stop();
});

/** Uses the real transport with fake DNS and a recorded dial. */
async function openGuarded() {
  const dialled: string[] = [];
  const dial = Bun.connect.bind(Bun);
  // Answers any connection.
  const anybody = Bun.serve({ idleTimeout: 0, hostname: "127.0.0.1", port: 0, fetch: () => new Response("inside") });
  stops.push(() => anybody.stop(true));
  spies.push(
    spyOn(globalThis, "fetch").mockImplementation(
      Object.assign(() => Promise.reject<Response>(new Error("must not be used")), { preconnect: () => undefined }),
    ),
  );
  const elsewhere = (options: Parameters<typeof dial>[0]) => {
    dialled.push("hostname" in options ? String(options.hostname) : "a file");
    return dial({ ...options, hostname: "127.0.0.1", port: anybody.port ?? 0 } as Parameters<typeof dial>[0]);
  };
  spies.push(spyOn(Bun, "connect").mockImplementation(elsewhere as typeof Bun.connect));
  const resolve = async (name: string) => {
    const address = addresses[name];
    if (address === undefined) throw new Error(`no such name: ${name}`);
    return address;
  };
  const fixture = await openFixture();
  fixture.web.elsewhere = createTransport({ clock: systemClock, resolve });
  return { fixture, dialled };
}

test("refuses a URL outside the public web when the asset is created", async () => {
  const { fixture, dialled } = await openGuarded();
  await using _fixture = fixture;
  const groupId = await fixture.localGroup();
  for (const url of unspeakable) {
    const thrown = await thrownBy(fixture.assets.createAsset(...assetCall({ groupId, url })));
    expect(thrown).toMatchObject({ code: "invalid_request", param: "url" });
  }
  expect(dialled).toEqual([]);
  expect((await fixture.assets.assets("ws_acme", { platform: null, groupId, status: null }, null, 10)).assets).toEqual(
    [],
  );
});

test("never connects to a private address for an asset, directly or after a redirect", async () => {
  const { fixture, dialled } = await openGuarded();
  await using _fixture = fixture;
  const groupId = await fixture.localGroup();
  const ids: string[] = [];
  for (const [index, url] of [...inside, ...unspeakable].entries()) {
    const hop = `https://public.example/${index}`;
    const headers = new Headers();
    // A header cannot carry a line break, so such a redirect never arrives.
    if (!/[\r\n]/.test(url)) headers.set("location", url.normalize("NFKC"));
    fixture.web.page(hop, () => new Response(null, { status: 302, headers }));
    ids.push((await fixture.assets.createAsset(...assetCall({ groupId, url: hop }))).id);
    if (index < inside.length) ids.push((await fixture.assets.createAsset(...assetCall({ groupId, url }))).id);
  }
  fixture.assets.start();
  for (const id of ids) {
    await until(async () => {
      fixture.clock.advance(assetTickMs);
      return (await fixture.row(id)).status === "Failed";
    });
    expect((await fixture.row(id)).error?.code).toBe("fetch_failed");
  }
  expect(dialled).toEqual([]);
});

test("connects to a public name, which shows that the tests above can fail", async () => {
  const { fixture, dialled } = await openGuarded();
  await using _fixture = fixture;
  const groupId = await fixture.localGroup();
  const url = "http://8.8.8.8/x.png";
  expect(await fixture.settled(groupId, url)).toMatchObject({ error: { code: "unsupported_type" } });
  expect(dialled.some((address) => address.includes("8.8.8.8"))).toBe(true);
});

test("a blocked address is final: the asset is Failed after one attempt", async () => {
  const { fixture, dialled } = await openGuarded();
  await using _fixture = fixture;
  const groupId = await fixture.localGroup();
  const startedAt = fixture.clock.now();
  for (const url of ["http://127.0.0.1/a.png", "http://mixed.example/a.png"]) {
    const asset = await fixture.settled(groupId, url);
    expect(asset).toMatchObject({ status: "Failed", error: { code: "fetch_failed" } });
    expect(asset.error?.message).toBe("The host's address is not public.");
  }
  // The clock moves only for a due pass, so nothing was postponed.
  expect(fixture.clock.now()).toBe(startedAt);
  expect(dialled).toEqual([]);
});
