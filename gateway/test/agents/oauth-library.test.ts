import { afterAll, beforeAll, expect, test } from "bun:test";
import * as oauth from "oauth4webapi";
import { bounds } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { type AgentFixture, startAgentFixture } from "./agent-fixture.ts";

/** A strict third-party OAuth client that finds every endpoint through the metadata (RFC 8414, 8628, 6749, 7009). */
const client: oauth.Client = { client_id: "a-library" };
const noAuthentication = oauth.None();
const plainHttp = { [oauth.allowInsecureRequests]: true };

let fixture: AgentFixture;
let server: oauth.AuthorizationServer;
beforeAll(async () => {
  fixture = await startAgentFixture();
  const issuer = new URL(fixture.gateway.url);
  const found = await oauth.discoveryRequest(issuer, { ...plainHttp, algorithm: "oauth2" });
  server = await oauth.processDiscoveryResponse(issuer, found);
});
afterAll(() => fixture.stop());

async function device(scope = "openid profile"): Promise<oauth.DeviceAuthorizationResponse> {
  const answer = await oauth.deviceAuthorizationRequest(server, client, noAuthentication, { scope }, plainHttp);
  return await oauth.processDeviceAuthorizationResponse(server, client, answer);
}

const poll = async ({ device_code: code }: oauth.DeviceAuthorizationResponse) =>
  await oauth.processDeviceCodeResponse(
    server,
    client,
    await oauth.deviceCodeGrantRequest(server, client, noAuthentication, code, plainHttp),
  );

const refresh = async (token: string | undefined) =>
  await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, noAuthentication, token ?? "", plainHttp),
  );

async function signedIn(): Promise<oauth.TokenEndpointResponse> {
  const waiting = await device();
  expect(await fixture.approve(fixture.ada, waiting.user_code)).toBe(200);
  return await poll(waiting);
}

const models = async (token: string) =>
  (await fetch(`${fixture.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })).status;

/** The error code that the library reads from an error answer. */
const refusal = async (answer: Promise<unknown>): Promise<string> =>
  await answer.then(
    () => "granted",
    (thrown: unknown) => (thrown instanceof oauth.ResponseBodyError ? thrown.error : String(thrown)),
  );

test("a strict client signs in by the device flow and calls with its tokens", async () => {
  const waiting = await device();
  expect([waiting.expires_in, waiting.interval]).toEqual([bounds.deviceCodeMs / 1_000, bounds.devicePollMs / 1_000]);
  expect(await refusal(poll(waiting))).toBe("authorization_pending");
  expect(await refusal(poll(waiting))).toBe("slow_down");
  expect(await fixture.approve(fixture.ada, waiting.user_code)).toBe(200);
  const tokens = await poll(waiting);
  expect(tokens).toMatchObject({ token_type: "bearer", expires_in: bounds.accessTokenMs / 1_000 });
  expect(await models(tokens.access_token)).toBe(200);
  expect(await refusal(poll(waiting))).toBe("expired_token");
});

test("a strict client refreshes; reuse of an old refresh token ends the sign-in", async () => {
  const first = await signedIn();
  const second = await refresh(first.refresh_token);
  expect(second.refresh_token).not.toBe(first.refresh_token);
  const third = await refresh(second.refresh_token);
  expect(await models(third.access_token)).toBe(200);
  expect(await refusal(refresh(first.refresh_token))).toBe("invalid_grant");
  expect(await refusal(refresh(third.refresh_token))).toBe("invalid_grant");
  await until(async () => (await models(third.access_token)) === 401);
});

test("a strict client revokes by either token, repeatedly", async () => {
  const both = [await signedIn(), await signedIn()];
  for (const [at, tokens] of both.entries()) {
    const token = (at === 0 ? tokens.access_token : tokens.refresh_token) ?? "";
    for (let time = 0; time < 2; time++) {
      const sent = oauth.revocationRequest(server, client, noAuthentication, token, plainHttp);
      expect(await oauth.processRevocationResponse(await sent)).toBeUndefined();
    }
    // The sign-in has ended when the answer arrives; processes learn of it through a notification.
    expect(await refusal(refresh(tokens.refresh_token))).toBe("invalid_grant");
  }
  await until(async () => (await Promise.all(both.map((one) => models(one.access_token)))).every((one) => one === 401));
});

test("a strict client gets access_denied when it is denied", async () => {
  const waiting = await device();
  expect((await fixture.ada.call("POST", "/api/agents/deny", { code: waiting.user_code })).status).toBe(200);
  expect(await refusal(poll(waiting))).toBe("access_denied");
});
