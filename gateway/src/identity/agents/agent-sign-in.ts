import { addressKey, bounds, Failure } from "#core/index.ts";
import type { AgentGrant, AgentStore, WaitingDevice } from "#directory/index.ts";
import type { AuditSource, Clock, OpenTries, Tries, Vault } from "#ports/index.ts";
import { AccessTokens, hasAccessTokenFormat } from "./access-tokens.ts";
import type { IssuerRecheck } from "./issuer-recheck.ts";

interface AgentSignInOptions {
  readonly agents: AgentStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly openTries: OpenTries;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Rechecks a person at their issuers before their agents may continue. */
  readonly recheck: Pick<IssuerRecheck, "check">;
}

/** The codes of a device that signs in. Durations are seconds. */
interface DeviceStart {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly expiresIn: number;
  readonly interval: number;
}

export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresIn: number;
}

type DevicePoll = "pending" | "too_soon" | "denied" | "unknown" | IssuedTokens;

/** The user who types a code on the confirmation page. */
interface CodeHolder {
  readonly userId: string;
  readonly ip: string;
}

/**
 * Sign-in of coding agents: the device flow of RFC 8628, and refresh tokens that are replaced at each use. After a person confirms the
 * code that their device shows, the device can call as them until the sign-in ends.
 */
export class AgentSignIn {
  readonly #options: AgentSignInOptions;
  readonly #tokens: AccessTokens;
  readonly #starts: Tries;
  readonly #guesses: Tries;

  constructor(options: AgentSignInOptions) {
    this.#options = options;
    this.#tokens = new AccessTokens(options.vault, options.clock);
    this.#starts = options.openTries({
      name: "agent",
      max: bounds.deviceStartsMax,
      windowMs: bounds.deviceStartsMs,
      windowMsMax: bounds.deviceStartsMs,
    });
    this.#guesses = options.openTries({
      name: "user-code",
      max: bounds.userCodeTriesMax,
      windowMs: bounds.userCodeTriesMs,
      windowMsMax: bounds.userCodeTriesMsMax,
    });
  }

  /** Throws `rate_limit_exceeded` if the address started too many sign-ins, or too many are waiting. */
  async begin({ client, ip }: { readonly client: string; readonly ip: string }): Promise<DeviceStart> {
    const { waitMs } = await this.#starts.take([addressKey(ip)]);
    if (waitMs > 0) {
      throw new Failure("rate_limit_exceeded", "Too many sign-ins were started from this address. Try again later.", {
        retryAfterMs: waitMs,
      });
    }
    const deviceCode = Buffer.from(this.#options.randomBytes(deviceCodeBytes)).toString("base64url");
    const userCode = makeUserCode(this.#options.randomBytes);
    await this.#options.agents.addDevice({
      deviceDigest: this.#options.vault.digest(deviceCode),
      userDigest: this.#userDigest(userCode),
      client: displayName(client),
      ip,
      expiresAt: this.#options.clock.now() + bounds.deviceCodeMs,
    });
    return {
      deviceCode,
      userCode,
      expiresIn: bounds.deviceCodeMs / 1_000,
      interval: bounds.devicePollMs / 1_000,
    };
  }

  async poll(deviceCode: string, issuer: string): Promise<DevicePoll> {
    const outcome = await this.#options.agents.poll(this.#options.vault.digest(deviceCode));
    return typeof outcome === "string" ? outcome : this.#issued(outcome, issuer);
  }

  /**
   * null: the sign-in has ended or never existed. Throws `upstream_error` if an issuer has not answered for longer than its grace period;
   * the token then stays valid.
   */
  async refresh(refreshToken: string, issuer: string): Promise<IssuedTokens | null> {
    const token = this.#tokens.readRefreshToken(refreshToken);
    if (token === null) return null;
    const owner = await this.#options.agents.ownerOf(token.sessionId);
    if (owner === null) return null;
    await this.#options.recheck.check(owner);
    const grant = await this.#options.agents.refresh(token.sessionId, token.generation);
    return grant === null ? null : this.#issued(grant, issuer);
  }

  /** Ends the sign-in of an access or refresh token. Unknown tokens are ignored (RFC 7009). */
  async revoke(token: string, ip: string): Promise<void> {
    const sessionId = hasAccessTokenFormat(token)
      ? this.#sessionOf(token)
      : this.#tokens.readRefreshToken(token)?.sessionId;
    if (sessionId == null) return;
    await this.#options.agents.endSession(sessionId, null, { actor: "its own token", ip });
  }

  /** The device that waits with a code. Throws `not_found`, or `rate_limit_exceeded` after too many wrong codes. */
  async findDevice(typed: string, holder: CodeHolder): Promise<WaitingDevice & { readonly userCode: string }> {
    return await this.#guess(typed, holder, async (digest, userCode) => {
      const device = await this.#options.agents.waitingDevice(digest);
      return device === null ? null : { ...device, userCode };
    });
  }

  async approve(
    typed: string,
    { workspaceId, ...holder }: CodeHolder & { readonly workspaceId: string },
    auditSource: AuditSource,
  ): Promise<void> {
    await this.#guess(typed, holder, (digest) =>
      this.#options.agents.approve(digest, { userId: holder.userId, workspaceId }, auditSource),
    );
  }

  async deny(typed: string, holder: CodeHolder, auditSource: AuditSource): Promise<void> {
    await this.#guess(typed, holder, (digest) => this.#options.agents.deny(digest, auditSource));
  }

  /** Counts wrong codes by user. */
  async #guess<Found>(
    typed: string,
    { userId }: CodeHolder,
    find: (digest: string, userCode: string) => Promise<Found | null | false>,
  ): Promise<Found> {
    const { waitMs } = await this.#guesses.take([userId]);
    if (waitMs > 0) {
      throw new Failure("rate_limit_exceeded", "Too many wrong codes. Wait, then start again on the device.", {
        retryAfterMs: waitMs,
      });
    }
    const userCode = readUserCode(typed);
    const found = userCode === null ? null : await find(this.#userDigest(userCode), userCode);
    if (found === null || found === false) {
      throw new Failure(
        "not_found",
        "No device is waiting with this code. It may have expired: start again on the device.",
        {
          param: "code",
        },
      );
    }
    await this.#guesses.giveBack([userId]);
    return found as Found;
  }

  #issued(grant: AgentGrant, issuer: string): IssuedTokens {
    const { token, expiresIn } = this.#tokens.issue(grant, issuer);
    return { accessToken: token, expiresIn, refreshToken: this.#tokens.refreshToken(grant) };
  }

  #sessionOf(accessToken: string): string | null {
    try {
      return this.#tokens.read(accessToken, { expired: true }).sessionId;
    } catch {
      return null;
    }
  }

  #userDigest(userCode: string): string {
    return this.#options.vault.digest(`user code\n${userCode}`);
  }
}

const deviceCodeBytes = 32;

/** A program's name for itself as one line of printable ASCII, to show to the user who confirms. */
function displayName(client: string): string {
  return client
    .replace(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, bounds.agentClientCharactersMax);
}

/** RFC 8628, section 6.1: consonants only, so that no code is a word. Eight of twenty are 34 bits. */
const codeAlphabet = "BCDFGHJKLMNPQRSTVWXZ";
const codeLength = 8;
/** The largest multiple of the alphabet's size in a byte. Larger bytes are skipped, so that all characters are equally likely. */
const unbiasedBelow = 240;

/** Such as `BCDF-GHJK`. */
function makeUserCode(randomBytes: (size: number) => Uint8Array): string {
  let code = "";
  while (code.length < codeLength) {
    for (const byte of randomBytes(codeLength)) {
      if (byte < unbiasedBelow && code.length < codeLength) code += codeAlphabet.charAt(byte % codeAlphabet.length);
    }
  }
  return formatUserCode(code);
}

/** Normalizes a typed code; null: invalid. */
function readUserCode(typed: string): string | null {
  const code = typed.toUpperCase().replace(/[\s\-_.]/g, "");
  if (code.length !== codeLength || [...code].some((character) => !codeAlphabet.includes(character))) return null;
  return formatUserCode(code);
}

function formatUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
