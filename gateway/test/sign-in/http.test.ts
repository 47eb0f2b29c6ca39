import { expect, test } from "bun:test";
import { alice, openFixture, password } from "./fixture.ts";

test("signs in over HTTP, calls with the session, and signs out", async () => {
  const fixture = await openFixture();
  await fixture.createUser(alice);
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      if (new URL(request.url).pathname !== "/who") return await fixture.signIn.handle(request, { ip: "127.0.0.1" });
      return Response.json((await fixture.signIn.session(request))?.user.email ?? null);
    },
  });
  try {
    const url = `http://127.0.0.1:${server.port}`;
    const send = (path: string, body: object | string, headers: Record<string, string> = {}) =>
      fetch(`${url}/api/auth${path}`, {
        method: "POST",
        headers: { origin: url, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
    const refused = await send("/sign-in/email", { email: alice.email, password: "wrong horse battery staple" });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, []]);
    const signedIn = await send("/sign-in/email", { email: alice.email, password });
    expect(signedIn.status).toBe(200);
    const cookie = signedIn.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
    expect(cookie).toStartWith(`sluice-${server.port}.session_token=`);
    const who = async () => await (await fetch(`${url}/who`, { headers: { cookie } })).json();
    expect(await who()).toBe(alice.email);
    const others = await fetch(`${url}/api/auth/sessions`, { headers: { cookie, "sec-fetch-site": "same-origin" } });
    expect(((await others.json()) as { data: unknown[] }).data).toHaveLength(1);
    expect((await send("/sign-out", {}, { cookie, origin: "http://evil.example" })).status).toBe(403);
    expect((await send("/sign-out", "{", { cookie })).status).toBe(400);
    expect(await who()).toBe(alice.email);
    expect((await send("/sign-out", {}, { cookie })).status).toBe(200);
    expect(await who()).toBeNull();
    const dead = await fetch(`${url}/api/auth/account`, { headers: { cookie } });
    expect([dead.status, ((await dead.json()) as { error: { code: string } }).error.code]).toEqual([
      401,
      "not_signed_in",
    ]);
  } finally {
    await server.stop(true);
  }
});
