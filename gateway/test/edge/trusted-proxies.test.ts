import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readEnvironment } from "#config/index.ts";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";
import { rawExchange } from "./raw-socket.ts";

const restrictedKey = "sk-inside-0123456789abcdefghij";
const caller = "203.0.113.7";
const callerV6 = "2001:db8::7";
const proxies = readEnvironment({ SLUICE_TRUSTED_PROXIES: "loopback, 192.0.2.0/24 2001:db8:ffff::/48" }).trustedProxies;
const keys = [{ name: "inside", secret: restrictedKey, allowed_ips: [caller, `${callerV6}/128`] }];

let gateway: StartedGateway;
let withoutProxies: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({ keys, environment: { trustedProxies: proxies } });
  withoutProxies = await startGateway({ keys });
});
afterAll(async () => {
  await gateway?.stop();
  await withoutProxies?.stop();
});

/**
 * The status for a key that is restricted to two addresses. Uses a raw socket so that every header line is sent
 * unchanged.
 */
async function statusOf(lines: readonly string[], at = gateway): Promise<number> {
  const body = JSON.stringify(hello);
  const head =
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${restrictedKey}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n${lines.map((line) => `${line}\r\n`).join("")}`;
  return (await rawExchange(at.gateway.server.port, head, body)).status;
}

describe("behind a trusted proxy, the caller is", () => {
  test.each<[string, string[]]>([
    ["the last in X-Forwarded-For", [`x-forwarded-for: ${caller}`]],
    ["the last that is not a trusted proxy", [`x-forwarded-for: 198.51.100.1, ${caller}, 192.0.2.9, 127.0.0.1`]],
    ["the last of several lines", ["x-forwarded-for: 198.51.100.1", `x-forwarded-for: ${caller}`]],
    ["an address with a port", [`x-forwarded-for: ${caller}:4711`]],
    ["an IPv6 address", [`x-forwarded-for: ${callerV6}`]],
    ["an IPv6 address in long form", ["x-forwarded-for: 2001:0DB8:0:0:0:0:0:7"]],
    ["an IPv6 address with a port", [`x-forwarded-for: [${callerV6}]:4711`]],
    ["an IPv4 address mapped to IPv6", [`x-forwarded-for: ::ffff:${caller}`]],
    ["the last in Forwarded", [`forwarded: for=198.51.100.1, for=${caller};proto=https;by=192.0.2.1`]],
    ["a quoted address in Forwarded", [`forwarded: For="${caller}:80"`]],
    ["an IPv6 address in Forwarded", [`forwarded: proto=https; for="[${callerV6}]:4711", for=192.0.2.7`]],
    ["an address in both headers", [`forwarded: for=${caller}`, `x-forwarded-for: ${caller}`]],
    ["the last of hundreds of entries", [`x-forwarded-for: ${"198.51.100.1,".repeat(800)}${caller}`, "x-anything: 1"]],
  ])("%s", async (_title, lines) => {
    expect(await statusOf(lines)).toBe(200);
  });
});

describe("a caller cannot forge its address with", () => {
  test.each<[string, string[]]>([
    ["no header", []],
    ["an address before the one that the proxy added", [`x-forwarded-for: ${caller}, 198.51.100.1`]],
    ["an address before a hidden caller", [`forwarded: for=${caller}, for=_hidden`]],
    ["an address before an unknown caller", [`x-forwarded-for: ${caller}, unknown`]],
    ["an address before an empty entry", [`x-forwarded-for: ${caller},`]],
    ["Forwarded, if the proxy sets X-Forwarded-For", [`forwarded: for=${caller}`, "x-forwarded-for: 198.51.100.1"]],
    ["X-Forwarded-For, if the proxy sets Forwarded", ["forwarded: for=198.51.100.1", `x-forwarded-for: ${caller}`]],
    ["an unclosed quote", [`forwarded: for="${caller}, for=198.51.100.1`]],
    ["a comma in quotes", [`forwarded: for="${caller}, x";for=198.51.100.1`]],
    ["a number that some parsers read as an address", ["x-forwarded-for: 3405803783"]],
    ["a short form", ["x-forwarded-for: 203.113.7"]],
    ["octal digits", ["x-forwarded-for: 0313.0.0161.07"]],
    ["a name", ["x-forwarded-for: localhost"]],
    ["an address with a path", [`x-forwarded-for: ${caller}/32`]],
    ["an IPv4 address in brackets", [`x-forwarded-for: [${caller}]`]],
    ["an address before an IPv6 address with a zone", [`x-forwarded-for: ${caller}, fe80::1%eth0`]],
    ["a very long value", [`x-forwarded-for: ${caller}${"0".repeat(5_000)}`]],
    ["more proxies than allowed", [`x-forwarded-for: ${caller}${", 192.0.2.1".repeat(40)}`]],
    ["another header", [`x-real-ip: ${caller}`, `true-client-ip: ${caller}`, `cf-connecting-ip: ${caller}`]],
  ])("%s", async (_title, lines) => {
    expect(await statusOf(lines)).toBe(403);
  });
});

test("trusts no header without SLUICE_TRUSTED_PROXIES", async () => {
  expect(await statusOf([`x-forwarded-for: ${caller}`], withoutProxies)).toBe(403);
  expect(await statusOf([`forwarded: for=${caller}`], withoutProxies)).toBe(403);
});

test("failed sign-ins behind a proxy do not lock out other callers", async () => {
  const signIn = (address: string, password: string) =>
    fetch(`${gateway.url}/api/auth/sign-in/email`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-forwarded-for": address,
        host: `localhost:${gateway.gateway.server.port}`,
      },
      body: JSON.stringify({ email: `somebody-${password}@example.org`, password: "a wrong password" }),
    });
  const guesses: number[] = [];
  for (let count = 0; count < 11; count++) guesses.push((await signIn("198.51.100.1", String(count))).status);
  expect(guesses).toEqual([...Array(10).fill(401), 429]);
  expect((await signIn("198.51.100.2", "x")).status).toBe(401);
});

test.each(["10.0.0.0/33", "somewhere", "127.1", "10.0.0.1:80"])("refuses SLUICE_TRUSTED_PROXIES=%s", (value) => {
  expect(() => readEnvironment({ SLUICE_TRUSTED_PROXIES: value })).toThrow("SLUICE_TRUSTED_PROXIES must be");
});
