import { askStraight } from "../ask-straight.ts";
import { CommandFailed, CommandWrong } from "../command-failed.ts";

/** Where a gateway signs agents in. */
export interface SignInEndpoints {
  readonly device: string;
  readonly token: string;
  readonly revocation: string | null;
}

export interface OAuthAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** https, or http on this machine: a token is never sent in the clear. Without a slash at its end. */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    (url.protocol !== "https:" && url.protocol !== "http:") ||
    url.username !== "" ||
    url.search !== ""
  ) {
    throw new CommandWrong(`${text} is not the address of a gateway, such as https://gateway.example.com`);
  }
  if (url.protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)) {
    throw new CommandWrong("tokens are sent to https addresses only, or to http://localhost");
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** Throws CommandFailed when there is no gateway that signs agents in, or it would send tokens elsewhere. */
export async function readEndpoints(base: string, believed: Believed): Promise<SignInEndpoints> {
  const { status, body } = await ask(`${base}/.well-known/oauth-authorization-server`, { believed });
  const own = (value: unknown): string | null =>
    typeof value === "string" && URL.canParse(value) && new URL(value).origin === new URL(base).origin ? value : null;
  const [device, token] = [own(body["device_authorization_endpoint"]), own(body["token_endpoint"])];
  if (status !== 200 || device === null || token === null) {
    throw new CommandFailed(`${base} does not sign programs in: is it the address of a Sluice gateway?`);
  }
  return { device, token, revocation: own(body["revocation_endpoint"]) };
}

/** Throws CommandFailed when the gateway does not answer in time. */
export async function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  believed: Believed,
): Promise<OAuthAnswer> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return await ask(url, { method: "POST", headers, body: new URLSearchParams(fields).toString(), believed });
}

/** False: the gateway says that this token opens nothing. One that does not answer in time has not said so. */
export async function isAccepted(base: string, accessToken: string, believed: Believed): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${accessToken}` };
    const { status } = await send(`${base}/user/bootstrap`, { headers, answerMs: acceptedMs, believed });
    return status !== 401;
  } catch {
    return true;
  }
}

async function ask(url: string, asked: Omit<Asked, "answerMs">): Promise<OAuthAnswer> {
  try {
    const { status, text } = await send(url, { ...asked, answerMs });
    return { status, body: objectOf(text) };
  } catch (thrown) {
    throw new CommandFailed(
      `${new URL(url).origin} does not answer: ${thrown instanceof Error ? thrown.message : thrown}`,
    );
  }
}

/** Certificate authorities (PEM); undefined: the runtime's own. */
export type Believed = readonly string[] | undefined;

interface Asked {
  readonly believed: Believed;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answerMs: number;
}

/** What is no https is on this machine, which no proxy of the environment reaches. */
async function send(url: string, asked: Asked): Promise<{ readonly status: number; readonly text: string }> {
  const { answerMs: ms, believed, ...init } = asked;
  const headers = { "user-agent": "sluice-cli", ...init.headers };
  if (url.startsWith("http:")) return await askStraight(url, { ...asked, headers, charactersMax: answerCharactersMax });
  const tls = believed === undefined ? {} : { tls: { ca: [...believed] } };
  const response = await fetch(url, { ...init, headers, redirect: "manual", signal: AbortSignal.timeout(ms), ...tls });
  return { status: response.status, text: (await response.text()).slice(0, answerCharactersMax) };
}

/** Codex waits five seconds for a token command. */
const answerMs = 4_000;
/** Of these, what is spent on a token that most probably is good. */
const acceptedMs = 1_000;
const answerCharactersMax = 65_536;

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
