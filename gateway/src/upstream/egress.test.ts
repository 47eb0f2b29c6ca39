import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Egress, Failure, parseEgressProxy, parseExemptions } from "#core/index.ts";
import type { OutboundRequest } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { until } from "../../../test/until.ts";
import { type EgressFixture, openEgressFixture } from "../../test/egress-fixture.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { outbound } from "../../test/outbound.ts";
import { createTransport } from "./index.ts";
import type { TransportOptions } from "./route-table.ts";

const never = new AbortController().signal;
const decoder = new TextDecoder();

describe("calls through an egress proxy", () => {
  let fixture: EgressFixture;
  beforeAll(async () => {
    fixture = await openEgressFixture();
  });
  afterAll(() => fixture.close());

  const egressTo = (address: string, exempt = ""): Egress => {
    const proxy = parseEgressProxy(address);
    return { http: proxy, https: proxy, exempt: parseExemptions(exempt).rules };
  };
  const open = (more: Partial<TransportOptions> = {}) =>
    createTransport({
      clock: systemClock,
      resolve: async () => [],
      authorities: [fixture.authority],
      egress: egressTo(`http://user:pass%20word@127.0.0.1:${fixture.port}`),
      ...more,
    });
  const say = async (transport: ReturnType<typeof open>, url: string, changes: Partial<OutboundRequest> = {}) => {
    const { status, body } = await transport.send(outbound(url, { allowPrivateNetwork: false, ...changes }), never);
    return [status, decoder.decode(await body.readAll(1_000, "idle", 5_000))];
  };
  const failureOf = async (work: Promise<unknown>): Promise<Failure> => {
    const thrown = await work.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (thrown instanceof Failure) return thrown;
    throw new Error(`no Failure, but ${String(thrown)}`);
  };

  test("https uses CONNECT with an unresolved name, and checks the upstream's certificate", async () => {
    fixture.seen.length = 0;
    const transport = open();
    expect(await say(transport, "https://upstream.example:8443/v1/x")).toEqual([
      200,
      "https upstream.example:8443 /v1/x 13",
    ]);
    // The tunnel is kept for the next call.
    expect(await say(transport, "https://upstream.example:8443/v1/y")).toEqual([
      200,
      "https upstream.example:8443 /v1/y 13",
    ]);
    expect(fixture.seen).toEqual([
      { line: "CONNECT upstream.example:8443 HTTP/1.1", authorization: `Basic ${btoa("user:pass word")}` },
    ]);
    const strange = open({ authorities: undefined });
    expect(await failureOf(say(strange, "https://upstream.example/"))).toMatchObject({ accountFault: "certificate" });
  });

  test("a large body and a streamed body arrive through the tunnel", async () => {
    const size = 3_000_000;
    const streamed = { size, open: () => new Blob([new Uint8Array(size)]).stream() };
    for (const body of [new Uint8Array(size), streamed]) {
      expect(await say(open(), "https://upstream.example/", { body })).toEqual([
        200,
        `https upstream.example / ${size}`,
      ]);
    }
  });

  test("http sends the whole URL, and the proxy's credentials only to the proxy", async () => {
    fixture.seen.length = 0;
    const headers = { "proxy-authorization": "Basic other", "content-type": "application/json" };
    expect(await say(open(), "http://upstream.example/v1/x?a=1", { headers })).toEqual([
      200,
      "http upstream.example /v1/x?a=1 13",
    ]);
    expect(fixture.seen).toEqual([
      { line: "POST http://upstream.example/v1/x?a=1 HTTP/1.1", authorization: `Basic ${btoa("user:pass word")}` },
    ]);
  });

  test("NO_PROXY hosts and this machine are reached directly", async () => {
    fixture.seen.length = 0;
    const exempt = open({
      egress: egressTo(`http://127.0.0.1:${fixture.port}`, ".example"),
      resolve: async () => ["127.0.0.1"],
    });
    const place = `upstream.example:${fixture.plainPort}`;
    expect(await say(exempt, `http://${place}/`, { allowPrivateNetwork: true })).toEqual([200, `http ${place} / 13`]);
    const own = await say(open(), `http://127.0.0.1:${fixture.plainPort}/`, { allowPrivateNetwork: true });
    expect(own[0]).toBe(200);
    expect(fixture.seen).toEqual([]);
  });

  test("private and forbidden names are refused before the proxy is used", async () => {
    fixture.seen.length = 0;
    const refused = [
      "http://10.0.0.1/",
      "https://169.254.169.254/",
      "https://metadata.google.internal/",
      "http://db/",
      "https://a.internal/",
      "https://x.svc.cluster.local/",
    ];
    for (const url of refused) {
      expect((await failureOf(say(open(), url))).accountFault).toMatch(/^(private|forbidden)_address$/);
    }
    // This machine's resolver may find a private address.
    const known = open({ resolve: async () => ["192.168.1.1"] });
    expect(await failureOf(say(known, "https://upstream.example/"))).toMatchObject({ accountFault: "private_address" });
    expect(fixture.seen).toEqual([]);
    // A provider that may use the private network may use the proxy's.
    const allowed = await say(known, "https://upstream.example/", { allowPrivateNetwork: true });
    expect(allowed[0]).toBe(200);
    // The proxy's machine may have a metadata service too.
    fixture.seen.length = 0;
    const metadata = open({ resolve: async () => ["169.254.169.254"] });
    const toMetadata = say(metadata, "https://upstream.example/", { allowPrivateNetwork: true });
    expect(await failureOf(toMetadata)).toMatchObject({ accountFault: "forbidden_address" });
    expect(fixture.seen).toEqual([]);
  });

  test("a resolver that never answers delays one call, not every call", async () => {
    const clock = new FakeClock();
    let asked = 0;
    const resolve = () => {
      asked++;
      return new Promise<never>(() => {});
    };
    const transport = open({ clock, resolve });
    const first = say(transport, "https://upstream.example/");
    await until(() => asked === 1);
    clock.advance(2_001);
    expect((await first)[0]).toBe(200);
    expect((await say(transport, "https://upstream.example/"))[0]).toBe(200);
    expect(asked).toBe(1);
  });

  test("an account may have another proxy, or none", async () => {
    fixture.seen.length = 0;
    const none = { id: "none", proxy: null };
    const place = `http://upstream.example:${fixture.plainPort}/`;
    const direct = open({ resolve: async () => ["127.0.0.1"] });
    expect((await say(direct, place, { network: none, allowPrivateNetwork: true }))[0]).toBe(200);
    expect(fixture.seen).toEqual([]);
    const own = { id: "own", proxy: parseEgressProxy(`127.0.0.1:${fixture.port}`) };
    expect((await say(open({ egress: null }), "https://upstream.example/", { network: own }))[0]).toBe(200);
    expect(fixture.seen).toHaveLength(1);
  });

  describe("a proxy that", () => {
    test.each([
      ["refuses", "refuse", "The egress proxy did not open a tunnel to the upstream (status 403)."],
      [
        "requires other credentials",
        "challenge",
        "The egress proxy requires a user and a password, or others than were sent (status 407).",
      ],
      ["cuts", "cut", "The egress proxy closed the connection before it had opened a tunnel to the upstream."],
      [
        "cuts in the middle of its answer",
        "cut_late",
        "The egress proxy closed the connection before it had opened a tunnel to the upstream.",
      ],
      ["speaks something else", "other", "The egress proxy did not answer in HTTP."],
      ["never ends its answer", "endless", "The egress proxy did not answer in HTTP."],
      ["sends more than its answer", "chatty", "The egress proxy sent data after its answer to CONNECT."],
    ] as const)("%s is a failure of the proxy, and the request was not sent", async (_, behaviour, message) => {
      using _mood = fixture.behave(behaviour);
      const failure = await failureOf(say(open(), "https://upstream.example/"));
      expect(failure).toMatchObject({
        code: "upstream_unreachable",
        message,
        accountFault: "proxy",
        arrival: "unsent",
        retry: "other",
      });
      expect(Bun.inspect(failure)).not.toContain(btoa("user:pass word"));
    });

    test("hangs causes a connect timeout", async () => {
      using _mood = fixture.behave("hang");
      const clock = new FakeClock();
      const connects = fixture.connects;
      const failure = failureOf(say(open({ clock }), "https://upstream.example/"));
      await until(() => fixture.connects > connects);
      clock.advance(5_001);
      expect(await failure).toMatchObject({
        accountFault: "proxy",
        arrival: "unsent",
        message: "The egress proxy did not open a tunnel to the upstream in time (connect timeout, 5000 ms).",
      });
    });

    test("does not exist is a failure of the proxy", async () => {
      const gone = open({ egress: egressTo("http://127.0.0.1:1") });
      expect(await failureOf(say(gone, "https://upstream.example/"))).toMatchObject({
        accountFault: "proxy",
        message: "The egress proxy could not be reached.",
        arrival: "unsent",
      });
      const unknown = open({ egress: egressTo("http://proxy.example:1") });
      expect(await failureOf(say(unknown, "https://upstream.example/"))).toMatchObject({
        accountFault: "proxy",
        message: "The egress proxy could not be resolved.",
        arrival: "unsent",
      });
    });

    test("requires other credentials for http is a failure of the proxy, not the upstream's answer", async () => {
      using _mood = fixture.behave("challenge");
      expect(await failureOf(say(open(), "http://upstream.example/"))).toMatchObject({
        accountFault: "proxy",
        arrival: "unsent",
      });
    });
  });

  test("closes the connection to the proxy when the caller leaves", async () => {
    using _mood = fixture.behave("hang");
    const connects = fixture.connects;
    const before = fixture.open;
    const leaving = new AbortController();
    const sent = failureOf(open().send(outbound("https://upstream.example/"), leaving.signal));
    await until(() => fixture.connects > connects);
    leaving.abort();
    expect((await sent).code).toBe("client_closed");
    await until(() => fixture.open <= before);
  });
});
