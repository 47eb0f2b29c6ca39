import { describe, expect, test } from "bun:test";
import { EgressProxyInvalid, egressProxyFor, parseEgressProxy, parseExemptions } from "./egress-proxy.ts";

const proxy = parseEgressProxy("http://proxy.example:3128");
const straight = (list: string, url: string): boolean => {
  const { protocol, hostname, port } = new URL(url);
  const scheme = protocol.slice(0, -1);
  const origin = {
    scheme,
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port),
  };
  return egressProxyFor({ http: proxy, https: proxy, exempt: parseExemptions(list).rules }, origin) === null;
};

describe("NO_PROXY", () => {
  test.each([
    ["", "https://api.example.com", false],
    ["*", "https://api.example.com", true],
    ["example.com", "https://example.com", true],
    ["example.com", "https://api.example.com", true],
    ["EXAMPLE.com", "https://api.example.com", true],
    ["example.com", "https://badexample.com", false],
    [".example.com", "https://api.example.com", true],
    [".example.com", "https://example.com", false],
    ["*.example.com", "https://a.b.example.com", true],
    ["a.example, b.example\tc.example", "https://c.example", true],
    ["example.com:8443", "https://example.com:8443", true],
    ["example.com:8443", "https://example.com", false],
    ["example.com:443", "https://example.com", true],
    ["10.0.0.0/8", "http://10.1.2.3:8000", true],
    ["10.0.0.0/8", "http://11.1.2.3:8000", false],
    ["10.0.0.0/8", "http://ten.example:8000", false],
    ["192.0.2.1", "http://192.0.2.1", true],
    ["192.0.2.1:81", "http://192.0.2.1", false],
    ["fd00::/8", "http://[fd12::1]:80", true],
    ["[2001:db8::1]:443", "https://[2001:db8::1]", true],
    ["2001:db8::1", "https://[2001:db8::1]:9", true],
    ["", "http://localhost:11434", true],
    ["", "http://127.8.0.1:11434", true],
    ["", "http://[::1]:11434", true],
    ["", "http://[::ffff:127.0.0.1]:11434", true],
  ])("%p: %s bypasses the proxy: %p", (list, url, expected) => {
    expect(straight(list, url)).toBe(expected);
  });

  test("reports invalid rules and applies the others", () => {
    const { rules, unread } = parseExemptions("example.com,10.0.0.0/99,http://x.example,ok.example:x");
    expect([rules.length, unread]).toEqual([1, ["10.0.0.0/99", "http://x.example", "ok.example:x"]]);
  });
});

describe("a proxy's address", () => {
  test("is read with and without scheme, port and credentials, and the credentials are not shown", () => {
    expect(parseEgressProxy("proxy.example")).toEqual({ hostname: "proxy.example", port: 80, authorization: null });
    expect(parseEgressProxy("http://[2001:db8::1]:3128/")).toMatchObject({ hostname: "2001:db8::1", port: 3128 });
    const withCredentials = parseEgressProxy("http://us%40er:p%3Ass@proxy.example:1");
    expect(withCredentials.authorization?.reveal()).toBe(`Basic ${btoa("us@er:p:ss")}`);
    expect(Bun.inspect(withCredentials)).not.toContain(btoa("us@er:p:ss"));
    expect(JSON.stringify(withCredentials)).not.toContain(btoa("us@er:p:ss"));
  });

  test.each([
    "https://proxy.example",
    "socks5://proxy.example",
    "http://",
    "http://pro xy",
    "http://a/path",
    "http://a?q",
    "http://%zz@a",
    "http://a:99999",
  ])("is refused: %s", (text) => {
    expect(() => parseEgressProxy(text)).toThrow(EgressProxyInvalid);
  });
});
