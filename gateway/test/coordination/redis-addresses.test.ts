import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkRedis } from "#coordination/index.ts";
import { systemClock } from "#system/index.ts";
import { noRedis, RedisServer } from "../../../test/redis-server.ts";
import { until } from "../../../test/until.ts";
import { budgetClaim, gaugeClaim, windowClaim } from "../conformance/counter-claims.ts";
import { granted, RedisFixture, setSpent } from "./redis-fixture.ts";

const noOpenssl = spawnSync("openssl", ["version"]).status === 0 ? null : "no openssl is installed on this machine";

describe.skipIf(noRedis !== null)(`Redis URLs${noRedis === null ? "" : ` (${noRedis})`}`, () => {
  let fixture: RedisFixture;
  let folder = "";
  beforeAll(async () => {
    fixture = await RedisFixture.open();
    folder = mkdtempSync(join(tmpdir(), "sluice-redis-tls-"));
    writeFileSync(join(folder, "no.pem"), "hello");
    const rights = ["+@read", "+@write", "+@scripting", "+info", "+time", "+ping", "+hello", "+client"];
    await fixture.type("ACL", "SETUSER", "gateway", "on", ">secret-1", "~{sluice}:*", ...rights);
    await fixture.type("ACL", "SETUSER", "weak", "on", ">secret-1", "~*", "+ping", "+hello", "+client");
    await fixture.type("ACL", "SETUSER", "stranger", "on", ">secret-1", "~other:*", ...rights);
    const readOnly = ["+@read", "+@scripting", "+info", "+time", "+ping", "+hello", "+client"];
    await fixture.type("ACL", "SETUSER", "reader", "on", ">secret-1", "~{sluice}:*", ...readOnly);
    await fixture.type("ACL", "SETUSER", "peeker", "on", ">secret-1", "%R~{sluice}:*", ...rights);
  });
  afterAll(async () => {
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("rejects permanent errors with one line that contains no secret", async () => {
    const at = `127.0.0.1:${fixture.server.port}`;
    const failures: readonly (readonly [string, string])[] = [
      ["http://secret-1@host", "begins with redis:// or rediss://"],
      [`redis://:secret-1@${at}/first`, "database number"],
      [`redis://:secret-1@${at}?retries=3`, 'parameter "retries"'],
      [`redis://:secret-1%zz@${at}`, "percent-encoded"],
      [`redis://:secret-1@${at}?cluster=yes`, "true or false"],
      [`redis://:secret-1@${at}?cluster=true&master_name=main`, "not both"],
      [`redis://:secret-1@${at}/3?cluster=true`, "only database 0"],
      [`redis://:secret-1@${at}?addr=other:1`, "master_name or cluster=true"],
      [`redis://:secret-1@${at}?cluster=true&addr=redis://user:secret-1@other`, "host:port"],
      [`redis://:secret-1@${at}?ssl_ca_certs=${folder}/no.pem`, "begins with rediss://"],
      [`rediss://:secret-1@${at}?ssl_ca_certs=${folder}/none.pem`, "Cannot read"],
      [`rediss://:secret-1@${at}?ssl_ca_certs=${folder}/no.pem`, "is not PEM"],
      [`redis://gateway:secret-1x@${at}`, "the user or password is wrong"],
      [`redis://weak:secret-1@${at}`, "its user lacks permissions"],
      [`redis://stranger:secret-1@${at}`, "its user lacks permissions"],
      [`redis://reader:secret-1@${at}`, "its user lacks permissions"],
      [`redis://peeker:secret-1@${at}`, "its user lacks permissions"],
    ];
    for (const [url, words] of failures) {
      const message = await fixture.counter({}, url).catch((error: Error) => error.message);
      expect(message).toContain(words);
      expect(message).not.toContain("secret-1");
      expect(String(message).split("\n")).toHaveLength(1);
      const { problem, displayUrl } = await checkRedis(url, systemClock);
      expect(problem).toContain(words);
      expect(`${problem} ${displayUrl}`).not.toContain("secret-1");
    }
  });

  test("retries transient errors and logs the reason in one line without secrets", async () => {
    const away: readonly (readonly [string, string])[] = [
      ["redis://:secret-1@127.0.0.1:1", "connection refused"],
      ["rediss://:secret-1@127.0.0.1:1", "connection refused"],
      ["redis://:secret-1@nowhere.invalid", "host not found"],
      ["redis://:secret-1@127.0.0.1:1?cluster=true", "nodes are unavailable"],
      ["redis://:secret-1@127.0.0.1:1?master_name=main&sentinel_password=secret-1", "sentinels are available"],
    ];
    for (const [url, words] of away) {
      const earlier = fixture.logs.length;
      const counter = await fixture.counter({}, url);
      expect(counter.isUp).toBe(false);
      expect(counter.problem).toContain(words);
      expect(counter.problem).not.toContain("secret-1");
      expect(fixture.logs.slice(earlier)).toHaveLength(1);
      expect(await counter.reserve([gaugeClaim("g", 1)])).toMatchObject({ granted: false, reason: "unreachable" });
      expect((await checkRedis(url, systemClock)).problem).toContain(words);
      counter.close();
    }
  });

  test("works with an ACL user that has the documented permissions", async () => {
    const counter = await fixture.counter({}, `redis://gateway:secret-1@127.0.0.1:${fixture.server.port}`);
    await setSpent(counter, "b");
    const { ticket } = await granted(counter, [windowClaim("w", 5), gaugeClaim("g", 1), budgetClaim("b", 9, 1)]);
    await counter.settle(ticket, [1, 0, 0]);
    counter.close();
  });

  test("rejects an older server and names its version", async () => {
    const old = oldServer("6.2.14");
    try {
      const url = `redis://127.0.0.1:${old.port}`;
      await expect(fixture.counter({}, url)).rejects.toThrow("version 6.2.14 is too old; use 7 or later.");
      expect(await checkRedis(url, systemClock)).toMatchObject({ problem: null, version: "6.2.14" });
    } finally {
      old.stop(true);
    }
  });

  test("warns once about a server that may evict keys, and uses it", async () => {
    await fixture.type("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const earlier = fixture.logs.length;
    const counter = await fixture.counter();
    await granted(counter, [gaugeClaim("evicted", 1)]);
    expect(fixture.logs.slice(earlier).filter((line) => line.includes("noeviction"))).toHaveLength(1);
    expect((await checkRedis(fixture.server.url, systemClock)).policy).toBe("allkeys-lru");
    await fixture.type("CONFIG", "SET", "maxmemory-policy", "noeviction");
    counter.close();
  });

  test.skipIf(noOpenssl !== null)(
    `connects over TLS with a private CA and a client certificate${noOpenssl === null ? "" : ` (${noOpenssl})`}`,
    async () => {
      const pem = (name: string) => join(folder, name);
      const openssl = (...args: string[]) => expect(spawnSync("openssl", args, { cwd: folder }).status).toBe(0);
      const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
      const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
      writeFileSync(pem("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
      const makeCertificates = (): void => {
        openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority");
        openssl("req", ...key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost");
        openssl("x509", "-req", "-in", "server.csr", "-extfile", "names", "-out", "server.pem", ...by);
      };
      makeCertificates();
      const files = ["--tls-cert-file", pem("server.pem"), "--tls-key-file", pem("server.key")];

      const secure = await RedisServer.start(
        "--port",
        "0",
        "--tls-port",
        "{port}",
        "--tls-ca-cert-file",
        pem("ca.pem"),
        ...files,
      );
      const { port } = secure;
      try {
        const url = `rediss://localhost:${port}`;
        const client = `ssl_certfile=${pem("server.pem")}&ssl_keyfile=${pem("server.key")}`;
        await expect(fixture.counter({}, `${url}?${client}`)).rejects.toThrow("its certificate is not trusted");
        const counter = await fixture.counter({}, `${url}?ssl_ca_certs=${pem("ca.pem")}&${client}`);
        await granted(counter, [gaugeClaim("g", 1)]);
        // Renewed certificates are written to the same files; new connections read them again.
        makeCertificates();
        await secure.end();
        expect(await secure.run()).toBe(true);
        await until(async () => (await counter.reserve([gaugeClaim("renewed", 1)])).granted);
        const plain = await fixture.counter({}, `redis://localhost:${port}`);
        expect(plain.isUp).toBe(false);
        for (const each of [counter, plain]) each.close();
      } finally {
        await secure.stop();
      }
    },
  );
});

/** A server that speaks just enough of the protocol to report its version. */
function oldServer(version: string) {
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
  const ready = `*4\r\n${["ready", "ep", version, "noeviction"].map(bulk).join("")}`;
  return Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const commands = bytes.toString().match(/^\*\d+\r\n\$\d+\r\n(\w+)/gm) ?? [];
        for (const command of commands) socket.write(/EVAL/.test(command) ? ready : "+OK\r\n");
      },
    },
  });
}
