import { expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { addressKind } from "./index.ts";
import type { Resolve } from "./names.ts";
import { partsOf } from "./origin.ts";
import { RouteTable } from "./route-table.ts";

const unasked = () => Promise.reject(new Error("no look-up expected"));

function tableOf(clock: FakeClock, resolve: Resolve): RouteTable {
  return new RouteTable({ clock, resolve });
}

function find(table: RouteTable, url: string, allowPrivateNetwork = false) {
  return table.find(partsOf(url).origin, { allowPrivateNetwork });
}

async function verdict(url: string, allowPrivateNetwork: boolean, table = tableOf(new FakeClock(), unasked)) {
  try {
    return (await find(table, url, allowPrivateNetwork)).targets.map((t) => t.address);
  } catch (thrown) {
    return thrown instanceof Failure ? thrown.code : thrown;
  }
}

const privateSpellings = [
  "http://localhost/",
  "http://LOCALHOST./",
  "http://a.localhost/",
  "http://127.1/",
  "http://0x7f.1/",
  "http://2130706433/",
  "http://0177.0.0.1/",
  "http://①②⑦.0.0.1/",
  "http://127.0.0.1./",
  "http://[::1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://10.1.2.3:8080/",
  "https://192.168.0.1/v1",
];

test.each(privateSpellings)("%s needs permission for the private network", async (url) => {
  expect(await verdict(url, false)).toBe("upstream_unreachable");
  expect(await verdict(url, true)).toBeArray();
});

const refusedAlways = [
  "http://0.0.0.0/",
  "http://[::]/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[fe80::1]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[fd00:ec2::254]/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://METADATA.google.internal./",
  "http://metadata/",
  "http://100.100.100.200/",
  "ftp://127.0.0.1/",
  "file:///etc/passwd",
  "gopher://127.0.0.1/",
  "javascript://127.0.0.1/",
  "http://user:pass@127.0.0.1/",
  "http://user@127.0.0.1/",
  "http://127.0.0.1/a\r\nx-evil: 1",
  "http://127.0.0.1\r\n.example/",
  "http://127.0.0.1/a b",
  "http://127.0.0.1\\@example.com/",
  "//127.0.0.1/",
  "127.0.0.1",
  "http://",
  `http://127.0.0.1/${"a".repeat(10_000)}`,
];

test.each(refusedAlways)("%p is always refused", async (url) => {
  expect(await verdict(url, true)).toBe("upstream_unreachable");
});

test("a name is refused if any of its addresses is not public", async () => {
  for (const bad of ["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "169.254.169.254", "0.0.0.0", "::ffff:127.0.0.1"]) {
    for (const addresses of [[bad], ["8.8.8.8", bad], [bad, "8.8.8.8"], [...Array(20).fill("8.8.8.8"), bad]]) {
      const table = tableOf(new FakeClock(), async () => addresses);
      expect(await verdict("https://upstream.example/", false, table)).toBe("upstream_unreachable");
    }
  }
});

test("permission for the private network does not include link-local and metadata addresses", async () => {
  const table = tableOf(new FakeClock(), async () => ["10.0.0.1", "169.254.169.254"]);
  expect(await verdict("https://upstream.example/", true, table)).toBe("upstream_unreachable");
});

test("a private address of an alternating resolver is never dialed", async () => {
  const clock = new FakeClock();
  let asked = 0;
  const answers = [["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8", "127.0.0.1"]];
  const table = tableOf(clock, async () => answers[asked++ % 3] ?? []);
  let served = 0;
  for (let i = 0; i < 1_000; i++) {
    const found = await verdict("http://rebind.example/", false, table);
    if (Array.isArray(found)) {
      served++;
      for (const address of found) expect(addressKind(address)).toBe("public");
    }
    clock.advance(31_000);
  }
  expect(asked).toBeGreaterThan(990);
  expect(served).toBeGreaterThan(300);
});

test("the checked address is dialed, with the port of the URL", async () => {
  const table = tableOf(new FakeClock(), async () => ["8.8.8.8", "2606:4700::1111"]);
  const route = await find(table, "https://Upstream.example:8443/v1/x?y#z");
  expect(route.targets).toMatchObject([
    { address: "8.8.8.8", port: 8443 },
    { address: "2606:4700::1111", port: 8443 },
  ]);
  expect(route.origin.hostHeader).toBe("upstream.example:8443");
  expect(route.tls).toEqual({ serverName: "upstream.example" });
});

test("a cached origin is routed without a promise and without another lookup", async () => {
  let asked = 0;
  const table = tableOf(new FakeClock(), async () => {
    asked++;
    return ["8.8.8.8"];
  });
  const first = await find(table, "https://upstream.example/v1/a");
  const second = find(table, "https://upstream.example/v1/b");
  expect(second).toBe(first);
  expect(asked).toBe(1);
});

test("a call dials only addresses that were checked for it, also when the name changes meanwhile", async () => {
  const clock = new FakeClock();
  const answers = [["8.8.8.8"], ["8.8.8.8", "10.0.0.1"]];
  const table = tableOf(clock, async () => answers.shift() ?? []);
  const [first, same] = await Promise.all(["a", "b"].map((path) => find(table, `https://upstream.example/${path}`)));
  expect(same).toBe(first);
  clock.advance(31_000);
  await expect(find(table, "https://upstream.example/", true)).resolves.toMatchObject({ kind: "private" });
  expect(await verdict("https://upstream.example/", false, table)).toBe("upstream_unreachable");
  expect(first?.targets.map(({ address }) => address)).toEqual(["8.8.8.8"]);
});
