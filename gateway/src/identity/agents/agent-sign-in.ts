import { addressKey, bounds, Failure } from "#core/index.ts";
import type { AgentGrant, AgentStore, WaitingDevice } from "#directory/index.ts";
import type { AuditSource, Clock, OpenTries, Tries, Vault } from "#ports/index.ts";
import { AccessTokens, looksLikeAccessToken } from "./access-tokens.ts";
import type { IssuerRecheck } from "./issuer-recheck.ts";

interface AgentSignInOptions {
  readonly agents: AgentStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly openTries: OpenTries;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Asks the issuers of somebody before their agents go on. */
  readonly recheck: Pick<IssuerRecheck, "check">;
}

/** What a device shows its person, and asks with. Durations are seconds. */
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

/** A person at the page that confirms a code. */
interface CodeHolder {
  readonly userId: string;
  readonly ip: string;
}

/**
 * Sign-in of coding agents: the device flow of RFC 8628 and refresh tokens that are replaced at each use. A person confirms a code
 * that they compare; the device that asked for it calls as them until the sign-in ends.
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

  /** Throws `rate_limit_exceeded` when the address begins too many, or too many wait. */
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
      client: shownClient(client),
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
   * null: the sign-in has ended, or there never was one. Throws `upstream_error` where an issuer has been silent for longer than its
   * grace: nothing has ended, and the same token is good later.
   */
  async refresh(refreshToken: string, issuer: string): Promise<IssuedTokens | null> {
    const read = this.#tokens.readRefreshToken(refreshToken);
    if (read === null) return null;
    const owner = await this.#options.agents.ownerOf(read.sessionId);
    if (owner === null) return null;
    await this.#options.recheck.check(owner);
    const grant = await this.#options.agents.refresh(read.sessionId, read.generation);
    return grant === null ? null : this.#issued(grant, issuer);
  }

  /** RFC 7009: ends the sign-in that a token of either kind belongs to. What is none of ours is none that is good. */
  async revoke(token: string, ip: string): Promise<void> {
    const sessionId = looksLikeAccessToken(token)
      ? this.#sessionOf(token)
      : this.#tokens.readRefreshToken(token)?.sessionId;
    if (sessionId == null) return;
    await this.#options.agents.endSession(sessionId, null, { actor: "its own token", ip });
  }

  /** What waits for a code. Throws `not_found`, or `rate_limit_exceeded` for whoever tries too many. */
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

  /** Each wrong code counts against its person; a good one does not. */
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

/** What a program says of itself is shown to whoever decides: a line of plain characters. */
function shownClient(client: string): string {
  return client
    .replace(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, bounds.agentClientCharactersMax);
}

/** RFC 8628, 6.1: consonants alone, so that no code is a word; twenty of them, eight times, are 34 bits. */
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const codeLength = 8;
/** The largest multiple of the alphabet size that fits in a byte. Bytes from it on are skipped, so that every letter is equally likely. */
const fairBelow = 240;

/** As a person reads and types it: `BCDF-GHJK`. */
function makeUserCode(randomBytes: (size: number) => Uint8Array): string {
  let code = "";
  while (code.length < codeLength) {
    for (const byte of randomBytes(codeLength)) {
      if (byte < fairBelow && code.length < codeLength) code += letters.charAt(byte % letters.length);
    }
  }
  return shownUserCode(code);
}

/** A code however it was typed, as it is shown; null: it cannot be one. */
function readUserCode(typed: string): string | null {
  const code = typed.toUpperCase().replace(/[\s\-_.]/g, "");
  if (code.length !== codeLength || [...code].some((letter) => !letters.includes(letter))) return null;
  return shownUserCode(code);
}

function shownUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
