import { afterAll, expect, test } from "bun:test";
import { Failure, parseExemptions } from "#core/index.ts";
import { systemClock } from "#system/index.ts";
import { outbound } from "../../test/outbound.ts";
import { createTransport } from "./index.ts";

let arrived = 0;
const server = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => {
    arrived++;
    return new Response(null, { status: 204 });
  },
});
afterAll(() => server.stop(true));
const { port } = server;

const addresses: Readonly<Record<string, readonly string[]>> = {
  "hooks.corp.example": ["127.0.0.1"],
  "mixed.corp.example": ["127.0.0.1", "10.9.9.9"],
  "other.example": ["127.0.0.1"],
  "machine.example": ["169.254.169.254"],
};

test("only webhooks reach the private destinations that an administrator allowed", async () => {
  const send = async (list: string, url: string, webhook = true): Promise<number | string | null> => {
    const webhookExemptions = parseExemptions(list).rules;
    const resolve = async (name: string) => addresses[name] ?? [];
    const transport = createTransport({ clock: systemClock, resolve, webhookExemptions });
    const request = outbound(url, { allowPrivateNetwork: false, webhook });
    try {
      const answer = await transport.send(request, new AbortController().signal);
      answer.body.cancel();
      return answer.status;
    } catch (thrown) {
      return thrown instanceof Failure ? thrown.accountFault : String(thrown);
    }
  };
  const before = arrived;
  expect(await send("127.0.0.0/8", `http://hooks.corp.example:${port}/`)).toBe(204);
  expect(await send("127.0.0.0/8", `http://127.0.0.1:${port}/`)).toBe(204);
  expect(await send("corp.example", `http://hooks.corp.example:${port}/`)).toBe(204);
  expect(await send(`127.0.0.1:${port}`, `http://hooks.corp.example:${port}/`)).toBe(204);
  expect(arrived - before).toBe(4);
  const refused: readonly (readonly [string, string, boolean?])[] = [
    ["", `http://hooks.corp.example:${port}/`],
    ["corp.example", `http://other.example:${port}/`],
    ["127.0.0.1:1", `http://hooks.corp.example:${port}/`],
    ["127.0.0.0/8", `http://mixed.corp.example:${port}/`],
    ["127.0.0.0/8,corp.example", `http://hooks.corp.example:${port}/`, false],
  ];
  for (const [list, url, webhook] of refused) {
    expect([list, url, await send(list, url, webhook)]).toEqual([list, url, "private_address"]);
  }
  const never = "169.254.0.0/16,machine.example,metadata.google.internal";
  for (const url of ["http://machine.example/", "http://169.254.169.254/", "http://metadata.google.internal/"]) {
    expect([url, await send(never, url)]).toEqual([url, "forbidden_address"]);
  }
  expect(arrived - before).toBe(4);
});

test("only requests to the machine's own credential service reach an address at which clouds serve credentials", async () => {
  const resolve = async (name: string) => addresses[name] ?? [];
  const transport = createTransport({ clock: systemClock, resolve });
  const send = async (url: string, changes: object) => {
    const request = outbound(url, { allowPrivateNetwork: true, ...changes });
    return transport.send(request, new AbortController().signal).then(
      ({ status, body }) => {
        body.cancel();
        return status;
      },
      (thrown: unknown) => (thrown instanceof Failure ? (thrown.accountFault ?? thrown.code) : String(thrown)),
    );
  };
  expect(await send("http://169.254.169.254/", {})).toBe("forbidden_address");
  expect(await send("http://169.254.169.254/", { machine: true, connectMs: 1 })).not.toBe("forbidden_address");
  expect(await send(`http://127.0.0.1:${port}/`, { machine: true, allowPrivateNetwork: false })).toBe(204);
});
