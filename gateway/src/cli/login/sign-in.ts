import { CommandFailed } from "../command-failed.ts";
import { type Believed, isAccepted, type OAuthAnswer, postForm, readEndpoints } from "./gateway-oauth.ts";
import { alone, readLogin, type StoredLogin, writeLogin } from "./login-file.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export interface SignInOptions {
  readonly base: string;
  readonly path: string;
  /** To whoever is in front of the screen. */
  readonly tell: (line: string) => void;
  readonly pause: (ms: number) => Promise<void>;
  readonly believed: Believed;
}

/** The device flow: shows a code, waits until somebody has confirmed it, stores what comes. Throws CommandFailed. */
export async function signIn({ base, path, tell, pause, believed }: SignInOptions): Promise<StoredLogin> {
  const endpoints = await readEndpoints(base, believed);
  const start = await postForm(endpoints.device, { surface: "sluice_cli" }, believed);
  const { device_code: deviceCode, user_code: userCode, verification_uri_complete: page } = start.body;
  if (start.status !== 200 || typeof deviceCode !== "string") throw refused("no sign-in could be begun", start);
  tell(`Open ${page}`);
  tell(`and confirm the code ${userCode}. Waiting …`);
  let intervalMs = secondsOf(start.body["interval"], 5) * 1_000;
  const roundsMax = Math.ceil((secondsOf(start.body["expires_in"], 600) * 1_000) / intervalMs);
  for (let round = 0; round < roundsMax; round++) {
    await pause(intervalMs);
    const answer = await postForm(endpoints.token, { grant_type: deviceGrant, device_code: deviceCode }, believed);
    if (answer.status === 200) {
      const login = loginOf(
        { url: base, tokenEndpoint: endpoints.token, revocationEndpoint: endpoints.revocation },
        answer,
      );
      writeLogin(path, login);
      return login;
    }
    const { error } = answer.body;
    if (error === "slow_down") intervalMs += slowDownMs;
    else if (error !== "authorization_pending")
      throw refused(endings[String(error)] ?? "the sign-in was refused", answer);
  }
  throw new CommandFailed("nobody confirmed the code in time; run the command again");
}

/** RFC 8628, 3.5. */
const slowDownMs = 5_000;

const endings: Readonly<Record<string, string>> = {
  access_denied: "the sign-in was denied",
  expired_token: "the code is over; run the command again",
};

/**
 * An access token that holds for some minutes yet and that the gateway takes, refreshed where it is not so: agents that are refused ask for
 * a token again, and with the same one they would go on for minutes instead of saying what is wrong. Of several processes at once one refreshes, and the others
 * find what it has stored. A gateway that is away matters only once the token is over.
 */
export async function freshToken(
  path: string,
  { pause, believed }: Pick<SignInOptions, "pause" | "believed">,
): Promise<string> {
  const known = readLogin(path);
  if (leftMs(known) > refreshBelowMs && (await isAccepted(known.url, known.accessToken, believed)))
    return known.accessToken;
  return await alone(path, pause, async () => {
    const login = readLogin(path);
    if (login.refreshToken !== known.refreshToken && leftMs(login) > refreshBelowMs) return login.accessToken;
    let answer: OAuthAnswer;
    try {
      answer = await postForm(
        login.tokenEndpoint,
        { grant_type: "refresh_token", refresh_token: login.refreshToken },
        believed,
      );
    } catch (thrown) {
      if (leftMs(login) > 0) return login.accessToken;
      throw thrown;
    }
    if (answer.status === 200) {
      const refreshed = loginOf(login, answer);
      writeLogin(path, refreshed);
      return refreshed.accessToken;
    }
    if (answer.body["error"] === "invalid_grant") {
      throw new CommandFailed(`the sign-in at ${login.url} has ended; run \`sluice login ${login.url}\``);
    }
    if (leftMs(login) > 0) return login.accessToken;
    throw refused("the token could not be refreshed", answer);
  });
}

/** As Claude Code does: a call that begins now is over before its token is. */
const refreshBelowMs = 300_000;

function leftMs({ expiresAt }: StoredLogin): number {
  return expiresAt - Date.now();
}

/** Ends the sign-in at the gateway, as far as that answers. */
export async function endSignIn(
  { revocationEndpoint, accessToken, refreshToken }: StoredLogin,
  believed: Believed,
): Promise<boolean> {
  if (revocationEndpoint === null) return false;
  const first = await postForm(revocationEndpoint, { token: accessToken }, believed);
  const second = await postForm(
    revocationEndpoint,
    { token: refreshToken, token_type_hint: "refresh_token" },
    believed,
  );
  return first.status === 200 && second.status === 200;
}

type Place = Pick<StoredLogin, "url" | "tokenEndpoint" | "revocationEndpoint">;

function loginOf({ url, tokenEndpoint, revocationEndpoint }: Place, answer: OAuthAnswer): StoredLogin {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = answer.body;
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") {
    throw new CommandFailed(`${url} answered without tokens`);
  }
  const expiresAt = Date.now() + secondsOf(expiresIn, 0) * 1_000;
  return { url, tokenEndpoint, revocationEndpoint, accessToken, refreshToken, expiresAt };
}

function secondsOf(value: unknown, otherwise: number): number {
  return typeof value === "number" && value > 0 && value <= 86_400 ? value : otherwise;
}

function refused(what: string, { status, body }: OAuthAnswer): CommandFailed {
  const said = body["error_description"] ?? body["error"];
  return new CommandFailed(`${what} (${typeof said === "string" ? said : `status ${status}`})`);
}
